"""The browser that tests of pages share, and a file server for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium. Without one the tests are skipped, which CI refuses."""
    viewer = pytest.importorskip("warpdyn.viewer")
    from warpdyn.viewer.browser import Browser, find_browser

    try:
        find_browser()
    except viewer.ViewerError:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with Browser() as made:
        yield made


class Quiet(SimpleHTTPRequestHandler):
    """A file server that logs nothing."""

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """The loopback address at which a folder is served within the block."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()

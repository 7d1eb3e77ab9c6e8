"""The browser that tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; where none is installed its tests are skipped, which CI refuses."""
    viewer = pytest.importorskip("warpdyn.viewer")
    from warpdyn.viewer.browser import Browser, find_browser

    try:
        find_browser()
    except viewer.ViewerError:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with Browser() as made:
        yield made

"""A headless Chromium, controlled through its DevTools protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from .stage import ViewerError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--mute-audio",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-port=0",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
"""Flags for WebGL without a graphics card, and for pages that are drawn although they are not
visible."""

PATIENCE = 240.0
"""Longest time to wait for a browser's answer [s]; it may have to draw without a graphics card."""

Listener = Callable[[str, dict[str, Any]], None]
"""Function that is called with each event of a page: its method and its parameters."""


def find_browser() -> str:
    """Path of a browser. `ViewerError`: none is installed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise ViewerError(
            "a picture needs a browser, but neither chromium nor google-chrome is installed; "
            "on Debian and Ubuntu: apt-get install chromium"
        )
    return found


def _ending_with_parent() -> tuple[str, ...]:
    """Prefix of a command so that, on Linux, it ends when this process ends, even if killed."""
    program = shutil.which("setpriv")
    return () if program is None else (program, "--pdeathsig", "KILL")


class Browser:
    """A browser without a window, open until the end of its `with` block."""

    def __enter__(self) -> Browser:
        program = find_browser()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder: str = self._folder.name
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            [
                *_ending_with_parent(),
                program,
                *FLAGS,
                f"--user-data-dir={self.folder}",
                "about:blank",
            ],
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
        )
        try:
            self._socket = connect(
                self._address(), max_size=None, compression=None, open_timeout=PATIENCE
            )
        except BaseException:
            self._end()
            raise
        # A thread reads all messages and passes each answer to the call that waits for it.
        self._lock = threading.Lock()
        self._answers: dict[int, Future[dict[str, Any]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._number = 0
        self._reader = threading.Thread(target=self._read_messages, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()
        self._end()

    def open(self, address: str, width: int = 1280, height: int = 800) -> Tab:
        """A new page of this size in pixels."""
        target = self.call("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, target, attached["sessionId"])
        self.listen(tab.session, tab.handle_event)
        tab.call("Page.enable")
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
        tab.go_to(address)
        return tab

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The browser's answer to a command of the protocol."""
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            self._number += 1
            number = self._number
            self._answers[number] = answer
            message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
            if session is not None:
                message["sessionId"] = session
            try:
                self._socket.send(json.dumps(message))
            except ConnectionClosed:
                raise ViewerError(self._ended_message()) from None
        try:
            return answer.result(PATIENCE)
        except FutureTimeoutError:
            raise ViewerError(
                f"the browser did not answer {method} within {PATIENCE:g} s"
            ) from None

    def listen(self, session: str, listener: Listener) -> None:
        """Call the listener with each event of a session, in a thread of the browser."""
        self._listeners[session] = listener

    def _address(self) -> str:
        """Address of its protocol, which the browser writes into a file as it starts."""
        file, end = Path(self.folder) / "DevToolsActivePort", time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            lines = file.read_text().split() if file.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.02)
        raise ViewerError(self._ended_message())

    def _ended_message(self) -> str:
        code = self.process.poll()
        said = "did not start" if code is None else f"ended by itself ({code})"
        return f"the browser {said}: no picture; `chromium --version` says whether it runs"

    def _read_messages(self) -> None:
        try:
            for text in self._socket:
                message = json.loads(text)
                if "id" in message:
                    answer = self._answers.pop(message["id"])
                    if "error" in message:
                        answer.set_exception(ViewerError(f"the browser: {message['error']}"))
                    else:
                        answer.set_result(message["result"])
                elif (listener := self._listeners.get(message.get("sessionId", ""))) is not None:
                    listener(message["method"], message["params"])
        except ConnectionClosed:
            pass
        for answer in list(self._answers.values()):
            answer.set_exception(ViewerError(self._ended_message()))

    def _end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._folder.cleanup()


class Tab:
    """One page of a browser."""

    def __init__(self, browser: Browser, target: str, session: str):
        self.browser, self.target, self.session = browser, target, session
        self._loaded = threading.Event()

    def handle_event(self, method: str, _: dict[str, Any]) -> None:
        """Handle an event of the page."""
        if method == "Page.loadEventFired":
            self._loaded.set()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The page's answer to a command of the protocol."""
        return self.browser.call(method, self.session, **parameters)

    def go_to(self, address: str) -> None:
        """Open another address in this page, and wait until its files are loaded."""
        self._loaded.clear()
        error = self.call("Page.navigate", url=address).get("errorText")
        if error:
            raise ViewerError(f"the browser cannot open {address}: {error}")
        if not self._loaded.wait(PATIENCE):
            raise ViewerError(f"the browser did not open {address} within {PATIENCE:g} s")

    def close(self) -> None:
        """Close the page immediately, like a person who closes a tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)

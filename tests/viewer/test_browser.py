"""Browsers that connect, stall and disconnect while the page's server keeps running."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

viewer = pytest.importorskip("warpdyn.viewer")
from painted import BENT, HEIGHT, MODEL, WIDTH, expected_links, visitor, wait_until_drawn
from waiting import wait_until

from warpdyn.viewer import browser as browser_module

ENVS = 2000


@pytest.fixture
def crowd() -> Iterator[Any]:
    """A page with many robots."""
    shown = viewer.show(MODEL, np.tile(BENT, (ENVS, 1)))
    yield shown
    shown.stop()


def clients(shown: Any) -> int:
    """Number of connections of the server."""
    return len(shown.stage.server._websock_server._live_connections)


def positions(shown: Any) -> bytes:
    """Positions of the last link in all environments, in the bytes of a message."""
    view = shown.robots["robot"]
    data: bytes = np.ascontiguousarray(view.poses[:, 2, :3] + view._at[:, 0]).tobytes()
    return data


def resident() -> float:
    """Memory of this process [MiB]."""
    line = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    assert line is not None
    return int(line[1]) / 1024


def waves(shown: Any, count: int) -> None:
    """Move all robots `count` times."""
    for k in range(count):
        shown.update(np.tile(BENT + 0.3 * np.sin(0.1 * k), (ENVS, 1)))


def cut_off(connection: Any) -> None:
    """Break the connection without a closing message, as when a browser is killed."""
    connection.socket.shutdown(socket.SHUT_RDWR)


def test_a_tab_closed_during_updates_disturbs_nothing(
    browser: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program continues to move the robot, and the next tab shows its present pose."""
    shown = viewer.show(MODEL, BENT)
    end = threading.Event()
    moves: list[int] = []

    def keep_moving() -> None:
        while not end.wait(0.002):
            shown.update(BENT + 0.3 * np.sin(0.1 * len(moves)))
            moves.append(1)

    mover = threading.Thread(target=keep_moving)
    try:
        tab = browser.open(shown.address, WIDTH, HEIGHT)
        wait_until(lambda: clients(shown) == 1, "a tab that has come")
        mover.start()
        wait_until(lambda: len(moves) > 20, "moves")
        tab.close()
        wait_until(lambda: clients(shown) == 0, "a tab that has left")
        before = len(moves)
        wait_until(lambda: len(moves) > before + 20, "moves without a tab")
        end.set()
        mover.join()
        shown.update(-BENT)
        tab = browser.open(shown.address, WIDTH, HEIGHT)
        wait_until_drawn(tab, expected_links(shown))
        tab.close()
    finally:
        end.set()
        shown.stop()
    assert "Traceback" not in capfd.readouterr().err


def test_many_tabs_see_the_same(crowd: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Half of them are cut off during updates. The others still receive the last poses."""
    visitors = [visitor(crowd) for _ in range(10)]
    wait_until(lambda: clients(crowd) == 10, "ten tabs")
    waves(crowd, 5)
    for each in visitors[:5]:
        cut_off(each)
    waves(crowd, 20)
    last = positions(crowd)
    for each in visitors[5:]:
        while last not in each.recv(60.0):
            pass
    wait_until(lambda: clients(crowd) == 5, "five that have left")
    for each in visitors[5:]:
        each.close()
    wait_until(lambda: clients(crowd) == 0, "all that have left")
    assert "Traceback" not in capfd.readouterr().err


def test_a_stalled_browser_delays_nothing(crowd: Any) -> None:
    """It reads no message. The program and another browser continue, and its updates are not
    stored."""
    stalled, other = visitor(crowd, max_queue=1), visitor(crowd)
    wait_until(lambda: clients(crowd) == 2, "two tabs")
    waves(crowd, 20)
    before = resident()
    waves(crowd, 600)
    assert 600 * ENVS * 3 * 28 / 2**20 > 90, "what a queue of all updates would hold [MiB]"
    assert resident() - before < 45
    last = positions(crowd)
    while last not in other.recv(60.0):
        pass
    cut_off(stalled)
    other.close()


ORPHANED = """
import os
from warpdyn.viewer.browser import Browser
with Browser() as browser:
    print(browser.folder, flush=True)
    os.kill(os.getpid(), 9)
"""


def processes_of(folder: str) -> list[str]:
    """Processes that were started with a folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # the process has just ended
            found += [str(file)] * (folder in file.read_text())
    return found


def test_a_browser_ends_with_a_killed_program(browser: Any) -> None:
    """All of its processes end, although the program cannot end them."""
    assert processes_of(browser.folder)
    command = [sys.executable, "-c", ORPHANED]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=240.0, check=False)
    assert ended.returncode == -signal.SIGKILL
    folder = ended.stdout.strip()
    wait_until(lambda: not processes_of(folder), "the end of the browser")
    shutil.rmtree(folder, ignore_errors=True)


def test_ctrl_c_ends_the_command_cleanly() -> None:
    """A browser is connected. There is no traceback, and the port is closed."""
    command = [sys.executable, "-m", "warpdyn", "view", "double_pendulum", "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # Tests in the background of a shell ignore Ctrl-C, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout is not None
        line = next(x for x in process.stdout if "Ctrl-C" in x)
        host, port = re.findall(r"http://([\d.]+):(\d+)", line)[0]
        with socket.create_connection((host, int(port))):
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=240.0)
    finally:
        process.kill()
    assert process.returncode == 0 and "Traceback" not in errors, errors
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


@pytest.mark.parametrize(
    ("body", "said"), [("exit 3", r"ended by itself \(3\)"), ("exec sleep 600", "did not start")]
)
def test_a_browser_that_does_not_start_is_an_error(
    body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o700)
    monkeypatch.setattr(browser_module, "find_browser", lambda: str(program))
    if "sleep" in body:
        monkeypatch.setattr(browser_module, "PATIENCE", 0.2)
    with pytest.raises(viewer.ViewerError, match=said), browser_module.Browser():
        pass


def test_answers_of_a_browser_are_results_or_errors() -> None:
    """Those that are still missing when it ends say so; events go to the listener of their session."""
    browser, heard = browser_module.Browser.__new__(browser_module.Browser), list[Any]()
    browser._answers = {k: Future() for k in (1, 2, 3)}
    browser._listeners = {"s": lambda method, params: heard.append((method, params))}
    browser.process = SimpleNamespace(poll=lambda: 9)
    messages: list[dict[str, Any]] = [
        {"id": 1, "result": {"a": 1}},
        {"method": "Page.loadEventFired", "params": {"t": 2}, "sessionId": "s"},
        {"method": "Page.loadEventFired", "params": {}, "sessionId": "other"},
        {"id": 2, "error": "no such target"},
    ]
    browser._socket = map(json.dumps, messages)
    answers = dict(browser._answers)
    browser._read_messages()
    assert answers[1].result() == {"a": 1} and heard == [("Page.loadEventFired", {"t": 2})]
    for k, said in ((2, "the browser: no such target"), (3, r"the browser ended by itself \(9\)")):
        with pytest.raises(viewer.ViewerError, match=said):
            answers[k].result()


def test_a_command_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent once, with its number, and names the command."""
    monkeypatch.setattr(browser_module, "PATIENCE", 0.01)
    browser, sent = browser_module.Browser.__new__(browser_module.Browser), list[Any]()
    browser._lock, browser._number, browser._answers = threading.Lock(), 6, {}
    browser._socket = SimpleNamespace(send=lambda message: sent.append(json.loads(message)))
    with pytest.raises(viewer.ViewerError, match=r"did not answer Page\.reload within 0\.01 s"):
        browser.call("Page.reload", "s", ignoreCache=True)
    message = {"id": 7, "method": "Page.reload", "params": {"ignoreCache": True}, "sessionId": "s"}
    assert sent == [message]


def test_a_browser_that_does_not_end_is_killed() -> None:
    done: list[str] = []

    def wait(timeout: float | None = None) -> None:
        done.append("wait")
        if timeout is not None:
            raise subprocess.TimeoutExpired("chromium", timeout)

    browser = browser_module.Browser.__new__(browser_module.Browser)
    browser._folder = SimpleNamespace(cleanup=lambda: done.append("cleanup"))
    browser.process = SimpleNamespace(
        terminate=lambda: done.append("terminate"), kill=lambda: done.append("kill"), wait=wait
    )
    browser._end()
    assert done == ["terminate", "wait", "kill", "wait", "cleanup"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            {"errorText": "net::ERR_FILE_NOT_FOUND"},
            "cannot open file:///a: net::ERR_FILE_NOT_FOUND",
        ),
        ({}, "did not open file:///a within 0.01 s"),
    ],
)
def test_an_address_that_does_not_open_is_an_error(
    answer: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_module, "PATIENCE", 0.01)
    browser = SimpleNamespace(call=lambda method, session, **parameters: answer)
    tab = browser_module.Tab(browser, "target", "session")  # type: ignore[arg-type]
    with pytest.raises(viewer.ViewerError, match=f"the browser {said}"):
        tab.go_to("file:///a")

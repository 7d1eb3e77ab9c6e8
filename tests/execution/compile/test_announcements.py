"""Lines about compiles on stderr: when they are printed, and how they are switched off."""

from __future__ import annotations

import io
import sys
import threading
import time
from contextlib import nullcontext
from typing import Any

import pytest

import warpdyn as wd
from warpdyn.execution.compile import announcements
from warpdyn.execution.compile import announcements as chosen


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wd.config, "compile_messages", True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_names_in_a_message_do_not_control_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    announcements.say("\x1b[2Jname\nof two lines")
    assert capsys.readouterr().err == "warpdyn: \\x1b[2Jname\nof two lines\n"


def test_only_work_of_more_than_a_second_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    """The line contains the seconds if they are known."""
    with announcements.announcement("working", 0.9):
        pass
    assert capsys.readouterr().err == ""
    with announcements.announcement("working", 3.4):
        assert capsys.readouterr().err == "warpdyn: working, about 3 s\n"
    with announcements.announcement("working", None):
        assert capsys.readouterr().err == "warpdyn: working\n"
    assert capsys.readouterr() == ("", "")


def test_the_switch_turns_every_line_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wd.config.compile_messages = False` does so for the process, `silent` for a block."""
    with announcements.silent():
        announcements.say("something")
    assert wd.config.compile_messages
    wd.config.compile_messages = False
    monkeypatch.setattr(announcements, "WORTH_A_LINE", 0.01)
    announcements.say("something")
    with announcements.announcement("working", 100.0), announcements.announced_late("recording"):
        time.sleep(0.1)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with announcements.announcement("working", 100.0):
        pass
    assert capsys.readouterr().err == "" and sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_unexpectedly_long_work_is_announced_after_a_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shorter work prints nothing."""
    with announcements.announced_late("recording"):
        pass
    monkeypatch.setattr(announcements, "WORTH_A_LINE", 0.05)
    with announcements.announced_late("recording"):
        for _ in range(200):
            time.sleep(0.01)
            if said := capsys.readouterr().err:
                break
    assert said == "warpdyn: recording\n" and capsys.readouterr().err == ""


def test_a_terminal_shows_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It moves during the work and is full at the end."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(announcements, "REFRESH", 0.01)
    with announcements.announcement("compiling x for y, once", 200.0):
        for _ in range(500):
            time.sleep(0.01)
            if "1 of about 200 s" in screen.getvalue():
                break
        meanwhile = screen.getvalue()
    assert "warpdyn: compiling x for y, once" in meanwhile and "1 of about 200 s" in meanwhile
    assert "200 of about 200 s" not in meanwhile
    assert screen.getvalue().endswith("200 of about 200 s\n"), "the full bar stays"


def test_the_bar_ends_if_the_work_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread ends, and the caller gets the error."""
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    with pytest.raises(ValueError, match="broken"), announcements.announcement("working", 200.0):
        raise ValueError("broken")
    written = screen.getvalue()
    time.sleep(2 * announcements.REFRESH)
    assert screen.getvalue() == written and "200 of" not in written


def test_the_thread_of_the_bar_ends_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread ends even if it is writing at that time: nothing moves a closed bar."""

    class Slow:
        def __enter__(self) -> Slow:
            return self

        def __exit__(self, *_: object) -> None: ...

        def refresh(self) -> None:
            if threading.current_thread().name == "warpdyn bar":
                time.sleep(0.2)

    monkeypatch.setattr("tqdm.tqdm", lambda **_: Slow())
    monkeypatch.setattr(announcements, "REFRESH", 0.001)
    with announcements._bar("working", 200.0):
        time.sleep(0.05)
    assert "warpdyn bar" not in [thread.name for thread in threading.enumerate()]


def test_threads_of_announcements_are_daemons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python waits at its end for other threads, and background work may not end before."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    before = set(threading.enumerate())
    for announced in (
        announcements.announced_late("working"),
        announcements.announcement("working", 200.0),
    ):
        with announced:
            own = set(threading.enumerate()) - before
            # A thread of another test's background work may begin meanwhile.
            assert own and all(thread.daemon for thread in own)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.WORTH_A_LINE == 1.0
    assert chosen.REFRESH == 0.2


def test_a_bar_is_full_after_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that moves the bar may be reading the clock when the work ends."""
    reads, shown = threading.Event(), list[float]()

    class Bar(nullcontext[Any]):
        n = 0.0

        def __enter__(self) -> Any:
            return self

        def refresh(self) -> None:
            shown.append(self.n)

    def clock() -> float:
        if threading.current_thread().name == "warpdyn bar":
            reads.set()
            time.sleep(0.05)
        return 1.0

    monkeypatch.setattr("tqdm.tqdm", lambda **_: Bar())
    monkeypatch.setattr(announcements.time, "monotonic", clock)
    monkeypatch.setattr(announcements, "REFRESH", 1e-3)
    with announcements._bar("compiling", 3.0):
        assert reads.wait(10.0)
    assert shown[-1] == 3.0

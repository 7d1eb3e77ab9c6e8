"""Compilation in the background: a queue, and one thread that works through it.

The thread waits for Clang's process most of the time, so that calls run meanwhile. It ends with the
process: its compiler is killed, and unfinished work is dropped.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable

from . import compiler_process
from .announcements import say

LAST_WAIT = 2.0
"""Longest time that the end of the process waits for the thread [s]; it may be loading a kernel."""

NICENESS = 10
"""Niceness of the compiler's process."""

_condition = threading.Condition()
_waiting: deque[Callable[[], object]] = deque()
_thread: threading.Thread | None = None
_busy = False
_ending = False


def enqueue(task: Callable[[], object]) -> None:
    """Run a task on the thread, after the tasks that are already waiting."""
    global _thread
    with _condition:
        if _ending:
            return
        _waiting.append(task)
        if _thread is None:
            _thread = threading.Thread(target=_work, name="warpdyn compile", daemon=True)
            _thread.start()
        _condition.notify_all()


def is_ending() -> bool:
    """True if the process is about to end, so a task should not start another step."""
    return _ending


def in_background() -> bool:
    """True on the thread."""
    return threading.current_thread() is _thread


def wait_until_idle(timeout: float | None = None) -> bool:
    """Wait until all tasks are done; False if that takes longer than `timeout` seconds."""
    with _condition:
        return _condition.wait_for(lambda: not _waiting and not _busy, timeout)


def _work() -> None:
    global _busy
    while True:
        with _condition:
            _busy = False
            _condition.notify_all()
            _condition.wait_for(lambda: _waiting or _ending)
            if _ending:
                return
            task = _waiting.popleft()
            _busy = True
        try:
            task()
        except Exception as error:
            if _ending:
                return
            say(f"warning: {error}; its calls stay interpreted")


def _end() -> None:
    global _ending
    with _condition:
        _ending = True
        _waiting.clear()
        _condition.notify_all()
    compiler_process.end_all()
    if _thread is not None:
        _thread.join(LAST_WAIT)


atexit.register(_end)


def _begin_anew() -> None:
    """Forget the thread in a forked process, which does not have it."""
    global _condition, _thread, _busy
    _condition = threading.Condition()
    _thread, _busy = None, False
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

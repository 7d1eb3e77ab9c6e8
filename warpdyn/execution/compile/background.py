"""Compilation in the background: a queue, and one thread that works through it.

The thread waits for Clang's process most of the time, so that calls run meanwhile. It ends with the
process: its compiler is killed, and so is the process that writes a source. Unfinished work is
dropped.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence

from . import compiler_process
from .announcements import say

LAST_WAIT = 2.0
"""Longest time that the end of the process waits for the thread [s]; it may be loading a kernel."""

NICENESS = 10
"""Niceness of the compiler's process."""

Task = Callable[[], object]

_condition = threading.Condition()
_waiting: deque[tuple[Task, Task]] = deque()
"""Tasks, and what to do if a fork drops them."""
_running: tuple[Task, Task] | None = None
_thread: threading.Thread | None = None
_process: subprocess.Popen[bytes] | None = None
_ending = False


def enqueue(task: Task, dropped: Task = lambda: None) -> None:
    """Run a task on the thread, after the tasks that are already waiting. A process that is forked
    before the task has ended does not run it, and calls `dropped`."""
    global _thread
    with _condition:
        if _ending:
            return
        _waiting.append((task, dropped))
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
        return _condition.wait_for(lambda: not _waiting and _running is None, timeout)


def run_process(command: Sequence[str], content: bytes) -> bytes:
    """The output of a process that the thread waits for, and that ends with this one; `content`: its input.
    OSError, SubprocessError: it fails or is ended."""
    global _process
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
    ) as process:
        _process = process
        if _ending:
            process.kill()
        output, _ = process.communicate(content)
        _process = None
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output


def _work() -> None:
    global _running
    while True:
        with _condition:
            _running = None
            _condition.notify_all()
            _condition.wait_for(lambda: _waiting or _ending)
            if _ending:
                return
            _running = _waiting.popleft()
        try:
            _running[0]()
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
    if _process is not None:
        _process.kill()
    if _thread is not None:
        _thread.join(LAST_WAIT)


atexit.register(_end)


def _begin_anew() -> None:
    """Forget the thread and its tasks in a forked process, which does not have them."""
    global _condition, _thread, _running, _process
    tasks = [*_waiting] if _running is None else [_running, *_waiting]
    _condition = threading.Condition()
    _thread = _running = _process = None
    _waiting.clear()
    for _, dropped in tasks:
        dropped()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

"""CPU threads over slices of a batch: their number, the length of a slice, and Python threads if
there are no `native_threads`. A Warp CPU launch runs on the calling thread and releases the GIL."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from math import ceil
from queue import SimpleQueue

_wanted = ctypes.c_int64(0)
"""The requested number; 0: all cores. It is in memory that compiled code reads too."""
WANTED_AT = ctypes.addressof(_wanted)
_workers: list[_Worker] = []
_lock = threading.Lock()

Task = Callable[[], None]

ENOUGH = 9e-5
"""Estimated seconds of work from which a batch is divided among threads."""

SLICE, PYTHONS_SLICE = 1e-5, 4e-5
"""Smallest estimated work of a slice in seconds; a native thread starts one in about 1e-7, a Python
thread in 2.5e-6."""


def set_num_threads(number: int | None) -> None:
    """Use `number` CPU threads for large batches; None: all cores. Small batches always run on the
    calling thread."""
    if number is not None and (not isinstance(number, int) or number < 1):
        raise ValueError(
            f"the number of threads must be at least 1, or None for all cores, got {number!r}"
        )
    _wanted.value = number or 0


def get_num_threads() -> int:
    """The number of CPU threads that large batches use."""
    if _wanted.value:
        return _wanted.value
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """A thread that runs the tasks in its inbox."""

    def __init__(self) -> None:
        self.inbox: SimpleQueue[Task] = SimpleQueue()
        threading.Thread(target=self._work, name="warpdyn", daemon=True).start()

    def _work(self) -> None:
        while True:
            self.inbox.get()()


def run_all(tasks: Sequence[Task], threads: int) -> None:
    """Run the tasks on up to `threads` threads, including the calling one; return when all are
    done.

    A free thread takes the next task, and no thread waits for one that is slow to wake (50 to 100
    us on a virtual machine): a late thread finds no task left.
    """
    waiting = list(reversed(tasks))
    results: SimpleQueue[BaseException | None] = SimpleQueue()

    def work() -> None:
        while True:
            try:
                task = waiting.pop()
            except IndexError:  # this thread or another one has taken the last
                return
            try:
                task()
                results.put(None)
            except BaseException as error:  # passed to the caller
                results.put(error)

    with _lock:
        while len(_workers) < threads - 1:
            _workers.append(_Worker())
    for worker in _workers[: threads - 1]:
        worker.inbox.put(work)
    work()
    errors = [results.get() for _ in tasks]
    for error in errors:
        if error is not None:
            raise error


def slices(count: int, threads: int, unit: int, least: float) -> list[tuple[int, int]]:
    """Slices [first, number) of `count`, each but the last a multiple of `unit`.

    Guided self-scheduling (Polychronopoulos and Kuck 1987): each slice is half of a thread's share
    of the rest, but not less than `least`. This gives few slices, and the last ones are short. A
    thread that returns from a slice may have to wait for another that holds the GIL, and is then
    woken late. This happens more often with more slices.
    """
    if threads == 1:
        return [(0, count)] if count else []
    found, first = [], 0
    while first < count:
        share = max((count - first) / (2 * threads), least)
        number = min(count - first, ceil(share / unit) * unit)
        found.append((first, number))
        first += number
    return found


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.clear)

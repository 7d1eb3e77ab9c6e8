"""CPU threads over slices of a batch: how many, how long a slice is, and threads of Python's where
there are no `native_threads`. A Warp CPU launch runs on the calling thread and leaves the interpreter
lock."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from math import ceil
from queue import SimpleQueue

_wanted = ctypes.c_int64(0)
"""The number asked for; 0: all cores. In memory, where compiled code reads it too."""
WANTED_AT = ctypes.addressof(_wanted)
_workers: list[_Worker] = []
_lock = threading.Lock()

Task = Callable[[], None]

ENOUGH = 9e-5
"""Estimated seconds of work from which on a batch is shared out."""

SLICE, PYTHONS_SLICE = 1e-5, 4e-5
"""Estimated seconds of work in a slice, at least; a thread begins one in some 1e-7, one of Python's in
2.5e-6."""


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
    """A thread that does what it is sent."""

    def __init__(self) -> None:
        self.inbox: SimpleQueue[Task] = SimpleQueue()
        threading.Thread(target=self._work, name="warpdyn", daemon=True).start()

    def _work(self) -> None:
        while True:
            self.inbox.get()()


def run_all(tasks: Sequence[Task], threads: int) -> None:
    """Run the tasks on up to `threads` threads, the calling one among them; return when all are
    done.

    Whoever is free takes the next task, and nobody waits for a thread that is slow to wake (50 to
    100 us on a virtual machine): one that comes late finds nothing left.
    """
    waiting = list(reversed(tasks))
    results: SimpleQueue[BaseException | None] = SimpleQueue()

    def work() -> None:
        while waiting:
            try:
                task = waiting.pop()
            except IndexError:  # another thread took the last one
                return
            try:
                task()
                results.put(None)
            except BaseException as error:  # handed to the caller
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
    """[first, number) of slices of `count`, each but the last a multiple of `unit`.

    Guided self-scheduling (Polychronopoulos and Kuck 1987): each is half of a thread's share of
    what is left, but not less than `least`, so that few are started and none is long at the end. A
    thread that comes from one meets another that holds the interpreter lock, and is woken late, the
    more often the more there are.
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

"""CPU threads over slices of a batch. A Warp CPU launch runs on the calling thread and leaves the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

_number: int | None = None
_workers: list[_Worker] = []
_lock = threading.Lock()

Task = Callable[[], None]

ENOUGH = 2.0e-4
"""Estimated seconds of work from which on a batch is shared out; waking a thread costs about a tenth of it."""


def set_num_threads(number: int | None) -> None:
    """Use `number` CPU threads for large batches; None: all cores. Small batches always run on the calling thread."""
    global _number
    if number is not None and (not isinstance(number, int) or number < 1):
        raise ValueError(f"the number of threads must be at least 1, or None for all cores, got {number!r}")
    _number = number


def get_num_threads() -> int:
    """The number of CPU threads that large batches use."""
    if _number is not None:
        return _number
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """A thread that waits for tasks. A dead process's child (fork) makes new ones."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[Task] = SimpleQueue()
        self.results: SimpleQueue[BaseException | None] = SimpleQueue()
        threading.Thread(target=self._work, name="warpdyn", daemon=True).start()

    def _work(self) -> None:
        while True:
            task = self.tasks.get()
            try:
                task()
                self.results.put(None)
            except BaseException as error:  # handed to the caller of run_all
                self.results.put(error)


def run_all(tasks: Sequence[Task]) -> None:
    """Run the tasks at the same time, the first on the calling thread; return when all are done."""
    with _lock:  # workers serve one batch at a time
        while len(_workers) < len(tasks) - 1:
            _workers.append(_Worker())
        busy = _workers[: len(tasks) - 1]
        for worker, task in zip(busy, tasks[1:], strict=True):
            worker.tasks.put(task)
        try:
            tasks[0]()
        finally:
            errors = [worker.results.get() for worker in busy]
    for error in errors:
        if error is not None:
            raise error


def slices(count: int, parts: int, unit: int) -> list[tuple[int, int]]:
    """[first, number) of up to `parts` slices of `count`, each but the last a multiple of `unit`."""
    step = -(-count // (parts * unit)) * unit
    return [(first, min(step, count - first)) for first in range(0, count, step)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.clear)

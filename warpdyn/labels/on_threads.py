"""Labelling of many files on the threads of this machine, one file for each thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from ..execution.threads import get_num_threads, set_num_threads
from .own_outputs import LogFile, Outcome


def on_threads(
    label: Callable[[LogFile, Callable[[int], None], Callable[[], bool]], Outcome],
    files: Sequence[LogFile],
    on_rows: Callable[[int], None],
    workers: int | None = None,
) -> Generator[Outcome, None, None]:
    """Outcomes in the order in which files are done.

    label: function that labels a file; it gets `on_rows`, and a function that says whether to stop.
    on_rows: called with numbers of rows, one call at a time.

    When the caller stops iterating, incomplete outputs are abandoned and removed.
    """
    workers = workers or min(len(os.sched_getaffinity(0)), max(1, len(files)))
    stopped, lock = threading.Event(), threading.Lock()

    def report_rows(rows: int) -> None:
        with lock:
            on_rows(rows)

    before = get_num_threads()
    set_num_threads(1)  # each of our threads is busy with its own file
    pool = ThreadPoolExecutor(workers, "label")
    rest, running = iter(files), set[Future[Outcome]]()
    try:
        while True:
            for file in islice(rest, 2 * workers - len(running)):
                running.add(pool.submit(label, file, report_rows, stopped.is_set))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                yield each.result()
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)
        set_num_threads(before)

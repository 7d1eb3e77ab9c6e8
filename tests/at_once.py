"""The same work in several threads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(work: Callable[[int], object], threads: int) -> None:
    """Call work(k) for each k in its own thread, and wait for all of them."""
    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()

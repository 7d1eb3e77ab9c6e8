"""Functions that run once: the first thread that calls one runs it, and other threads wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")

_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def lock_of(thing: object) -> Any:
    """The reentrant lock of an object, which is freed with the object."""
    return _locks.setdefault(thing, threading.RLock())


def run_once(make: Callable[[], Result]) -> Callable[[], Result]:
    """The function, run only at the first call, like `functools.cache` but safe for several
    threads."""
    kept: list[Result] = []

    @wraps(make)
    def first_result() -> Result:
        if not kept:  # no lock after the first call, because every large launch calls it
            with lock_of(make):
                if not kept:
                    kept.append(make())
        return kept[0]

    first_result.cache_clear = kept.clear  # type: ignore[attr-defined]
    first_result.is_made = lambda: bool(kept)  # type: ignore[attr-defined]
    return first_result


if hasattr(os, "register_at_fork"):
    # After a fork the child has no thread that would release them.
    os.register_at_fork(after_in_child=_locks.clear)

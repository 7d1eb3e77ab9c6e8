"""What several threads ask for at once is made by the first of them; the others wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Made = TypeVar("Made")

_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def lock_of(thing: object) -> Any:
    """The lock of an object, to be entered again by the thread that has it; gone with the object."""
    return _locks.setdefault(thing, threading.RLock())


def made_once(make: Callable[[], Made]) -> Callable[[], Made]:
    """The function, carried out at the first call alone, as `functools.cache` has it where one thread
    calls."""
    kept: list[Made] = []

    @wraps(make)
    def made() -> Made:
        if not kept:  # without the lock from then on: a large launch asks each time
            with lock_of(make):
                if not kept:
                    kept.append(make())
        return kept[0]

    made.cache_clear = kept.clear  # type: ignore[attr-defined]
    return made


if hasattr(os, "register_at_fork"):
    # In the child nobody is left who would open them.
    os.register_at_fork(after_in_child=_locks.clear)

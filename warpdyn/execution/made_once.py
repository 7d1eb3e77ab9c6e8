"""What several threads ask for at once is made by the first of them; the others wait."""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def lock_of(thing: object) -> Any:
    """The lock of an object, to be entered again by the thread that has it; gone with the object."""
    return _locks.setdefault(thing, threading.RLock())


if hasattr(os, "register_at_fork"):
    # In the child nobody is left who would open them.
    os.register_at_fork(after_in_child=_locks.clear)

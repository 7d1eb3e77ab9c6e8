"""Waits for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def wait_until(condition: Callable[[], object], what: str, seconds: float = 240.0) -> Any:
    """The condition's value, once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds:g} s")

"""Calls by the C function of a function, and what it knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warpdyn.execution.batched import Function


def forget(function: Any) -> None:
    assert isinstance(function, Function)
    for known in (function._known_calls, function._native_calls, function._called_once):
        known.clear()


@contextmanager
def nothing_known_of(*functions: Any) -> Iterator[None]:
    """Neither before nor behind."""
    for function in functions:
        forget(function)
    yield
    for function in functions:
        forget(function)


def natively(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result by the C function; `MISS` where it leaves the call to others."""
    return function._native_calls.entry(args, kwargs)

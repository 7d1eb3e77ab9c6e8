"""Calls of a function in C, and the contents of its cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from warpdyn.execution.batched import Function
from warpdyn.execution.repeat import call_cache


def forget(function: Any) -> None:
    assert isinstance(function, Function)
    function._calls.clear()


@contextmanager
def nothing_known_of(*functions: Any) -> Iterator[None]:
    """Empty the caches before and after the block. Within it a call moves to C as soon as it is
    planned."""
    for function in functions:
        forget(function)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_cache, "RUNS_IN_PYTHON", 0)
        yield
    for function in functions:
        forget(function)


def natively(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of the function in C, or `MISS` for a call that is not in its cache."""
    return function._calls.entry(args, kwargs)


def plans_of(function: Any) -> Any:
    """The plans of a function by key."""
    return function._calls._plans


def in_c(function: Any) -> Any:
    """The plans that the function in C knows."""
    native = function._calls._calls_in_c
    return () if native is None else native.plans


def set_in_c(function: Any, *plans: Any) -> None:
    """Restrict the function in C to these plans."""
    function._calls._calls_in_c._know(plans)


def node_in_c(plan: Any) -> Any:
    """The node of a differentiated plan that the functions in C read."""
    return plan.on_adjoint.__self__

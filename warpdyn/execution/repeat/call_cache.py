"""Cache of one function's calls: seen once, planned, in C."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any, Protocol

from .call_key import CallKey, Key, key_of
from .planned_call import MISS, PlannedCall

MOST = 512
"""Number of calls that a function remembers before it clears them."""

RUNS_IN_PYTHON = 8
"""Runs of a plan before its call moves to C. The function in C takes 5 ms to load, once in a process,
and 0.2 ms to learn a call. A script that repeats a call only a few times has neither cost."""

Entry = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""Result by positional and keyword arguments; `MISS` for an unknown call."""


class CallsInC(Protocol):
    """Calls of one function that are made in C (`execution/native/`).

    It sets the cache's `entry` in one statement, because other threads and the garbage collector
    read and replace it at any time.
    """

    def add(
        self, key: Key, plan: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Add a call if its kind can run in C."""
        ...

    def forget(self, key: Key) -> None:
        """Remove a call."""
        ...

    def clear(self) -> None:
        """Remove all calls."""
        ...


class CallCache:
    """The calls of one function that were made before.

    A call is *seen once*, then *planned*: its checks are skipped. After some runs it is *in C*, if
    the optional folder `execution/native/` is there and supports its kind.
    """

    def __init__(
        self, signature: inspect.Signature, calls_in_c: Callable[[CallCache], CallsInC | None]
    ):
        """calls_in_c: makes the part in C, or returns None while it is not compiled. It is called
        when the first calls move there."""
        self.entry: Entry = unknown
        """The function in C."""
        self._names = _positional_names(signature)
        self._seen_once: set[Key] = set()
        self._plans: dict[Key, PlannedCall] = {}
        self._runs_left: dict[Key, int] = {}
        self._make_calls_in_c = calls_in_c
        self._calls_in_c: CallsInC | None = None

    def key_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> CallKey | None:
        """The key of a call; None if the call has to be checked each time."""
        names = self._names
        if len(args) > len(names):
            names = (*names, *repeat(names[-1] if names else "", len(args) - len(names)))
        return key_of(names, args, kwargs)

    def run(self, call: CallKey, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Results of a planned call; `MISS` if there is no plan or it does not apply."""
        key = call.key
        plan = self._plans.get(key)
        if plan is None:
            return MISS
        if key in self._runs_left:
            self._count_run(key, plan, args, kwargs)
        return plan.run(call.arrays)

    def _count_run(
        self, key: Key, plan: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Move a call to C once its plan has run often enough."""
        left = self._runs_left.get(key, 1) - 1
        if left > 0 or plan.counts_calls:
            self._runs_left[key] = max(left, 1)
            return
        self._runs_left.pop(key, None)
        self._move_to_c(key, plan, args, kwargs)

    def _move_to_c(
        self, key: Key, plan: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        if self._calls_in_c is None:
            self._calls_in_c = self._make_calls_in_c(self)
        if self._calls_in_c is None:  # the function in C may be compiled later
            self._runs_left[key] = max(RUNS_IN_PYTHON, 1)
        else:
            self._calls_in_c.add(key, plan, args, kwargs)

    def remember(
        self,
        call: CallKey,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        plan: Callable[..., PlannedCall | None],
    ) -> None:
        """Remember a call that was checked: at first its key, the second time its plan.

        plan: makes the plan from the names of the arrays and `forget`.
        """
        key = call.key
        if key not in self._seen_once:
            if len(self._seen_once) >= MOST:
                self._seen_once.clear()
            self._seen_once.add(key)
            return
        made = plan(call.names, lambda _: self.forget(key))
        if made is None:
            return
        if len(self._plans) >= MOST:
            self._plans.clear()
            self._runs_left.clear()
        self._plans[key] = made
        if RUNS_IN_PYTHON:
            self._runs_left[key] = RUNS_IN_PYTHON
        else:
            self._move_to_c(key, made, args, kwargs)

    def forget(self, key: Key, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """Forget a call, because its model has been freed."""
        if ending():  # at exit, the modules that this needs may already be unloaded
            return
        self._plans.pop(key, None)
        self._runs_left.pop(key, None)
        if self._calls_in_c is not None:
            self._calls_in_c.forget(key)

    def clear(self) -> None:
        """Forget all calls."""
        for remembered in (self._seen_once, self._plans, self._runs_left):
            remembered.clear()
        if self._calls_in_c is not None:
            self._calls_in_c.clear()


def unknown(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The entry while no call is in C."""
    return MISS


def _positional_names(signature: inspect.Signature) -> tuple[str, ...]:
    """Names of the parameters that may be positional, the last one that takes all further arguments."""
    kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    return tuple(name for name, x in signature.parameters.items() if x.kind in kinds)

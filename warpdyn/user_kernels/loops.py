"""Rolled loops of a kernel: a step that is recorded once and runs many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra import scalar
from .conditions import Condition, flag, less, truth
from .elementary import number
from .refusals import RecordingError, refuse
from .values import Values, objects, of

State = Any
"""An array, or a tuple or dictionary of states."""


def repeat(
    n: int,
    step: Callable[[Any], Any],
    state: State,
    *,
    until: Callable[[Any], Any] | None = None,
) -> State:
    """The state after `n` steps, `state = step(state)`, recorded once as a loop.

    state: an array of values, or a tuple or dictionary of arrays. `step` returns the same form and
    shapes; an entry that starts as a condition (`False`) stays one. It may read variables around
    it. until: a condition on the state. When it holds, the environment's loop ends, after the step
    that made it true.
    """
    if isinstance(n, Values) or not isinstance(n, (int, np.integer)) or n < 0:
        refuse(f"the number of steps must be a known whole number of at least 0, got {n!r}")
    # The recorded loop carries plain numbers only. Conditions are carried as 0 or 1 and become
    # conditions again inside the step.
    leaves = _flatten(state)
    shapes = [leaf.shape for leaf in leaves]
    start = [x for leaf in leaves for x in leaf.flat]
    conditions = [isinstance(x, (bool, Condition)) for x in start]

    def fold_state(scalars: Any) -> State:
        arrays, first = [], 0
        entries = [
            less(0.5, x) if condition else x
            for x, condition in zip(scalars, conditions, strict=True)
        ]
        for shape in shapes:
            size = int(np.prod(shape, dtype=int))
            array: Any = np.empty(size, dtype=object)
            array[:] = entries[first : first + size]
            arrays.append(of(array.reshape(shape)))
            first += size
        return _rebuilt(state, iter(arrays))

    def flat_step(scalars: list[Any]) -> list[Any]:
        after = _flatten(step(fold_state(scalars)))
        if [leaf.shape for leaf in after] != shapes:
            raise RecordingError(
                f"the step of a loop must return what its state is, arrays of shapes {shapes}; "
                f"got {[leaf.shape for leaf in after]}"
            )
        entries = [x for leaf in after for x in leaf.flat]
        if any(
            condition and not isinstance(x, (bool, Condition))
            for x, condition in zip(entries, conditions, strict=True)
        ):
            raise RecordingError(
                "the state of a loop begins with a condition (True, False, a comparison) that its step makes "
                "a number; begin with a number, 0.0"
            )
        return [number(x) for x in entries]

    def loop_ends(scalars: Any) -> Any:
        assert until is not None
        condition = objects(until(fold_state(scalars)))
        if condition.ndim:
            refuse(
                f"until must give one condition, got shape {condition.shape}; join by np.all or np.any"
            )
        return flag(truth(condition[()]))

    numbers = [number(x) for x in start]
    return fold_state(
        scalar.repeat(flat_step, numbers, int(n), None if until is None else loop_ends)
    )


def _flatten(state: State) -> list[Any]:
    """The arrays of a state, in order."""
    if isinstance(state, Mapping):
        return [leaf for each in state.values() for leaf in _flatten(each)]
    if isinstance(state, (tuple, list)):
        return [leaf for each in state for leaf in _flatten(each)]
    return [objects(state)]


def _rebuilt(like: State, leaves: Any) -> State:
    """Arrays in the same form as another state."""
    if isinstance(like, Mapping):
        return {name: _rebuilt(each, leaves) for name, each in like.items()}
    if isinstance(like, (tuple, list)):
        made = [_rebuilt(each, leaves) for each in like]
        return type(like)(*made) if hasattr(like, "_fields") else type(like)(made)
    return next(leaves)

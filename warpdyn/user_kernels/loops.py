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
    n: int, step: Callable[[Any], Any], state: State, *, until: Callable[[Any], Any] | None = None
) -> State:
    """The state after `n` steps, `state = step(state)`, recorded once as a loop.

    state: an array of values, or a tuple or dictionary of arrays. `step` returns the same form and
    shapes; an entry that starts as a condition (`False`) stays one. It may read variables around
    it. until: a condition on the state. When it holds, the environment's loop ends, after the step
    that made it true.
    """
    if isinstance(n, Values) or not isinstance(n, (int, np.integer)) or n < 0:
        refuse(f"the number of steps must be a known whole number of at least 0, got {n!r}")
    form = StateForm(state)

    def flat_step(scalars: list[Any]) -> list[Any]:
        return form.flat(step(form.fold(scalars)))

    ends = None if until is None else end_of_loop(form, until)
    return form.fold(scalar.repeat(flat_step, form.start, int(n), ends))


def end_of_loop(form: StateForm, until: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the numbers of a state that is 1 where the condition `until` on the state holds,
    else 0."""

    def loop_ends(scalars: Any) -> Any:
        condition = objects(until(form.fold(scalars)))
        if condition.ndim:
            refuse(
                f"until must give one condition, got shape {condition.shape}; join by np.all or np.any"
            )
        return flag(truth(condition[()]))

    return loop_ends


class StateForm:
    """The form of a loop's state: arrays in tuples and dictionaries, their shapes, and which of
    their entries are conditions.

    The recorded loop carries plain numbers only. Conditions are carried as 0 or 1 and become
    conditions again inside the step.
    """

    def __init__(self, state: State):
        self.state = state
        leaves = flatten(state)
        self.shapes = [leaf.shape for leaf in leaves]
        entries = [x for leaf in leaves for x in leaf.flat]
        self.conditions = [isinstance(x, (bool, Condition)) for x in entries]
        self.start = [number(x) for x in entries]
        """The numbers of the state that it was made from."""

    def fold(self, scalars: Any) -> State:
        """The state of these numbers."""
        arrays, first = [], 0
        entries = [
            less(0.5, x) if condition else x
            for x, condition in zip(scalars, self.conditions, strict=True)
        ]
        for shape in self.shapes:
            size = int(np.prod(shape, dtype=int))
            array: Any = np.empty(size, dtype=object)
            array[:] = entries[first : first + size]
            arrays.append(of(array.reshape(shape) if shape else array[0]))
            first += size
        return rebuilt(self.state, iter(arrays))

    def flat(self, state: State) -> list[Any]:
        """The numbers of a state that a step has returned."""
        after = flatten(state)
        if [leaf.shape for leaf in after] != self.shapes:
            raise RecordingError(
                f"the step of a loop must return its state, arrays of shapes {self.shapes}; "
                f"got {[leaf.shape for leaf in after]}"
            )
        entries = [x for leaf in after for x in leaf.flat]
        if any(
            condition and not isinstance(x, (bool, Condition))
            for x, condition in zip(entries, self.conditions, strict=True)
        ):
            raise RecordingError(
                "the state of a loop begins with a condition (True, False, a comparison) that its step makes "
                "a number; begin with a number, 0.0"
            )
        return [number(x) for x in entries]


def flatten(state: State) -> list[Any]:
    """The arrays of a state, in order."""
    if isinstance(state, Mapping):
        return [leaf for each in state.values() for leaf in flatten(each)]
    if isinstance(state, (tuple, list)):
        return [leaf for each in state for leaf in flatten(each)]
    return [objects(state)]


def rebuilt(like: State, leaves: Any) -> State:
    """Arrays in the same form as another state."""
    if isinstance(like, Mapping):
        return {name: rebuilt(each, leaves) for name, each in like.items()}
    if isinstance(like, (tuple, list)):
        made = [rebuilt(each, leaves) for each in like]
        return type(like)(*made) if hasattr(like, "_fields") else type(like)(made)
    return next(leaves)

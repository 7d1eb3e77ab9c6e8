"""Inputs of an impedance law that topics change at control rate: bounds, and the rate of the change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..settings.law_settings import LAWS
from ..settings.node_settings import Settings
from .law import Law, input_in_shape, inputs_of

BY_TOPIC = (
    "stiffness",
    "damping",
    "damping_ratio",
    "max_force",
    "posture_stiffness",
    "posture_damping",
)
"""Inputs that have a topic."""
LONGEST_STEP = 0.05
"""Longest time that one step counts [s]: states that pause do not make a jump."""


class LawInputTargets:
    """Targets of the law's inputs for one robot. `follow` moves the inputs towards them, in each cycle.

    The parameter `law_inputs.<name>` is the initial value of an input. Its largest value is the
    parameter times `law_input_range`, number by number. A square matrix is bounded by its diagonal:
    its entries are then at most the geometric mean of two diagonal entries, because it is positive
    semidefinite. An input moves on the straight line to its target, and no number faster than the
    largest value in `law_input_time`. The line
    between two semidefinite matrices is semidefinite.
    """

    def __init__(self, law: Law, index: int, counts: Counter[str]) -> None:
        self.refusal = ""
        """The reason for which the last target was refused."""
        self.active = False
        """True while an input moves."""
        self._law, self._counts = law, counts
        self._rows = slice(index, index + 1)
        self._targets: dict[str, np.ndarray] = {}
        self._values: dict[str, np.ndarray] = {}
        """The parameters at which targets were set; another parameter ends its target."""
        self._then = -np.inf

    def change(self, settings: Settings) -> None:
        """Use other bounds."""
        self._range, self._time = settings.law_input_range, settings.law_input_time

    def read(self, name: str, numbers: Sequence[float]) -> str | None:
        """Move an input to these numbers, which have the form of its parameter. Returns the reason
        if they are refused."""
        try:
            target = self._target_of(name, numbers)
        except ValueError as error:
            self._counts["law_input_refused"] += 1
            self.refusal = f"{name}: {error}"
            return self.refusal
        self._targets[name], self._values[name] = target, self._law.values[name]
        if not self.active:  # `follow` was not called, and the time until now moves nothing
            self._then = np.inf
        self.active = True
        return None

    def restore(self) -> None:
        """Return to the parameters at once, for example at ~/enable."""
        for name in self._targets:
            self._law.inputs[name][self._rows] = self._law.values[name]
        self._targets.clear()
        self.active = False

    def follow(self, now: float) -> None:
        """Advance the inputs; now: the watchdog's time [s]."""
        passed, self._then = min(max(now - self._then, 0.0), LONGEST_STEP), now
        self.active = False
        for name, target in list(self._targets.items()):
            if self._law.values[name] is not self._values[name]:  # the parameter was set
                del self._targets[name]
                continue
            present = self._law.inputs[name][self._rows]
            step = target - present
            bound = self._most(name) * (passed / self._time) if self._time else np.inf
            size = np.abs(step)
            is_far = size > bound
            if not is_far.any():
                present[...] = target
                continue
            # One factor for all numbers, so that a matrix stays on the line to its target.
            room = np.broadcast_to(bound, size.shape)[is_far] / size[is_far]
            present += float(room.min()) * step
            self.active = True

    def _target_of(self, name: str, numbers: Sequence[float]) -> np.ndarray:
        """The target for these numbers; ValueError if it is not in the input's form or out of bounds."""
        values = tuple(float(x) for x in numbers)
        if not np.isfinite(values).all():
            raise ValueError("a number is not finite")
        target = input_in_shape(name, values, self._law)
        most = self._most(name)
        square = target.ndim == 2
        size, largest = (np.diag(x) if square else x for x in (np.abs(target), most))
        if (size > largest * (1.0 + 1e-9)).any():
            k = int(np.argmax(size - largest))
            raise ValueError(
                f"{size.flat[k]:g} exceeds {largest.flat[k]:g}, law_input_range times the parameter law_inputs.{name}"
            )
        self._law.check_values({**self._law.values, name: target})
        return target

    def _most(self, name: str) -> np.ndarray:
        """The largest value of each number of an input."""
        value = np.abs(self._law.values[name])
        if value.ndim == 2:
            diagonal = np.diag(value)
            value = np.sqrt(np.outer(diagonal, diagonal))
        return np.asarray(self._range * value)


def inputs_by_topic(settings: Settings, kernel_inputs: Sequence[str]) -> list[str]:
    """The inputs of the law that have a topic: none for users' own laws."""
    if settings.law not in LAWS or not settings.law_input_range:
        return []
    return [name for name in kernel_inputs if name in BY_TOPIC]


def has_topics(law: Law, settings: Settings) -> bool:
    """True if some inputs of this law have topics."""
    return bool(inputs_by_topic(settings, inputs_of(law.kernel)))

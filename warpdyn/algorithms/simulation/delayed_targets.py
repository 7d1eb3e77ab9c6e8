"""Targets that reach the drives some steps after they were set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.scalar import Scalar, minimum, select_less


@dataclass(frozen=True)
class DelayedTargets:
    """Targets of one launch: `before` in the steps 0, 1 .. less than `until`, `after` in the
    later steps."""

    before: Sequence[Scalar]
    after: Sequence[Scalar]
    until: Scalar

    def at(self, step: Scalar) -> list[Scalar]:
        """Targets of a step of the launch."""
        return [
            select_less(step, self.until, x, y)
            for x, y in zip(self.before, self.after, strict=True)
        ]


def delayed_targets(
    targets: Sequence[Scalar], earlier: Sequence[Sequence[Scalar]], latency: Scalar, substeps: int
) -> DelayedTargets:
    """Targets that drives follow in a launch of `substeps` steps, `latency` steps after they were
    set.

    `earlier`: targets of the launches before, the last one first. A latency longer than they reach
    back is shortened to that.
    """
    launches = [targets, *earlier]
    latency = minimum(latency, float(substeps * len(earlier)))
    seen = DelayedTargets(targets, targets, 0.0)
    # A latency of n steps reaches into the launch ceil(n / substeps) ago, and leaves it n -
    # substeps (that - 1) steps after the beginning of this one.
    for back in range(1, len(launches)):
        over = latency - float(substeps * (back - 1))
        seen = DelayedTargets(
            _where_positive(over, launches[back], seen.before),
            _where_positive(over, launches[back - 1], seen.after),
            select_less(0.0, over, over, seen.until),
        )
    return seen


def _where_positive(x: Scalar, then: Sequence[Scalar], otherwise: Sequence[Scalar]) -> list[Scalar]:
    return [select_less(0.0, x, a, b) for a, b in zip(then, otherwise, strict=True)]


def shift_targets(
    targets: Sequence[Scalar], earlier: Sequence[Sequence[Scalar]]
) -> list[Sequence[Scalar]]:
    """The earlier targets of the next launch."""
    return [targets, *earlier][: len(earlier)]


def from_the_beginning(
    targets: Sequence[Scalar], earlier: Sequence[Sequence[Scalar]], time: Scalar
) -> list[list[Scalar]]:
    """Earlier targets; if no time has passed, the present ones, as if they had been there
    before."""
    return [_where_positive(time, each, targets) for each in earlier]

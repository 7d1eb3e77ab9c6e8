"""The range of each column of q: its limits, and whether it is an angle, a length or part of a
quaternion.

Random configurations, inverse kinematics and benchmarks choose different ranges where a description
sets no limits. All of them read the limits here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .structure import Structure

WHOLE_TURN = 2.0 * math.pi * (1.0 + 1e-6)
"""A whole turn and the round-off of single precision [rad]."""


@dataclass(frozen=True)
class Range:
    """The limits of one column of q that is an angle [rad] or a length [m]; infinite without a
    limit."""

    column: int
    angle: bool
    lower: float
    upper: float
    axis: int | None = None
    """Index among x, y, z, for the origin of a joint with a quaternion; None for other joints."""

    @property
    def has_limits(self) -> bool:
        """True if the column has both limits."""
        return math.isfinite(self.upper - self.lower)

    @property
    def reach(self) -> float:
        """Largest distance from the middle at which a column without limits is drawn: half a turn,
        or 1 m."""
        return math.pi if self.angle else 1.0

    def within(self, low: float, high: float) -> tuple[float, float]:
        """The limits, with `low` and `high` in place of missing ones. If the limit lies outside of
        [low, high], the range is next to it and as wide as high - low."""
        lower, upper, width = self.lower, self.upper, high - low
        if not math.isfinite(lower):
            lower = low if low < upper else upper - width
        if not math.isfinite(upper):
            upper = high if high > lower else lower + width
        return lower, upper

    def middle(self, neutral: float) -> float:
        """The midpoint of the limits, or the point nearest to `neutral` if one is missing."""
        if self.has_limits:
            return (self.lower + self.upper) / 2
        return min(max(neutral, self.lower), self.upper)


def coordinate_ranges(model: Structure) -> Iterator[Range]:
    """The range of every column of q except those of quaternions, in the order of q."""
    lower, upper = model.position_lower.tolist(), model.position_upper.tolist()
    for joint in model.moving_joints:
        first = model.coordinates[joint.name].q.start
        free = joint.kind.quaternion is not None
        for k, angle in enumerate(joint.kind.angles):
            c = first + k
            yield Range(c, angle, lower[c], upper[c], axis=k if free else None)


def orientation_columns(model: Structure) -> list[tuple[slice, slice]]:
    """Columns of each joint with a quaternion: those of the position before it (none for a ball
    joint), and those of the quaternion."""
    columns = []
    for joint in model.moving_joints:
        if joint.kind.quaternion is not None:
            q = model.coordinates[joint.name].q
            start = q.start + joint.kind.quaternion
            columns.append((slice(q.start, start), slice(start, q.stop)))
    return columns


def may_wrap(angle: np.ndarray) -> bool:
    """True if an angle (rows,) stays within one turn, and moves by more than half a turn between two
    rows."""
    return bool(np.ptp(angle) <= WHOLE_TURN and np.any(np.abs(np.diff(angle)) > math.pi))


def continue_angles(model: Structure, q: np.ndarray) -> np.ndarray:
    """A motion q (rows, nq) whose angles without limits are unwrapped: where they jump from 3.1 to
    -3.1, they continue beyond half a turn, in float64, which keeps the digits of many turns. Angles
    that fill more than one turn are not wrapped, and stay as they are."""
    for each in coordinate_ranges(model):
        has_limits = each.lower > -math.inf or each.upper < math.inf
        if each.angle and not has_limits and may_wrap(q[:, each.column]):
            q = q.astype(np.float64)
            q[:, each.column] = np.unwrap(q[:, each.column])
    return q

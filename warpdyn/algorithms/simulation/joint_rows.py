"""Dry friction and stops of joints as constraints: one row, the joint's own velocity. Stops of
tendons are rows of their lengths' rates.

Dry friction holds a joint exactly up to its torque, and resists sliding with that torque; a stop
lets the joint move to its limit and no further. Both are one law of the velocity, so that a single
impulse represents both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...algebra.scalar import Scalar, is_zero, maximum, minimum
from ...model.tree import Cable, Tree
from .constraint_sweeps import ConstraintRows, RowVelocities, sparse_dot
from .soft_stops import SoftStop, soft_row

RETURN = 1.0
"""Largest speed at which a stop brings back a joint that is beyond its limit [rad/s, m/s]."""


class Bounds(NamedTuple):
    """Limits of a joint: coordinates in v and q, and bounds [rad, m]. `soft`: how they give way; None:
    not at all."""

    v_index: int
    q_index: int
    lower: float
    upper: float
    soft: SoftStop | None = None


class TendonBounds(NamedTuple):
    """Limits of a tendon's length [m]. `soft`: see `Bounds`."""

    lower: float
    upper: float
    soft: SoftStop


@dataclass(frozen=True)
class JointRow:
    """Friction and stops of one coordinate.

    `response`: its velocity for a unit impulse. `softness`: its compliance. `friction`: the largest
    impulse of dry friction [N s, N m s]. `lowest`, `highest`: the velocities at which stops begin
    to press; None if it has no stop. `compliance`: that of the stops.
    """

    row: int
    response: Scalar
    friction: Scalar
    lowest: Scalar | None
    highest: Scalar | None
    softness: Scalar = 0.0
    compliance: Scalar = 0.0

    size = 1

    @property
    def rows_used(self) -> list[int]:
        """Its row, once."""
        return [self.row]

    def on_rows(self, impulse: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
        """The whole impulse, on the joint's row."""
        yield self.row, impulse[0]

    def update(
        self, before: Sequence[Scalar], seen: RowVelocities
    ) -> tuple[list[Scalar], RowVelocities]:
        """The impulse after which the velocity obeys the law. Without it the joint has the velocity
        u; friction removes as much of it as it can, and a stop removes the rest beyond its own
        velocity."""
        (now,) = seen[self.row : self.row + 1]
        v = now - self.response * before[0]
        share = 1.0 / (self.response + self.softness)
        impulse: Scalar = 0.0
        if not is_zero(self.friction):
            impulse = maximum(minimum(-v * share, self.friction), -self.friction)
            v = v + self.response * impulse
        stopped = v
        if self.highest is not None:
            stopped = minimum(stopped, self.highest)
        if self.lowest is not None:
            stopped = maximum(stopped, self.lowest)
        if stopped is not v:
            if not is_zero(self.compliance):
                share = 1.0 / (self.response + self.softness + self.compliance)
            impulse = impulse + (stopped - v) * share
        return [impulse], seen.after_impulse(self.row, impulse - before[0])


def joint_rows(
    rows: ConstraintRows,
    coordinates: Sequence[int],
    friction: Mapping[int, Scalar],
    bounds: Sequence[Bounds],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    h: float,
) -> list[JointRow]:
    """The constraints of coordinates of v, which have the last rows.

    `v`: velocities before the step. `friction`: by coordinate [N, N·m]. A stop presses above the
    speed at which the joint would reach its limit within the step; if the joint is beyond the
    limit, the stop brings it back, at `RETURN` at most. A soft one follows `soft_row`.
    """
    stops = {each.v_index: each for each in bounds}
    found = []
    for row, k in enumerate(coordinates, len(rows.J) - len(coordinates)):
        pressed: tuple[Scalar | None, Scalar | None] = None, None
        compliance: Scalar = 0.0
        if k in stops:
            _, at, lower, upper, soft = stops[k]
            if soft is None:
                pressed = _stop_speeds(q[at], lower, upper, h)
            else:
                low, high, compliance = soft_row(soft, q[at], v[k], lower, upper, h)
                pressed = low, high
        most = friction.get(k, 0.0) * h
        softness, response = rows.mass.softness(k), rows.response(row, row)
        found.append(JointRow(row, response, most, *pressed, softness, compliance))
    return found


def limited_tendons(tree: Tree) -> tuple[list[Cable], list[list[Scalar]]]:
    """Tendons whose length has a bound, and their rows, nv each."""
    limited = [
        cable for cable in tree.cables if cable.columns and any(map(math.isfinite, cable.limits))
    ]
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in limited]
    for cable, row in zip(limited, rows, strict=True):
        for k, _, c in cable.columns:
            row[k] = c
    return limited, rows


def tendon_rows(
    rows: ConstraintRows,
    end: int,
    cables: Sequence[Cable],
    bounds: Sequence[TendonBounds | None],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    h: float,
) -> list[JointRow]:
    """Stops of tendons, whose rows end before the row `end`; as those of joints [m]. `bounds`: of
    tendons that give way; None for rigid ones."""
    found = []
    for row, (cable, each) in enumerate(zip(cables, bounds, strict=True), end - len(cables)):
        response = rows.response(row, row)
        if each is None:
            pressed = _stop_speeds(cable.length(q), *cable.limits, h)
            found.append(JointRow(row, response, 0.0, *pressed))
        else:
            rate = sparse_dot(rows.J[row], v)
            soft = soft_row(each.soft, cable.length(q), rate, each.lower, each.upper, h)
            low, high, compliance = soft
            found.append(JointRow(row, response, 0.0, low, high, compliance=compliance))
    return found


def _stop_speeds(
    x: Scalar, lower: float, upper: float, h: float
) -> tuple[Scalar | None, Scalar | None]:
    """The velocities below and above which stops press at a position."""
    lowest = minimum((lower - x) * (1.0 / h), RETURN) if math.isfinite(lower) else None
    highest = maximum((upper - x) * (1.0 / h), -RETURN) if math.isfinite(upper) else None
    return lowest, highest

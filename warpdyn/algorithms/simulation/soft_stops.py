"""Compliant joint limits and contact points like MuJoCo's: a spring and a damper in accelerations,
with an impedance.

MuJoCo's documentation, Computation, "Constraint model": beyond the limit by r, with the velocity u
into it, the force f of the limit solves

a + R f = -b u - K d(r) r,    R = (1 - d(r)) / d(r) * A

with A the inverse inertia of the joint. A step of h seconds takes a as the change of velocity over
h, so that the limit is a row with the compliance R and a target velocity. A contact is such a limit
of a point's height.
"""

from __future__ import annotations

from typing import NamedTuple

from ...algebra.scalar import Scalar, exp, log, maximum, minimum, select_less
from ...algebra.spatial import Vector

FREE = 1e30
"""Velocity that no joint reaches: the target of a limit that does not act."""

TINY = 1e-12
"""Least impedance of which the reciprocal is taken, and least depth of which a logarithm is."""

NO_WIDTH = 1e-15
"""Width up to which MuJoCo has one impedance for all depths, the mean of the smallest and the largest
[m, rad]."""

LEAST_MIDPOINT = 1e-4
"""MuJoCo's bound of the midpoint of an impedance curve, from 0 and from 1."""


class SoftStop(NamedTuple):
    """Numbers of one limit: `stiffness` K [1/s²], `rate` b [1/s], `impedance` of MJCF (smallest and
    largest d, width [rad, m], midpoint, power), the inverse inertia A of the joint [1/(kg m²), 1/kg],
    whether MuJoCo's own steps take it, and whether its time constant has a lower bound there."""

    stiffness: float
    rate: float
    impedance: tuple[float, float, float, float, float]
    inverse_inertia: float
    in_mujoco_steps: bool = False
    is_bounded: bool = True


class SoftRow(NamedTuple):
    """The row of a joint with soft limits: velocities below and above which they press, and their
    compliance [1/(kg m²), 1/kg]."""

    lowest: Scalar
    highest: Scalar
    compliance: Scalar


def soft_row(stop: SoftStop, x: Scalar, v: Scalar, lower: float, upper: float, h: float) -> SoftRow:
    """The row at a position and a velocity; a limit that the joint has not passed does not act."""
    b, K = bounded_rates(stop, h)
    depth = maximum(maximum(lower - x, x - upper), 0.0)
    d = impedance(stop.impedance, depth)
    moved = v - v * (h * b)
    push = d * depth * (h * K)
    return SoftRow(
        lowest=select_less(x, lower, moved + push, -FREE),
        highest=select_less(upper, x, moved - push, FREE),
        compliance=(1.0 - d) / d * stop.inverse_inertia,
    )


class SoftPoint(NamedTuple):
    """Numbers of one contact point: those of a `SoftStop`, with R of the normal and of the tangents for an
    impedance of one half [1/kg], the part of its radius that is a margin [m], whether its friction cone
    is a pyramid, the direction of the first edges of a pyramid in the axes of the point's link, if it is
    not the contact's x axis, and the last two of a `SoftStop`."""

    stiffness: float
    rate: float
    impedance: tuple[float, float, float, float, float]
    normal: Scalar
    tangential: Scalar
    margin: float = 0.0
    is_pyramidal: bool = False
    along: tuple[float, float, float] | None = None
    in_mujoco_steps: bool = False
    is_bounded: bool = True


class PointRow(NamedTuple):
    """The rows of a soft point: compliances of the normal and of the tangents [1/kg], and the
    velocities at which it stops pressing and rubbing [m/s]."""

    R_n: Scalar
    R_t: Scalar
    target: Scalar
    slip_x: Scalar
    slip_y: Scalar


def point_row(point: SoftPoint, height: Scalar, v: Vector, h: float) -> PointRow:
    """The rows of a point at a height above the ground with a velocity before the step; above the
    ground it does not press. Friction has a damper and no spring."""
    b, K = bounded_rates(point, h)
    depth = maximum(-height, 0.0)
    d = impedance(point.impedance, depth)
    share, kept = (1.0 - d) / d, 1.0 - h * b
    return PointRow(
        R_n=share * point.normal,
        R_t=share * point.tangential,
        target=select_less(height, 0.0, v.z * kept + d * depth * (h * K), -FREE),
        slip_x=v.x * kept,
        slip_y=v.y * kept,
    )


def bounded_rates(law: SoftStop | SoftPoint, h: float) -> tuple[float, float]:
    """b and K that a step of h seconds can take. An implicit step removes at most the whole
    velocity and is at most as stiff as critical damping allows. MuJoCo's steps have a time constant
    2 / (b d) of two steps or more, with d the largest impedance, and keep the damping ratio b / (2
    √K); laws that are not bounded keep both numbers."""
    if not law.in_mujoco_steps:
        return min(law.rate, 1.0 / h), min(law.stiffness, 0.25 / (h * h))
    if not law.is_bounded:
        return law.rate, law.stiffness
    bound = 1.0 / (h * max(law.impedance[1], TINY))
    share = min(bound / law.rate, 1.0) if law.rate > 0.0 else 1.0
    return law.rate * share, law.stiffness * share * share


def impedance(numbers: tuple[float, float, float, float, float], depth: Scalar) -> Scalar:
    """MuJoCo's d(r), between the first two numbers; their mean if it has no width to grow over."""
    lowest, highest, width, midpoint, power = numbers
    if width <= NO_WIDTH:
        return 0.5 * (lowest + highest)
    x = minimum(depth * (1.0 / width), 1.0)
    m = min(max(midpoint, LEAST_MIDPOINT), 1.0 - LEAST_MIDPOINT)
    if power <= 1.0 or lowest == highest:
        return x * (highest - lowest) + lowest
    rising = _power(x * (1.0 / m), power) * m
    falling = 1.0 - _power((1.0 - x) * (1.0 / (1.0 - m)), power) * (1.0 - m)
    return select_less(m, x, falling, rising) * (highest - lowest) + lowest


def _power(x: Scalar, power: float) -> Scalar:
    return x * x if power == 2.0 else exp(log(maximum(x, TINY)) * power)

"""Joint limits that give way as MuJoCo's do: a spring and a damper in accelerations, with an impedance.

MuJoCo's documentation, Computation, "Constraint model": beyond the limit by r, with the velocity u
into it, the force f of the limit solves

    a + R f = -b u - K d(r) r,    R = (1 - d(r)) / d(r) * A

with A the inverse inertia of the joint. A step of h seconds takes a as the change of velocity over
h, so that the limit is a row with the compliance R and a target velocity.
"""

from __future__ import annotations

from typing import NamedTuple

from ...algebra.scalar import Scalar, exp, log, maximum, minimum, select_less

FREE = 1e30
"""Velocity that no joint reaches: the target of a limit that does not act."""

TINY = 1e-12
"""Least width of an impedance, and least depth of which a logarithm is taken."""


class SoftStop(NamedTuple):
    """Numbers of one limit: `stiffness` K [1/s²], `rate` b [1/s], `impedance` of MJCF (smallest and
    largest d, width [rad, m], midpoint, power), and the inverse inertia A of the joint [1/(kg m²),
    1/kg]."""

    stiffness: float
    rate: float
    impedance: tuple[float, float, float, float, float]
    inverse_inertia: float


class SoftRow(NamedTuple):
    """The row of a joint with soft limits: velocities below and above which they press, and their
    compliance [1/(kg m²), 1/kg]."""

    lowest: Scalar
    highest: Scalar
    compliance: Scalar


def soft_row(stop: SoftStop, x: Scalar, v: Scalar, lower: float, upper: float, h: float) -> SoftRow:
    """The row at a position and a velocity; a limit that the joint has not passed does not act.

    A step damps no more than all of the velocity and is no stiffer than critical damping allows,
    which is MuJoCo's bound of a time constant of two steps.
    """
    b = min(stop.rate, 1.0 / h)
    K = min(stop.stiffness, 0.25 / (h * h))
    depth = maximum(maximum(lower - x, x - upper), 0.0)
    d = impedance(stop.impedance, depth)
    moved = v - v * (h * b)
    push = d * depth * (h * K)
    return SoftRow(
        lowest=select_less(x, lower, moved + push, -FREE),
        highest=select_less(upper, x, moved - push, FREE),
        compliance=(1.0 - d) / d * stop.inverse_inertia,
    )


def impedance(numbers: tuple[float, float, float, float, float], depth: Scalar) -> Scalar:
    """MuJoCo's d(r), between the first two numbers."""
    lowest, highest, width, midpoint, power = numbers
    x = minimum(depth * (1.0 / max(width, TINY)), 1.0)
    m = min(max(midpoint, TINY), 1.0 - TINY)
    if power <= 1.0 or lowest == highest:
        return x * (highest - lowest) + lowest
    rising = _power(x * (1.0 / m), power) * m
    falling = 1.0 - _power((1.0 - x) * (1.0 / (1.0 - m)), power) * (1.0 - m)
    return select_less(m, x, falling, rising) * (highest - lowest) + lowest


def _power(x: Scalar, power: float) -> Scalar:
    return x * x if power == 2.0 else exp(log(maximum(x, TINY)) * power)

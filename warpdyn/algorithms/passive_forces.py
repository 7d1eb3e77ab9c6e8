"""What joints take of the forces on them besides moving inertia: friction, springs and dampers at the limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..algebra.scalar import Scalar, maximum, minimum, select_less, sign
from ..model.tree import Body, Tree


def effect_torques(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Joint forces that the effects take: tau = M a + h + effects.

    For each coordinate of a joint at rate r: viscous friction b r; Coulomb friction f sign(r), 0 at rest; beyond a
    limit k (position - limit) + d r. A joint that follows another has effects of its own, at its own rate.
    """
    tau: list[Scalar] = [0.0] * tree.nv
    for body in tree.bodies:
        for k, effects in zip(body.v_index, body.effects, strict=False):
            rate = v[k] * body.multiplier
            taken = rate * effects.viscous + sign(rate) * effects.coulomb
            if body.kind.single:
                beyond, moving = _beyond_limits(
                    body, q[body.q_index[0]] * body.multiplier + body.offset, rate
                )
                taken = taken + beyond * effects.stiffness + moving * effects.damping
            tau[k] = tau[k] + taken * body.multiplier
    return tau


def without_effects(tree: Tree) -> Tree:
    """The bodies alone."""
    return replace(tree, bodies=tuple(replace(body, effects=()) for body in tree.bodies))


def effect_derivatives(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]
) -> Iterator[tuple[int, Scalar, Scalar]]:
    """For each coordinate of each joint: its index, and what `effect_torques` grows with its position and its rate."""
    for body in tree.bodies:
        for k, effects in zip(body.v_index, body.effects, strict=False):
            by_q: Scalar = 0.0
            by_v: Scalar = effects.viscous
            if body.kind.single:
                position = q[body.q_index[0]] * body.multiplier + body.offset
                _, out = _beyond_limits(body, position, 1.0)
                by_q, by_v = out * effects.stiffness, by_v + out * effects.damping
            yield k, by_q * body.multiplier**2, by_v * body.multiplier**2


def _beyond_limits(body: Body, position: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
    """How far the joint is beyond its limits, and its rate where it is beyond one."""
    beyond: Scalar = 0.0
    moving: Scalar = 0.0
    if math.isfinite(body.limits.lower):
        beyond = minimum(position - body.limits.lower, 0.0)
        moving = select_less(position, body.limits.lower, rate, 0.0)
    if math.isfinite(body.limits.upper):
        beyond = beyond + maximum(position - body.limits.upper, 0.0)
        moving = select_less(body.limits.upper, position, rate, moving)
    return beyond, moving

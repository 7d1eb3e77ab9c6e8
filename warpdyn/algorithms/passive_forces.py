"""Joint forces that friction and the springs and dampers at limits take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..algebra.scalar import Scalar, is_number, maximum, minimum, select_less, sign
from ..model.tree import Body, Tree


def passive_forces(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Joint forces that friction and limit springs take: tau = M a + h + these.

    q: nq [m, rad].  v: nv [m/s, rad/s].  Returns nv [N, N·m], in the direction of the motion.
    For each coordinate of a joint at rate r: viscous friction b r; Coulomb friction f sign(r), 0 at
    rest; beyond a limit k (position - limit) + d r.
    """
    tau: list[Scalar] = [0.0] * tree.nv
    for body in tree.bodies:
        # A joint that follows another rubs at its rate, multiplier times that of the coordinate,
        # and the coordinate feels multiplier times the force.
        for k, effects in zip(body.v_index, body.effects, strict=False):
            rate = v[k] * body.multiplier
            force = rate * effects.viscous + sign(rate) * effects.coulomb
            if body.kind.single:
                beyond, moving = _beyond_limits(body, _position(body, q), rate)
                force = force + beyond * effects.stiffness + moving * effects.damping
            tau[k] = tau[k] + force * body.multiplier
    return tau


def without_passive_forces(tree: Tree) -> Tree:
    """The same bodies and joints without friction and limit springs."""
    return replace(tree, bodies=tuple(replace(body, effects=()) for body in tree.bodies))


def dry_friction(tree: Tree) -> dict[int, Scalar]:
    """Coulomb friction by coordinate of v: the largest force that it holds with, at which it slides
    [N, N·m].

    Joints that follow another rub with it, each with its multiplier.
    """
    found: dict[int, Scalar] = {}
    for body in tree.bodies:
        for k, effects in zip(body.v_index, body.effects, strict=False):
            found[k] = found.get(k, 0.0) + effects.coulomb * abs(body.multiplier)
    return {k: x for k, x in found.items() if not (is_number(x) and x == 0.0)}


def without_dry_friction(tree: Tree) -> Tree:
    """The same bodies and joints without Coulomb friction."""
    if not dry_friction(tree):
        return tree
    return replace(
        tree,
        bodies=tuple(
            replace(body, effects=tuple(replace(each, coulomb=0.0) for each in body.effects))
            for body in tree.bodies
        ),
    )


def passive_force_derivatives(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]
) -> Iterator[tuple[int, Scalar, Scalar]]:
    """Index of each joint's coordinate, and its derivatives of `passive_forces` by q and v.

    All others are zero: a joint rubs at its own rate. Coulomb friction has none where it is smooth.
    """
    for body in tree.bodies:
        for k, effects in zip(body.v_index, body.effects, strict=False):
            by_q: Scalar = 0.0
            by_v: Scalar = effects.viscous
            if body.kind.single:
                _, out = _beyond_limits(body, _position(body, q), 1.0)
                by_q, by_v = out * effects.stiffness, by_v + out * effects.damping
            yield k, by_q * body.multiplier**2, by_v * body.multiplier**2


def _position(body: Body, q: Sequence[Scalar]) -> Scalar:
    """Position of a joint of one coordinate."""
    return q[body.q_index[0]] * body.multiplier + body.offset


def _beyond_limits(body: Body, position: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
    """How far the joint is beyond its limits, and its rate where it is beyond one, else zero."""
    beyond: Scalar = 0.0
    moving: Scalar = 0.0
    if math.isfinite(body.limits.lower):
        beyond = minimum(position - body.limits.lower, 0.0)
        moving = select_less(position, body.limits.lower, rate, 0.0)
    if math.isfinite(body.limits.upper):
        beyond = beyond + maximum(position - body.limits.upper, 0.0)
        moving = select_less(body.limits.upper, position, rate, moving)
    return beyond, moving

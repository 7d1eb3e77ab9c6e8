"""Joint forces required by friction, springs and dampers, less compensated weight."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..algebra.scalar import Scalar, is_zero, maximum, minimum, select_less, sign
from ..algebra.spatial import ZERO_INERTIA, Inertia, Symmetric
from ..model.tree import Body, Tree
from .gravity_torques import gravity_torques
from .orientation_springs import orientation_spring_forces
from .tendon_forces import tendon_forces


def passive_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]] = MappingProxyType({}),
) -> list[Scalar]:
    """Joint forces required by friction and springs: tau = M a + h + these.

    q: nq [m, rad].  v: nv [m/s, rad/s].  gravity: 3 [m/s²].  Returns nv [N, N·m], in the direction
    of the motion, without external forces.
    For each coordinate of a joint at rate r: viscous friction b r; Coulomb friction f sign(r), 0 at
    rest; a spring k (position - rest), for ball and free joints by `orientation_springs`; beyond a
    limit k (position - limit) + d r. Compensated weight is subtracted.
    """
    lighter = borne_weight(tree)
    tau: list[Scalar] = [0.0] * tree.nv
    if lighter is not None:
        tau = [-x for x in gravity_torques(lighter, q, gravity, {})]
    for body in tree.bodies:
        # A joint that follows another has friction at its own rate, multiplier times that of the
        # coordinate, and the coordinate feels multiplier times the force.
        for k, effects in zip(body.v_index, body.effects, strict=False):
            rate = v[k] * body.multiplier
            force = rate * effects.viscous + sign(rate) * effects.coulomb
            if body.kind.single:
                position = _position(body, q)
                beyond, moving = _beyond_limits(body, position, rate)
                force = force + beyond * effects.stiffness + moving * effects.damping
                force = force + (position - effects.rest) * effects.spring
            tau[k] = tau[k] + force * body.multiplier
    for k, force in (*orientation_spring_forces(tree, q), *tendon_forces(tree, q, v)):
        tau[k] = tau[k] + force
    return tau


def without_passive_forces(tree: Tree) -> Tree:
    """The same bodies and joints without friction and springs, and without compensated weight."""
    bodies = tuple(replace(body, effects=(), borne=()) for body in tree.bodies)
    return replace(tree, bodies=bodies, cables=tuple(c.without_effects() for c in tree.cables))


def borne_weight(tree: Tree) -> Tree | None:
    """The tree of compensated masses alone: each body is replaced by those of its point masses
    whose weight is compensated. None if there are none."""
    if not any(body.borne for body in tree.bodies):
        return None
    bodies: list[Body] = []
    for body in without_passive_forces(tree).bodies:
        parts = tree.bodies[len(bodies)].borne
        masses = (Inertia.at_com(m, c, Symmetric.diagonal(0.0)) for m, c in parts)
        known = sum(masses, ZERO_INERTIA)
        bodies.append(replace(body, known=known, points=(), spreads=(), armature=0.0))
    return replace(tree, bodies=tuple(bodies), cables=())


def dry_friction(tree: Tree) -> dict[int, Scalar]:
    """Coulomb friction by coordinate of v: the largest force with which it holds, and with which it
    slides [N, N·m].

    Joints that follow another add their friction to it, each times its multiplier.
    """
    found: dict[int, Scalar] = {}
    for body in tree.bodies:
        for k, effects in zip(body.v_index, body.effects, strict=False):
            found[k] = found.get(k, 0.0) + effects.coulomb * abs(body.multiplier)
    return {k: x for k, x in found.items() if not is_zero(x)}


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
    """Index of each joint's coordinate, and the derivatives of its `passive_forces` with respect to
    q and v.

    All other derivatives are zero, because a joint's friction depends on its own rate. Where
    Coulomb friction is smooth, its derivative is zero. Derivatives of compensated weight, of
    tendons, and of springs of ball and free joints are separate (`borne_weight`,
    `tendon_force_derivatives`, `orientation_spring_derivatives`).
    """
    for body in tree.bodies:
        for k, effects in zip(body.v_index, body.effects, strict=False):
            by_q: Scalar = 0.0
            by_v: Scalar = effects.viscous
            if body.kind.single:
                _, out = _beyond_limits(body, _position(body, q), 1.0)
                by_q, by_v = out * effects.stiffness, by_v + out * effects.damping
                by_q = by_q + effects.spring
            yield k, by_q * body.multiplier**2, by_v * body.multiplier**2


def _position(body: Body, q: Sequence[Scalar]) -> Scalar:
    return q[body.q_index[0]] * body.multiplier + body.offset


def _beyond_limits(body: Body, position: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
    """Distance of the joint beyond its limits, and its rate if it is beyond one, else zero."""
    beyond: Scalar = 0.0
    moving: Scalar = 0.0
    if math.isfinite(body.limits.lower):
        beyond = minimum(position - body.limits.lower, 0.0)
        moving = select_less(position, body.limits.lower, rate, 0.0)
    if math.isfinite(body.limits.upper):
        beyond = beyond + maximum(position - body.limits.upper, 0.0)
        moving = select_less(body.limits.upper, position, rate, moving)
    return beyond, moving

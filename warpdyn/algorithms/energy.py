"""Kinetic, potential and mechanical energy, and the power of forces that are not part of the
model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO_MOTION, Motion, Vector
from ..model.tree import WORLD, Tree
from .rnea import rnea
from .tendon_forces import tendon_inertia


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy vᵀ M(q) v / 2 [J].

    q: nq [m, rad].  v: nv.  Returns a number.
    The sum of Vᵀ I V / 2 over the bodies (RBDA 2.67) and of armature * rate² / 2 over joints and
    tendons.
    """
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    twice: Scalar = 0.0
    for i, body in enumerate(tree.bodies):
        V[i] = body.placement(q).motion_to_child(V[body.parent]) + body.motion(v)
        twice = twice + V[i].dot(body.inertia @ V[i])
        for k in body.v_index:
            twice = twice + v[k] * v[k] * body.rotor_inertia
    for row, column, x in tendon_inertia(tree):
        twice = twice + v[row] * v[column] * x
    return twice * 0.5


def potential_energy(
    tree: Tree,
    q: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> Scalar:
    """Potential energy -g · m c of the whole robot [J], zero for mass at the world's origin.

    q: nq [m, rad].  gravity: 3 [m/s²].  Returns a number, which does not include external forces.
    First moments h = m c are summed towards the root.
    """
    X = [body.placement(q) for body in tree.bodies]
    mass = {WORLD: tree.ground.mass, **{i: body.inertia.mass for i, body in enumerate(tree.bodies)}}
    h = {WORLD: tree.ground.h, **{i: body.inertia.h for i, body in enumerate(tree.bodies)}}
    for i, body in reversed(list(enumerate(tree.bodies))):
        parent = body.parent
        mass[parent] = mass[parent] + mass[i]
        h[parent] = h[parent] + X[i].R.to_parent(h[i]) + X[i].p * mass[i]
    return -Vector(*gravity).dot(h[WORLD])


def mechanical_energy(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> Scalar:
    """Kinetic and potential energy together [J]."""
    return kinetic_energy(tree, q, v) + potential_energy(tree, q, gravity, f_ext)


def contact_power(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> Scalar:
    """Power of the forces that, in addition to tau and f_ext, explain the motion, v · (ID(q, v, a)
    - tau) [W].

    q: nq [m, rad].  v, a, tau: nv.  gravity: 3 [m/s²].  f_ext: 6 for each link that is named.
    Returns a number. With the equation of motion, ID = tau + Jᵀ f, it is vᵀ Jᵀ f: the sum of the
    powers of all contact forces, each at its point (RBDA 2.4, power as the dot product of a twist
    and a wrench).
    """
    unexplained: Scalar = 0.0
    for rate, moved, given in zip(v, rnea(tree, q, v, a, gravity, f_ext), tau, strict=True):
        unexplained = unexplained + rate * (moved - given)
    return unexplained

"""Kinetic, potential and mechanical energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO_MOTION, Motion, Vector
from ..model.tree import WORLD, Tree


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """vᵀ M(q) v / 2, the sum of Vᵀ I V / 2 over the bodies and of armature * rate² / 2 over the joints (RBDA 2.67)."""
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    twice: Scalar = 0.0
    for i, body in enumerate(tree.bodies):
        V[i] = body.placement(q).motion_to_child(V[body.parent]) + body.motion(v)
        twice = twice + V[i].dot(body.inertia @ V[i])
        for k in body.v_index:
            twice = twice + v[k] * v[k] * (body.armature * body.multiplier**2)
    return twice * 0.5


def potential_energy(
    tree: Tree,
    q: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> Scalar:
    """-g · m c of the whole robot in the world; zero when its centre of mass is at the world's origin.

    First moments are summed towards the root. External forces have no part in it.
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
    """Kinetic and potential energy together."""
    return kinetic_energy(tree, q, v) + potential_energy(tree, q, gravity, f_ext)

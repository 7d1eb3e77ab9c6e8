"""Joint forces that hold the robot still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, ZERO_FORCE, Force, Placement, Vector
from ..model.tree import WORLD, Tree


def gravity_torques(
    tree: Tree,
    q: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint forces that hold the robot still, g(q) - Jᵀ f_ext.

    q: nq [m, rad].  gravity, f_ext: as in `rnea`.  Returns nv [N, N·m].
    The static case of the recursive Newton-Euler algorithm (RBDA table 5.1). The weight of
    everything that a joint carries is that of one body of mass m with first moment h = m c, a
    force m g and a couple h × g. Gravity is rotated outward into body frames, m and h are summed
    inward.
    """
    X: dict[int, Placement] = {}
    down: dict[int, Vector] = {WORLD: Vector(*gravity)}
    mass: dict[int, Scalar] = {WORLD: 0.0}
    h: dict[int, Vector] = {WORLD: ZERO}
    f: dict[int, Force] = {WORLD: ZERO_FORCE}
    outside = tree.on_bodies(f_ext)
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        down[i] = X[i].R.to_child(down[body.parent])
        f[i] = ZERO_FORCE - outside[i]
        mass[i], h[i] = body.inertia.mass, body.inertia.h

    tau: list[Scalar] = [0.0] * tree.nv
    for i, body in reversed(list(enumerate(tree.bodies))):
        weight = Force(down[i] * mass[i], h[i].cross(down[i]))
        for k, S in body.subspace:
            tau[k] = tau[k] + S.dot(f[i] - weight)
        parent = body.parent
        mass[parent] = mass[parent] + mass[i]
        h[parent] = h[parent] + X[i].R.to_parent(h[i]) + X[i].p * mass[i]
        f[parent] = f[parent] + X[i].force_to_parent(f[i])
    return tau

"""Inverse dynamics: the recursive Newton-Euler algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..scalar import Scalar
from ..spatial import ZERO, ZERO_MOTION, Force, Motion, Placement, Vector
from ..tree import WORLD, Tree


def rnea(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint forces that produce the accelerations `a`: tau = M(q) a + C(q, v) v + g(q) - Jᵀ f_ext.

    Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1; gravity enters as an upward acceleration of the world.
    """
    X: dict[int, Placement] = {}
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    A: dict[int, Motion] = {WORLD: Motion(-Vector(*gravity), ZERO)}
    f: dict[int, Force] = {WORLD: Force(ZERO, ZERO)}
    outside = tree.on_bodies(f_ext)
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        vJ, aJ = body.motion(v), body.motion(a)
        V[i] = X[i].motion_to_child(V[body.parent]) + vJ
        A[i] = X[i].motion_to_child(A[body.parent]) + aJ + V[i].cross(vJ)
        f[i] = body.inertia.rate_of_momentum(V[i], A[i]) - outside[i]

    tau: list[Scalar] = [0.0] * tree.nv
    for i, body in reversed(list(enumerate(tree.bodies))):
        for k, S in body.subspace:
            tau[k] = tau[k] + S.dot(f[i])
            tau[k] = tau[k] + a[k] * (body.armature * body.multiplier**2)
        f[body.parent] = f[body.parent] + X[i].force_to_parent(f[i])
    return tau

"""Inverse dynamics: the recursive Newton-Euler algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.point_motion import PointMotion
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO_FORCE, Force, Placement, Vector
from ..model.tree import WORLD, Tree
from .free_rotors import free_rotors
from .passive_forces import passive_forces
from .tendon_forces import tendon_inertia


def rnea(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint forces that produce the accelerations `a`.

    tau = M(q) a + C(q, v) v + g(q) - Jᵀ f_ext + passive forces.
    q: nq [m, rad].  v, a: nv [m/s, rad/s; m/s², rad/s²].  gravity: 3 [m/s²].  f_ext: 6 for each
    link that is named [N, N·m].  Returns tau: nv [N, N·m].
    Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1, in the form of Luh, Walker and
    Paul (1980): instead of v_i and a_i it carries the acceleration field of a body's points, in
    which linear velocities cancel. That saves a sixth of the operations.
    """
    X: dict[int, Placement] = {}
    # Gravity acts as an upward acceleration of the world, so that no body needs its weight.
    motion: dict[int, PointMotion] = {WORLD: PointMotion.without_rotation(-Vector(*gravity))}
    f: dict[int, Force] = {WORLD: ZERO_FORCE}
    outside = tree.on_bodies(f_ext)
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        motion[i] = motion[body.parent].across(X[i], body.motion(v), body.motion(a))
        f[i] = body.rate_of_momentum(motion[i]) - outside[i]

    tau = passive_forces(tree, q, v, gravity)
    for row, column, x in tendon_inertia(tree):
        tau[row] = tau[row] + a[column] * x
    for k, force in free_rotors(tree, v):
        tau[k] = tau[k] + force
    for i, body in reversed(list(enumerate(tree.bodies))):
        for k, S in body.subspace:
            tau[k] = tau[k] + S.dot(f[i]) + a[k] * body.rotor_inertia
        f[body.parent] = f[body.parent] + X[i].force_to_parent(f[i])
    return tau

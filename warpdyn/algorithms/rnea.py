"""Inverse dynamics: the recursive Newton-Euler algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, ZERO_FORCE, Force, Matrix, Placement, Vector
from ..model.tree import WORLD, Tree
from .passive_forces import effect_torques


def rnea(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint forces that produce the accelerations `a`: tau = M(q) a + C(q, v) v + g(q) - Jᵀ f_ext + joint effects.

    Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1, with the accelerations of points instead of spatial
    ones, as in Luh, Walker and Paul (1980): the linear velocities drop out, a sixth of the operations. Gravity enters
    as an upward acceleration of the world.
    """
    X: dict[int, Placement] = {}
    w: dict[int, Vector] = {WORLD: ZERO}  # angular velocity
    dw: dict[int, Vector] = {WORLD: ZERO}  # angular acceleration
    W: dict[int, Matrix] = {
        WORLD: Matrix.cross(ZERO)
    }  # acceleration of a point x of the body: acc + W x
    acc: dict[int, Vector] = {WORLD: -Vector(*gravity)}  # of the body frame's origin
    f: dict[int, Force] = {WORLD: ZERO_FORCE}
    outside = tree.on_bodies(f_ext)
    for i, body in enumerate(tree.bodies):
        X[i], parent = body.placement(q), body.parent
        vJ, aJ = body.motion(v), body.motion(a)
        w_parent = X[i].R.to_child(w[parent])
        w[i] = w_parent + vJ.angular
        dw[i] = X[i].R.to_child(dw[parent]) + aJ.angular + w_parent.cross(vJ.angular)
        W[i] = Matrix.acceleration_tensor(w[i], dw[i])
        acc[i] = (
            X[i].R.to_child(acc[parent] + W[parent] @ X[i].p)
            + aJ.linear
            + (w_parent + w[i]).cross(vJ.linear)
        )
        f[i] = body.rate_of_momentum(acc[i], w[i], dw[i]) - outside[i]

    tau = effect_torques(tree, q, v)
    for i, body in reversed(list(enumerate(tree.bodies))):
        for k, S in body.subspace:
            tau[k] = tau[k] + S.dot(f[i]) + a[k] * (body.armature * body.multiplier**2)
        f[body.parent] = f[body.parent] + X[i].force_to_parent(f[i])
    return tau

"""Rates of the momentum about the centre of mass: the derivative of its matrix, and its own rate.

`root` as in `momentum`; axes are the world's.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.moving_inertia import second_moment_rate
from ..algebra.point_motion import PointMotion
from ..algebra.scalar import Scalar
from ..algebra.spatial import (
    HERE,
    IDENTITY,
    ZERO,
    ZERO_FORCE,
    ZERO_INERTIA,
    Force,
    Inertia,
    Motion,
    Placement,
    Symmetric,
)
from ..model.tree import WORLD, Tree
from .composite_inertia import about_com, composites, root_axes


def inertia_rate(inertia: Inertia, m: Motion) -> Inertia:
    """Rate of an inertia that moves with the motion `m`, seen from a frame at rest: m ×* I - I m ×.

    RBDA section 2.13. That rate has no mass; its first moment is that of momentum, h' = m v + ω ×
    h.
    """
    v, w, h = m.linear, m.angular, inertia.h
    return Inertia(0.0, v * inertia.mass + w.cross(h), second_moment_rate(inertia, m))


def centroidal_momentum_matrix_derivative(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], root: str
) -> list[list[Scalar]]:
    """Derivative dA/dt along the motion v, so that A a + dA/dt v is the rate of the momentum.

    q: nq [m, rad].  v: nv.  Returns 6 by nv.
    In the frame of body i, whose motion subspace is constant there, column k of A is I S. Let I' be
    the rate of the composite inertia in the frame of body i (the bodies beyond it move relative to
    it) and V the velocity of body i relative to the centre of mass: then the column changes by I' S
    + V ×* I S. Wensing and Orin, Improved computation of the humanoid centroidal dynamics and
    application for whole-body control, Int. J. Humanoid Robotics 13 (2016).
    """
    base = tree.frames[root].body
    X, inertia = composites(tree, q, base)
    vJ = [body.motion(v) for body in tree.bodies]
    rate = dict.fromkeys(inertia, ZERO_INERTIA)
    for i, body in reversed(list(enumerate(tree.bodies))):
        if i != base:
            moved = X[i].inertia_to_parent(rate[i] + inertia_rate(inertia[i], vJ[i]))
            rate[body.parent] = rate[body.parent] + moved

    # The root link about the centre of mass: c moves in it by c', I' is that of J - m c × c ×.
    c, whole = about_com(inertia[base])
    dh = rate[base].h
    dc = dh * (1.0 / whole.mass)
    dJ = rate[base].J - Symmetric.diagonal(2.0 * dh.dot(c)) + Symmetric.product(dh, c)
    whole_rate = Inertia(0.0, ZERO, dJ)
    w = vJ[base].angular if base != WORLD else ZERO
    R = root_axes(tree, q, base, "world")
    dA: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]

    def add(k: int, change: Force) -> None:
        for row, entry in enumerate(change):
            dA[row][k] = dA[row][k] + entry

    for k, S in tree.bodies[base].subspace if base != WORLD else ():
        at_com = Motion(S.linear + S.angular.cross(c), S.angular)
        change = whole @ Motion(S.angular.cross(dc), ZERO) + whole_rate @ at_com
        change = change + Motion(ZERO, w).cross_force(whole @ at_com)
        add(k, Placement(R, ZERO).force_to_parent(change))

    # Velocities are relative to the centre of mass, about which A is taken: the motion of the robot
    # as a whole cancels, and no digits are lost to it.
    V = {base: Motion(-(w.cross(c) + dc), w)}
    Y = {base: Placement(R, -R.to_parent(c))}
    for i, body in enumerate(tree.bodies):
        if i != base:
            V[i] = X[i].motion_to_child(V[body.parent]) + vJ[i]
            Y[i] = Y[body.parent].compose(X[i]).as_matrix()
            for k, S in body.subspace:
                change = rate[i] @ S + V[i].cross_force(inertia[i] @ S)
                add(k, Y[i].force_to_parent(change))
    return dA


def centroidal_momentum_rate(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], root: str
) -> list[Scalar]:
    """Rate of the centroidal momentum, A a + dA/dt v.

    The sum of the forces that act on the robot and of their moments about its centre of mass.

    q: nq [m, rad].  v, a: nv.  Returns 6 [N, N·m], in the world's axes.
    The forward pass of the recursive Newton-Euler algorithm (RBDA table 5.1, as in `rnea`) without
    gravity, its forces gathered at the root link.
    """
    base = tree.frames[root].body
    X, inertia = composites(tree, q, base)
    motion: dict[int, PointMotion] = {WORLD: PointMotion.without_rotation()}
    f: dict[int, Force] = {WORLD: ZERO_FORCE}
    for i, body in enumerate(tree.bodies):
        # The root link's pose in the world does not matter, so that its frame can stand for the
        # world.
        X_parent = HERE if i == base else X[i]
        motion[i] = motion[body.parent].across(X_parent, body.motion(v), body.motion(a))
        f[i] = body.rate_of_momentum(motion[i])
    for i, body in reversed(list(enumerate(tree.bodies))):
        if i != base:
            f[body.parent] = f[body.parent] + X[i].force_to_parent(f[i])
    c, _ = about_com(inertia[base])
    R = root_axes(tree, q, base, "world")
    return list(Placement(R, ZERO).force_to_parent(Placement(IDENTITY, c).force_to_child(f[base])))

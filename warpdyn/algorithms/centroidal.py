"""How momentum about the centre of mass changes: the derivative of its matrix, and its rate.

`root` as in `momentum`; axes are the world's.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import (
    IDENTITY,
    ZERO,
    ZERO_FORCE,
    ZERO_INERTIA,
    Force,
    Inertia,
    Matrix,
    Motion,
    Placement,
    Symmetric,
    Vector,
)
from ..model.tree import WORLD, Tree
from .momentum import about_com, composites, turned


def carried(inertia: Inertia, m: Motion) -> Inertia:
    """The rate, seen from a frame at rest, of the inertia of what moves by `m`: m ×* I - I m × (RBDA section 2.13).

    That rate has no mass; its first moment is that of momentum, h' = m v + ω × h, and J' = 2 (h·v) 1 - (h vᵀ + v hᵀ) +
    [ω]× J - J [ω]×.
    """
    v, w, h = m.linear, m.angular, inertia.h
    columns = [w.cross(column) for column in inertia.J.rows]  # of [ω]× J, and J [ω]× = -([ω]× J)ᵀ
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = columns
    turning = Symmetric(xx + xx, xy + yx, xz + zx, yy + yy, yz + zy, zz + zz)
    moving = Symmetric.diagonal(2.0 * h.dot(v)) - Symmetric.product(h, v)
    return Inertia(0.0, v * inertia.mass + w.cross(h), turning + moving)


def centroidal_momentum_matrix_derivative(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], root: str
) -> list[list[Scalar]]:
    """dA/dt, 6 by nv, along the motion v, so that A a + dA/dt v is the rate of centroidal momentum.

    In the frame of body i, whose motion subspace is constant there, column k of A is I S; with I' the rate of the
    composite inertia as body i sees it (what is beyond moves against it) and V the velocity of body i against the
    centre of mass, the column changes by I' S + V ×* I S. Wensing and Orin, Improved computation of the humanoid
    centroidal dynamics and application for whole-body control, Int. J. Humanoid Robotics 13 (2016).
    """
    base = tree.frames[root].body
    X, inertia = composites(tree, q, base)
    vJ = [body.motion(v) for body in tree.bodies]
    rate = dict.fromkeys(inertia, ZERO_INERTIA)
    for i, body in reversed(list(enumerate(tree.bodies))):
        if i != base:
            moved = X[i].inertia_to_parent(rate[i] + carried(inertia[i], vJ[i]))
            rate[body.parent] = rate[body.parent] + moved

    # The root link, about the centre of mass: c moves in it by c', and its own I' is that of J - m c × c ×.
    c, whole = about_com(inertia[base])
    dh = rate[base].h
    dc = dh * (1.0 / whole.mass)
    dJ = rate[base].J - Symmetric.diagonal(2.0 * dh.dot(c)) + Symmetric.product(dh, c)
    whole_rate = Inertia(0.0, ZERO, dJ)
    w = vJ[base].angular if base != WORLD else ZERO
    R = turned(tree, q, base, "world")
    dA: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]

    def add(k: int, change: Force) -> None:
        for row, entry in enumerate(change):
            dA[row][k] = dA[row][k] + entry

    for k, S in tree.bodies[base].subspace if base != WORLD else ():
        at_com = Motion(S.linear + S.angular.cross(c), S.angular)
        change = whole @ Motion(S.angular.cross(dc), ZERO) + whole_rate @ at_com
        change = change + Motion(ZERO, w).cross_force(whole @ at_com)
        add(k, Placement(R, ZERO).force_to_parent(change))

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
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    root: str,
) -> list[Scalar]:
    """A a + dA/dt v: the sum of the forces, and of their moments about the centre of mass, that act on the robot.

    The forward pass of the recursive Newton-Euler algorithm (RBDA table 5.1, with accelerations of points) without
    gravity, its forces gathered at the root link.
    """
    base = tree.frames[root].body
    X, inertia = composites(tree, q, base)
    w: dict[int, Vector] = {WORLD: ZERO}
    dw: dict[int, Vector] = {WORLD: ZERO}
    W: dict[int, Matrix] = {WORLD: Matrix.cross(ZERO)}
    acc: dict[int, Vector] = {WORLD: ZERO}
    f: dict[int, Force] = {WORLD: ZERO_FORCE}
    for i, body in enumerate(tree.bodies):
        parent, vJ, aJ = body.parent, body.motion(v), body.motion(a)
        place = Placement(IDENTITY, ZERO) if i == base else X[i]
        w_parent = place.R.to_child(w[parent])
        w[i] = w_parent + vJ.angular
        dw[i] = place.R.to_child(dw[parent]) + aJ.angular + w_parent.cross(vJ.angular)
        W[i] = Matrix.acceleration_tensor(w[i], dw[i])
        acc[i] = (
            place.R.to_child(acc[parent] + W[parent] @ place.p)
            + aJ.linear
            + (w_parent + w[i]).cross(vJ.linear)
        )
        f[i] = body.rate_of_momentum(acc[i], w[i], dw[i])
    for i, body in reversed(list(enumerate(tree.bodies))):
        if i != base:
            f[body.parent] = f[body.parent] + X[i].force_to_parent(f[i])
    c, _ = about_com(inertia[base])
    R = turned(tree, q, base, "world")
    return list(Placement(R, ZERO).force_to_parent(Placement(IDENTITY, c).force_to_child(f[base])))

"""Momentum of the robot, its Jacobian, locked inertia and average velocity.

Each is a force or a motion at a `point` ("base", the root link's origin; "world", the world's;
"com", the centre of mass) in `axes` ("base", the root link's; "world"). Sums are gathered in the
frame of the root link `root`; links that are fixed to the world (`tree.ground`) have mass but no
velocity.

Only momentum about the world's origin depends on the position of a free robot. Everything else is
computed relative to its root link, so that no digits are lost far from the origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.linear import solve_symmetric
from ..algebra.scalar import Scalar
from ..algebra.spatial import (
    IDENTITY,
    ZERO,
    ZERO_FORCE,
    ZERO_MOTION,
    Force,
    Inertia,
    Matrix,
    Motion,
    Placement,
    Vector,
)
from ..model.tree import WORLD, Tree
from .composite_inertia import about_com, composites, composites_near_com, root_axes


def composites_for_point(
    tree: Tree, q: Sequence[Scalar], base: int, point: str
) -> tuple[dict[int, Vector], dict[int, Placement], dict[int, Inertia]]:
    """Reference points of bodies, their placements and the composite inertias about them, chosen so
    that no digits are lost in a result about `point`."""
    if point == "com":
        return composites_near_com(tree, q, base)
    X, inertia = composites(tree, q, base)
    return dict.fromkeys(inertia, ZERO), X, inertia


def about_point(
    tree: Tree, q: Sequence[Scalar], base: int, whole: Inertia, point: str, axes: str
) -> tuple[Vector, Inertia, Placement]:
    """A point relative to that of the root link, and the inertia of the robot about it.

    The third result is the placement of the point with the root link's axes, in the frame of
    `point` and `axes`.
    """
    R = root_axes(tree, q, base, axes)
    if point == "com":
        return *about_com(whole), Placement(R, ZERO)
    there = tree.bodies[base].placement(q).p if base != WORLD and point == "world" else ZERO
    return ZERO, whole, Placement(R, there)


def momentum_jacobian(
    tree: Tree, q: Sequence[Scalar], root: str, point: str, axes: str
) -> list[list[Scalar]]:
    """Matrix A(q), 6 by nv, with A v the momentum of the robot.

    At the centre of mass it is the centroidal momentum matrix.
    Column k is the momentum of everything that joint k carries when it alone moves at unit rate:
    composite inertia times motion subspace, moved to the point. Orin, Goswami and Lee, Centroidal
    dynamics of a humanoid robot, Autonomous Robots 35 (2013), with composite inertias (Wensing and
    Orin 2016).
    """
    base = tree.frames[root].body
    r, X, inertia = composites_for_point(tree, q, base, point)
    at, whole, out = about_point(tree, q, base, inertia[base], point, axes)
    A: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]

    def add(k: int, momentum: Force) -> None:
        for row, entry in enumerate(momentum):
            A[row][k] = A[row][k] + entry

    # The root link carries everything, so its columns use the whole inertia, already about the
    # point: at the centre of mass a push without rotation then has exactly no moment.
    for k, S in tree.bodies[base].subspace if base != WORLD else ():
        add(k, out.force_to_parent(whole @ Placement(IDENTITY, r[base] + at).motion_to_child(S)))
    Y = {base: out.compose(Placement(IDENTITY, -at)).as_matrix()}
    for i, body in enumerate(tree.bodies):
        if i != base:
            Y[i] = Y[body.parent].compose(X[i]).as_matrix()
            for k, S in body.subspace:
                moved = Placement(IDENTITY, r[i]).motion_to_child(S)
                add(k, Y[i].force_to_parent(inertia[i] @ moved))
    return A


def momentum(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], root: str, point: str, axes: str
) -> list[Scalar]:
    """Momentum of the robot, 6: linear [kg·m/s], then angular [kg·m²/s].

    The sum of I_i v_i over its bodies, gathered from the leaves; Featherstone, Rigid Body Dynamics
    Algorithms (2008), section 2.13.
    """
    base = tree.frames[root].body
    r, X, inertia = composites_for_point(tree, q, base, point)
    at, _, out = about_point(tree, q, base, inertia[base], point, axes)
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    h: dict[int, Force] = {WORLD: ZERO_FORCE}
    for i, body in enumerate(tree.bodies):
        vJ = Placement(IDENTITY, r[i]).motion_to_child(body.motion(v))
        V[i] = vJ if i == base else X[i].motion_to_child(V[body.parent]) + vJ
        h[i] = Placement(IDENTITY, -r[i]).inertia_to_parent(body.inertia) @ V[i]
    for i, body in reversed(list(enumerate(tree.bodies))):
        if i != base:
            h[body.parent] = h[body.parent] + X[i].force_to_parent(h[i])
    return list(out.force_to_parent(Placement(IDENTITY, at).force_to_child(h[base])))


def locked_inertia(
    tree: Tree, q: Sequence[Scalar], root: str, point: str, axes: str
) -> list[list[Scalar]]:
    """Inertia of the robot with its joints locked, 6 by 6.

    The sum of its links' inertias, moved to the point.
    Featherstone, Rigid Body Dynamics Algorithms (2008), 2.66 and the composite inertia of 6.2.
    """
    base = tree.frames[root].body
    _, _, inertia = composites_for_point(tree, q, base, point)
    _, whole, out = about_point(tree, q, base, inertia[base], point, axes)
    moved = out.inertia_to_parent(whole)
    m, hx = moved.mass, Matrix.cross(moved.h).rows
    upper = [
        [*(m * float(i == j) for j in range(3)), *(-x for x in row)] for i, row in enumerate(hx)
    ]
    return upper + [[*row, *moment] for row, moment in zip(hx, moved.J.rows, strict=True)]


def average(
    tree: Tree,
    q: Sequence[Scalar],
    columns: Sequence[Sequence[Scalar]],
    root: str,
    point: str,
    axes: str,
) -> list[list[Scalar]]:
    """Velocities at the point for which a rigid body with the robot's inertia has these momenta.

    `columns`: momenta about the centre of mass, in `axes`.
    """
    base = tree.frames[root].body
    r, _, inertia = composites_for_point(tree, q, base, "com")
    c, whole = about_com(inertia[base])
    _, _, out = about_point(tree, q, base, inertia[base], point, axes)
    J = [list(row) for row in out.R.symmetric_to_parent(whole.J).rows]
    com = ZERO if point == "com" else out.point_to_parent(r[base] + c)
    velocities = []
    for fx, fy, fz, *n in columns:
        w = Vector(*solve_symmetric(J, n))
        linear = Vector(fx, fy, fz) * (1.0 / whole.mass)
        velocities.append(list(Placement(IDENTITY, com).motion_to_parent(Motion(linear, w))))
    return velocities


def average_velocity(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], root: str, point: str, axes: str
) -> list[Scalar]:
    """Average velocity of the robot, 6 [m/s, rad/s].

    The robot with locked joints, moving at this velocity, would have the same momentum.
    Orin, Goswami and Lee (2013): inverse of the locked inertia times momentum.
    """
    h = momentum(tree, q, v, root, "com", axes)
    return average(tree, q, [h], root, point, axes)[0]


def average_velocity_jacobian(
    tree: Tree, q: Sequence[Scalar], root: str, point: str, axes: str
) -> list[list[Scalar]]:
    """Matrix J(q), 6 by nv, with J v the average velocity (Orin, Goswami and Lee 2013)."""
    columns = list(zip(*momentum_jacobian(tree, q, root, "com", axes), strict=True))
    moved = average(tree, q, columns, root, point, axes)
    return [list(row) for row in zip(*moved, strict=True)] if moved else [[] for _ in range(6)]

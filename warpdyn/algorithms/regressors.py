"""Joint forces and energies as linear functions of the links' inertial parameters.

The ten parameters of a link are m, m c (3), and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the link's own frame,
in its axes; columns stand in the order of the names `links`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, ZERO_MOTION, Force, Matrix, Motion, Vector
from ..model.tree import WORLD, Tree

UNITS = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))
PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Entries of the second moment, in the order of the parameters."""


def moment_about(u: Vector, i: int, j: int) -> Vector:
    """J u for the symmetric J that is zero but for J_ij = J_ji = 1."""
    e = tuple(u)
    return UNITS[i] * e[j] if i == j else UNITS[i] * e[j] + UNITS[j] * e[i]


def wrenches(a: Vector, w: Vector, dw: Vector) -> list[Force]:
    """The force on a link for each of its parameters: f = m a + W h, n = h × a + J ω' + ω × J ω.

    `a` is the acceleration of the link's origin less gravity, W = [ω']× + [ω]× [ω]×. Atkeson, An and Hollerbach,
    Estimation of inertial parameters of manipulator loads and links, Int. J. Robotics Research 5 (1986).
    """
    W = Matrix.acceleration_tensor(w, dw).T.rows
    first = [Force(W[k], UNITS[k].cross(a)) for k in range(3)]
    second = [
        Force(ZERO, moment_about(dw, i, j) + w.cross(moment_about(w, i, j))) for i, j in PAIRS
    ]
    return [Force(a, ZERO), *first, *second]


def joint_torque_regressor(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    links: Sequence[str],
) -> list[list[Scalar]]:
    """Y(q, v, a), nv by 10 nlinks, with tau = Y pi.

    Motion subspaces of the joints on a link's path, moved to the link, dotted with the link's wrenches. External forces
    have no part in it.
    """
    J: dict[int, list[tuple[int, Motion]]] = {WORLD: []}
    w: dict[int, Vector] = {WORLD: ZERO}
    dw: dict[int, Vector] = {WORLD: ZERO}
    W: dict[int, Matrix] = {WORLD: Matrix.cross(ZERO)}
    acc: dict[int, Vector] = {WORLD: -Vector(*gravity)}
    for i, body in enumerate(tree.bodies):
        X, parent, vJ, aJ = body.placement(q), body.parent, body.motion(v), body.motion(a)
        w_parent = X.R.to_child(w[parent])
        w[i] = w_parent + vJ.angular
        dw[i] = X.R.to_child(dw[parent]) + aJ.angular + w_parent.cross(vJ.angular)
        W[i] = Matrix.acceleration_tensor(w[i], dw[i])
        acc[i] = (
            X.R.to_child(acc[parent] + W[parent] @ X.p)
            + aJ.linear
            + (w_parent + w[i]).cross(vJ.linear)
        )
        J[i] = [(k, X.motion_to_child(S)) for k, S in J[parent]] + body.subspace

    Y: list[list[Scalar]] = [[0.0] * (10 * len(links)) for _ in range(tree.nv)]
    for n, link in enumerate(links):
        i, X = tree.frames[link].body, tree.frames[link].placement
        if i == WORLD:
            continue
        to_link = X.R.to_child
        columns = wrenches(to_link(acc[i] + W[i] @ X.p), to_link(w[i]), to_link(dw[i]))
        for k, S in J[i]:
            moved = X.motion_to_child(S)
            for p, wrench in enumerate(columns):
                Y[k][10 * n + p] = Y[k][10 * n + p] + moved.dot(wrench)
    return Y


def kinetic_energy_regressor(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], links: Sequence[str]
) -> list[Scalar]:
    """The row K(q, v) with kinetic energy K pi: m v·v / 2 + h · (v × ω) + ω·J ω / 2, link by link."""
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    for i, body in enumerate(tree.bodies):
        V[i] = body.placement(q).motion_to_child(V[body.parent]) + body.motion(v)
    row: list[Scalar] = []
    for link in links:
        frame = tree.frames[link]
        velocity = frame.placement.motion_to_child(V[frame.body])
        u, w = velocity.linear, velocity.angular
        e = tuple(w)
        row += [
            0.5 * u.dot(u),
            *u.cross(w),
            *(e[i] * e[j] * (0.5 if i == j else 1.0) for i, j in PAIRS),
        ]
    return row


def potential_energy_regressor(
    tree: Tree,
    q: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    links: Sequence[str],
) -> list[Scalar]:
    """The row U(q) with potential energy U pi: -g · (m p + R h), link by link, gravity turned into their axes.

    Zero at the world's origin; links that are fixed to the world have a part in it, external forces have not.
    """
    down: dict[int, Vector] = {WORLD: Vector(*gravity)}
    energy: dict[int, Scalar] = {WORLD: 0.0}  # of one kilogram at the body's origin
    for i, body in enumerate(tree.bodies):
        X, parent = body.placement(q), body.parent
        down[i] = X.R.to_child(down[parent])
        energy[i] = energy[parent] - down[parent].dot(X.p)
    row: list[Scalar] = []
    for link in links:
        i, X = tree.frames[link].body, tree.frames[link].placement
        row += [energy[i] - down[i].dot(X.p), *(-X.R.to_child(down[i])), *[0.0] * 6]
    return row

"""Joint forces and energies as linear functions of the links' inertial parameters.

The ten parameters of a link are m, m c (3), and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of
the link's frame, in its axes; columns stand in the order of the names `links`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.point_motion import PointMotion
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, ZERO_MOTION, Force, Motion, Vector
from ..model.tree import WORLD, Tree

UNITS = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))
PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Entries of the second moment, in the order of the parameters."""


def moment_about(u: Vector, i: int, j: int) -> Vector:
    """J u for the symmetric J whose entries are zero except for J_ij = J_ji = 1."""
    e = tuple(u)
    return UNITS[i] * e[j] if i == j else UNITS[i] * e[j] + UNITS[j] * e[i]


def wrenches(link: PointMotion) -> list[Force]:
    """Force on a link for each of its parameters: f = m a + W h, n = h × a + J ω' + ω × J ω.

    a is the acceleration of the link's origin less gravity. Atkeson, An and Hollerbach, Estimation
    of inertial parameters of manipulator loads and links, Int. J. Robotics Research 5 (1986).
    """
    a, w, dw, W = link.acc, link.w, link.dw, link.W.T.rows
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
    """Matrix Y(q, v, a) with joint forces tau = Y pi, without external forces.

    q: nq [m, rad].  v, a: nv.  Returns nv by 10 nlinks.
    Motion subspaces of the joints on a link's path, moved to the link, dotted with the link's
    wrenches, which come from the forward pass of `rnea` (RBDA table 5.1).
    """
    J: dict[int, list[tuple[int, Motion]]] = {WORLD: []}
    motion: dict[int, PointMotion] = {WORLD: PointMotion.without_rotation(-Vector(*gravity))}
    for i, body in enumerate(tree.bodies):
        X = body.placement(q)
        motion[i] = motion[body.parent].across(X, body.motion(v), body.motion(a))
        J[i] = [(k, X.motion_to_child(S)) for k, S in J[body.parent]] + body.subspace

    Y: list[list[Scalar]] = [[0.0] * (10 * len(links)) for _ in range(tree.nv)]
    for n, link in enumerate(links):
        i, X = tree.frames[link].body, tree.frames[link].placement
        if i == WORLD:
            continue
        columns = wrenches(motion[i].across(X))
        for k, S in J[i]:
            moved = X.motion_to_child(S)
            for p, wrench in enumerate(columns):
                Y[k][10 * n + p] = Y[k][10 * n + p] + moved.dot(wrench)
    return Y


def kinetic_energy_regressor(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], links: Sequence[str]
) -> list[Scalar]:
    """Row K(q, v) with kinetic energy K pi: m v·v / 2 + h · (v × ω) + ω·J ω / 2, link by link.

    q: nq [m, rad].  v: nv.  Returns 10 nlinks.
    Siciliano et al., Robotics: Modelling, Planning and Control (2009), section 7.2.2.
    """
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
    """Row U(q) with potential energy U pi: -g · (m p + R h), link by link, gravity in their axes.

    q: nq [m, rad].  Returns 10 nlinks.
    Zero at the world's origin. Links that are fixed to the world are included, external forces
    are not.  Siciliano et al. (2009), section 7.2.2.
    """
    down: dict[int, Vector] = {WORLD: Vector(*gravity)}
    energy: dict[int, Scalar] = {WORLD: 0.0}  # energy of one kilogram at the body's origin
    for i, body in enumerate(tree.bodies):
        X, parent = body.placement(q), body.parent
        down[i] = X.R.to_child(down[parent])
        energy[i] = energy[parent] - down[parent].dot(X.p)
    row: list[Scalar] = []
    for link in links:
        i, X = tree.frames[link].body, tree.frames[link].placement
        row += [energy[i] - down[i].dot(X.p), *(-X.R.to_child(down[i])), *[0.0] * 6]
    return row

"""The product of exponentials of a chain: home pose, screw axes and link inertias.

    pose(q) = exp([S_1] q_1) … exp([S_n] q_n) M = M exp([B_1] q_1) … exp([B_n] q_n)

**Angular part first**, as in Lynch and Park, Modern Robotics (2017), sections 4.1 and 8.3.
Everywhere else warpdyn has the linear part first. Poses are in the frame of `base`, which is the
world frame for a robot with a fixed base.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..algebra.scalar import Scalar, as_number
from ..algebra.spatial import HERE, Motion, Placement, Vector
from ..model import Model
from ..model.lumping import build_tree
from ..model.model import check_model
from ..model.tree import WORLD, Body, Tree


@dataclass(frozen=True, eq=False)
class Screws:
    """A chain of n joint coordinates from `base` to `frame`, those that move the frame, from the
    base outwards."""

    frame: str
    base: str
    columns: tuple[int, ...]
    """Column of q for each coordinate. A column appears twice if a mimic joint that follows it
    moves the frame too."""
    names: tuple[str, ...]
    """Name of the joint coordinate for each column (from `model.q_names`)."""
    home: np.ndarray
    """M: (4, 4) pose of the frame at q = 0 (mimic joints at their offset)."""
    space: np.ndarray
    """S: (6, n), columns [ω, v] in the base's frame at q = 0 [-, m] (prismatic: [0, axis])."""
    body: np.ndarray
    """B: (6, n), the same screws in the frame's own axes, about its origin."""
    inertias: np.ndarray
    """G: (n, 6, 6), inertias of the links that each joint carries rigidly, diag(J about their
    centre of mass, m 1) [kg·m², kg], in the axes of the joint's child link."""
    com_homes: np.ndarray
    """(n, 4, 4) poses at q = 0 of the frames of `inertias`: at the centre of mass, in the axes of
    the child link."""


def screws(model: Model, frame: str, base: str | None = None) -> Screws:
    """Home matrix, space and body screws and link inertias of the chain from link `base` (the root)
    to link `frame`.

    Lynch and Park, Modern Robotics, 4.1 (space form), 4.2 (body form), 8.3 (inertias); ManipulaPy's
    M, Slist, Blist, Glist. A joint with several coordinates along or about fixed axes gives as many
    columns; only the last of them carries the joint's inertia, and the others have none. A joint
    with a quaternion has no screws and raises an error.
    Screws take the rates dq/dt. They are v except for a planar joint, whose v has the axes of the
    child: `configuration_rate`. Forces along q and along v differ in the same way.
    Returns float64 NumPy arrays.
    """
    check_model(model)
    base = model.root if base is None else base
    model.link_indices([frame, base])
    tree = build_tree(model)
    start, end = tree.frames[base], tree.frames[frame]
    path = _path(tree, start.body, end.body)
    if path is None:
        raise ValueError(
            f'link "{base}" does not carry link "{frame}"; base must be on the way from the root to frame'
        )
    for i in path:
        body = tree.bodies[i]
        if body.kind.nq != body.kind.nv:
            raise ValueError(
                f'joint "{body.joint}" has {body.kind.nq} coordinates for {body.kind.nv} velocities and so no screws; '
                f"give base= a link beyond it"
            )
    # Walk along the chain at q = 0. X is the pose of the current body in the base's frame.
    at: list[Scalar] = [0.0] * tree.nq
    X = start.placement.inverse()
    columns: list[int] = []
    space: list[Motion] = []
    inertias, com_homes = [], []
    for i in path:
        body = tree.bodies[i]
        X = X.compose(body.placement(at)).as_matrix()
        G, com = _at_com(body, X, tree, model)
        for k, (_, S) in zip(body.q_index, body.subspace, strict=True):
            columns.append(k)
            space.append(X.motion_to_parent(S))
            inertias.append(G if k == body.q_index[-1] else np.zeros((6, 6)))
            com_homes.append(com)
    M = X.compose(end.placement).as_matrix()
    n = len(columns)
    return Screws(
        frame,
        base,
        tuple(columns),
        tuple(model.q_names[k] for k in columns),
        _matrix(M),
        np.array([_angular_first(S) for S in space]).reshape(n, 6).T,
        np.array([_angular_first(M.motion_to_child(S)) for S in space]).reshape(n, 6).T,
        np.array(inertias).reshape(n, 6, 6),
        np.array(com_homes).reshape(n, 4, 4),
    )


def screw_axes(axes: ArrayLike, points: ArrayLike) -> np.ndarray:
    """Space screws of revolute axes: S_i = [ω_i, -ω_i × p_i], to build a `Screws.space` by hand.

    axes: (n, 3) directions ω, of any length.  points: (n, 3), a point p on each axis [m].  Returns
    (6, n), with ω of length 1.
    Lynch and Park, Modern Robotics, 3.3.2.2; ManipulaPy's w_p_to_slist.
    """
    w, p = np.asarray(axes, dtype=float), np.asarray(points, dtype=float)
    if w.ndim != 2 or w.shape[-1] != 3 or p.shape != w.shape:
        raise ValueError(f"axes and points must both be (n, 3), got {w.shape} and {p.shape}")
    lengths = np.linalg.norm(w, axis=1, keepdims=True)
    if not ((lengths > 0.0) & np.isfinite(lengths)).all():
        raise ValueError(f"axes must be finite and not zero, got {axes!r}")
    w = w / lengths
    return np.hstack([w, np.cross(p, w)]).T


def _path(tree: Tree, start: int, end: int) -> list[int] | None:
    """Bodies after `start` up to `end`; None if `start` does not carry `end`."""
    path = tree.path(end)
    if start == WORLD:
        return path
    return path[path.index(start) + 1 :] if start in path else None


def _at_com(body: Body, X: Placement, tree: Tree, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """A body's inertia about its centre of mass in the axes of the joint's child link, and the pose
    of that frame."""
    frame = tree.frames[model.joint(body.joint).child]
    link = frame.placement if tree.bodies[frame.body] is body else HERE
    inertia = body.inertia
    m = as_number(inertia.mass)
    c = inertia.h * (1.0 / m) if m else Vector(*link.p)
    at = Placement(link.R, c)
    J = np.array([list(row) for row in inertia.J.rows])
    c_ = np.array(list(c))
    J = J - m * (c_ @ c_ * np.eye(3) - np.outer(c_, c_))
    R = np.array([list(row) for row in at.as_matrix().R.matrix.rows])  # type: ignore[union-attr]
    G = np.zeros((6, 6))
    G[:3, :3], G[3:, 3:] = R.T @ J @ R, m * np.eye(3)
    return G, _matrix(X.compose(at).as_matrix())


def _matrix(X: Placement) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = [list(row) for row in X.R.matrix.rows]  # type: ignore[union-attr]
    T[:3, 3] = [as_number(x) for x in X.p]
    return T


def _angular_first(m: Motion) -> list[Scalar]:
    return [*m.angular, *m.linear]

"""Columns of a frame's Jacobian, body by body.

They are the frame's motions for unit velocities of the joints that carry it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Motion, Placement
from ..model.tree import WORLD, Frame, Tree
from .frames import PARTS, body_placements, common_carrier, path_beyond

Columns = list[tuple[int, Motion]]
"""Columns of one body's joint, each with its index in v; several may share an index (mimic)."""


def frame_columns(
    tree: Tree, q: Sequence[Scalar], seat: Frame, reference: str, root: int = WORLD
) -> tuple[list[Columns], Placement]:
    """Columns of a frame's Jacobian for each body that carries it, root first, and its pose.

    They are relative to the body `root`, which carries the frame, instead of the world.
    """
    path = path_beyond(tree, seat.body, root)
    if reference == "local":
        # From the frame down to the root, in the frame's axes: the columns of the nearest joints
        # then keep the most zeros.
        X, columns = seat.placement, []
        for i in reversed(path):
            columns.append([(k, X.motion_to_child(S)) for k, S in tree.bodies[i].subspace])
            X = tree.bodies[i].placement(q).compose(X).as_matrix()
        return columns[::-1], X
    X0 = body_placements(tree, q, [seat.body], root)
    T = X0[seat.body].compose(seat.placement).as_matrix()
    origin = ZERO if reference == "world" else T.p
    return [_columns_in_reference(tree, i, Placement(X0[i].R, X0[i].p - origin)) for i in path], T


def relative_columns(
    tree: Tree, q: Sequence[Scalar], seat: Frame, other: Frame, reference: str
) -> list[Columns]:
    """Columns of the motion of one frame relative to another, for each body between them."""
    # Joints that carry both frames do not move one against the other: the last body that carries
    # both stands for the world.
    root = common_carrier(tree, (seat.body, other.body))
    if root == other.body and reference == "local":
        return frame_columns(tree, q, seat, reference, root)[0]
    X = body_placements(tree, q, (seat.body, other.body), root)
    T, world = (X[frame.body].compose(frame.placement).as_matrix() for frame in (seat, other))
    origin = world.p if reference == "world" else T.p
    to_axes = Placement(T.R if reference == "local" else world.R, ZERO)
    return [
        [
            (k, to_axes.motion_to_child(S * sign))
            for k, S in _columns_in_reference(tree, i, Placement(X[i].R, X[i].p - origin))
        ]
        for body, sign in ((seat.body, 1.0), (other.body, -1.0))
        for i in path_beyond(tree, body, root)
    ]


def columns_to_matrix(nv: int, bodies: Sequence[Columns], part: str = "both") -> list[list[Scalar]]:
    """The matrix of all bodies' columns, 6 by nv, or 3 by nv of the "linear" or "angular" part."""
    J: list[list[Scalar]] = [[0.0] * nv for _ in range(6)]
    for columns in bodies:
        for k, column in columns:
            for row, entry in zip(J, column, strict=True):
                row[k] = row[k] + entry
    return J[PARTS[part]]


def _columns_in_reference(tree: Tree, i: int, X: Placement) -> Columns:
    return [(k, X.motion_to_parent(S)) for k, S in tree.bodies[i].subspace]

"""Geometric Jacobians of frames."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Motion, Placement
from ..model.tree import WORLD, Frame, Tree
from .fk import homogeneous
from .frames import PARTS, at_point, body_placements, common_carrier, path_beyond

Columns = list[tuple[int, Motion]]
"""Motions of a frame for unit velocities, each with its index in v; an index may come again (mimic)."""


def jacobian(
    tree: Tree,
    q: Sequence[Scalar],
    frame: str,
    reference: str,
    relative_to: str | None = None,
    point: Sequence[Scalar] | None = None,
    part: str = "both",
) -> list[list[Scalar]]:
    """J, 6 by nv, with J v the spatial velocity of the frame: linear part, then angular.

    "local": at the frame's origin, in its axes. "local_world_aligned": at the frame's origin, in the world's axes.
    "world": of the point of the moving body at the world's origin, in the world's axes.
    `relative_to` puts another frame in the world's place. `point`, given in the frame, takes the place of its origin.
    Lynch and Park, Modern Robotics (2017), section 5.1; each joint's motion subspace is moved to the frame.
    """
    seat = at_point(tree.frames[frame], point)
    if relative_to is None:
        return matrix(tree.nv, columns(tree, q, seat, reference)[0], part)
    return matrix(
        tree.nv, relative_columns(tree, q, seat, tree.frames[relative_to], reference), part
    )


def pose_and_jacobian(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """The homogeneous matrix of a frame in the world, and its Jacobian: the poses on the way serve both."""
    bodies, T = columns(tree, q, tree.frames[frame], reference)
    return homogeneous(T), matrix(tree.nv, bodies)


def columns(
    tree: Tree, q: Sequence[Scalar], seat: Frame, reference: str, root: int = WORLD
) -> tuple[list[Columns], Placement]:
    """Columns of a frame's Jacobian for each body that carries it, from the root on; and the frame's pose.

    Seen from the body `root`, where that carries it, instead of the world.
    """
    path = path_beyond(tree, seat.body, root)
    if (
        reference == "local"
    ):  # from the frame down to the root, in its axes: the nearest joints have the most zeros
        X, found = seat.placement, []
        for i in reversed(path):
            found.append([(k, X.motion_to_child(S)) for k, S in tree.bodies[i].subspace])
            X = tree.bodies[i].placement(q).compose(X).as_matrix()
        return found[::-1], X
    X0 = body_placements(tree, q, [seat.body], root)
    T = X0[seat.body].compose(seat.placement).as_matrix()
    origin = ZERO if reference == "world" else T.p
    return [_moved(tree, i, Placement(X0[i].R, X0[i].p - origin)) for i in path], T


def _moved(tree: Tree, i: int, X: Placement) -> Columns:
    return [(k, X.motion_to_parent(S)) for k, S in tree.bodies[i].subspace]


def relative_columns(
    tree: Tree, q: Sequence[Scalar], seat: Frame, other: Frame, reference: str
) -> list[Columns]:
    """Columns of the motion of one frame as seen from another one, for each body between them."""
    root = common_carrier(tree, (seat.body, other.body))
    if root == other.body and reference == "local":
        return columns(tree, q, seat, reference, root)[0]
    X = body_placements(tree, q, (seat.body, other.body), root)
    T, world = (X[frame.body].compose(frame.placement).as_matrix() for frame in (seat, other))
    origin = world.p if reference == "world" else T.p
    turn = Placement(T.R if reference == "local" else world.R, ZERO)
    return [
        [
            (k, turn.motion_to_child(S * sign))
            for k, S in _moved(tree, i, Placement(X[i].R, X[i].p - origin))
        ]
        for body, sign in ((seat.body, 1.0), (other.body, -1.0))
        for i in path_beyond(tree, body, root)
    ]


def matrix(nv: int, bodies: Sequence[Columns], part: str = "both") -> list[list[Scalar]]:
    """The columns of all bodies in their places; all rows, or the linear or angular ones."""
    J: list[list[Scalar]] = [[0.0] * nv for _ in range(6)]
    for columns_of_body in bodies:
        for k, column in columns_of_body:
            for row, entry in zip(J, column, strict=True):
                row[k] = row[k] + entry
    return J[PARTS[part]]


def jacobians_from_the_root(
    tree: Tree,
    q: Sequence[Scalar],
    frames: Sequence[str],
    reference: str = "local",
    part: str = "both",
) -> list[list[list[Scalar]]]:
    """`jacobian` of many frames with reference "local": columns are handed from body to body on the way out."""
    seats = [tree.frames[name] for name in frames]
    bodies: dict[int, list[Columns]] = {WORLD: []}

    def carried(X: Placement, i: int) -> list[Columns]:
        return [
            [(k, X.motion_to_child(S)) for k, S in columns_of_body] for columns_of_body in bodies[i]
        ]

    for i in sorted({i for seat in seats for i in tree.path(seat.body)}):
        bodies[i] = [
            *carried(tree.bodies[i].placement(q), tree.bodies[i].parent),
            tree.bodies[i].subspace,
        ]
    return [matrix(tree.nv, carried(seat.placement, seat.body), part) for seat in seats]

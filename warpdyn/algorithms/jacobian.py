"""Geometric Jacobians of frames."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.pose_forms import homogeneous
from ..algebra.scalar import Scalar
from ..algebra.spatial import Placement
from ..model.tree import WORLD, Tree
from .frame_columns import Columns, columns_to_matrix, frame_columns, relative_columns
from .frames import at_point


def jacobian(
    tree: Tree,
    q: Sequence[Scalar],
    frame: str,
    reference: str,
    relative_to: str | None = None,
    point: Sequence[Scalar] | None = None,
    part: str = "both",
) -> list[list[Scalar]]:
    """Jacobian J of a frame, with J v its spatial velocity: linear part, then angular.

    q: nq [m, rad].  Returns 6 by nv, 3 by nv of a part.
    "local": at the frame's origin, in its axes. "local_world_aligned": at the frame's origin, in
    the world's axes. "world": of the point of the moving body at the world's origin, in the world's
    axes. `relative_to` names a frame that replaces the world; `point`, in the frame's coordinates,
    replaces its origin.
    Lynch and Park, Modern Robotics (2017), section 5.1; each joint's motion subspace is moved to
    the frame.
    """
    seat = at_point(tree.frames[frame], point)
    if relative_to is None:
        return columns_to_matrix(tree.nv, frame_columns(tree, q, seat, reference)[0], part)
    bodies = relative_columns(tree, q, seat, tree.frames[relative_to], reference)
    return columns_to_matrix(tree.nv, bodies, part)


def pose_and_jacobian(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """Pose of a frame in the world as a 4 by 4 matrix, and its Jacobian, 6 by nv.

    Both use the same poses of the bodies between.
    """
    bodies, T = frame_columns(tree, q, tree.frames[frame], reference)
    return homogeneous(T), columns_to_matrix(tree.nv, bodies)


def jacobians_from_the_root(
    tree: Tree,
    q: Sequence[Scalar],
    frames: Sequence[str],
    reference: str = "local",
    part: str = "both",
) -> list[list[list[Scalar]]]:
    """Jacobians of many frames with reference "local", from the root outward.

    Columns pass from body to body. This is shorter if many frames share the joints that carry
    them, as all links of a robot do.
    """
    seats = [tree.frames[name] for name in frames]
    bodies: dict[int, list[Columns]] = {WORLD: []}

    def columns_of_body(X: Placement, i: int) -> list[Columns]:
        return [[(k, X.motion_to_child(S)) for k, S in columns] for columns in bodies[i]]

    for i in sorted({i for seat in seats for i in tree.path(seat.body)}):
        bodies[i] = [
            *columns_of_body(tree.bodies[i].placement(q), tree.bodies[i].parent),
            tree.bodies[i].subspace,
        ]
    return [
        columns_to_matrix(tree.nv, columns_of_body(seat.placement, seat.body), part)
        for seat in seats
    ]

"""The geometric Jacobian of a frame."""

from __future__ import annotations

from collections.abc import Sequence

from ..scalar import Scalar
from ..spatial import ZERO, Placement
from ..tree import Tree

REFERENCES = ("local", "world", "local_world_aligned")


def jacobian(tree: Tree, q: Sequence[Scalar], frame: str, reference: str) -> list[list[Scalar]]:
    """J, 6 by nv, with J v the spatial velocity of the frame: linear part, then angular.

    "local": at the frame's origin, in its axes. "local_world_aligned": at the frame's origin, in the world's axes.
    "world": of the point of the moving body at the world's origin, in the world's axes.
    Lynch and Park, Modern Robotics (2017), section 5.1; each joint's motion subspace is moved to the frame.
    """
    target = tree.frames[frame]
    path = tree.path(target.body)
    J: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]
    X = target.placement  # the frame in the body at hand, walking from the frame's own body down to the root
    local = []
    for i in reversed(path):
        body = tree.bodies[i]
        local += [(k, X.motion_to_child(S)) for k, S in body.subspace]
        X = body.placement(q).compose(X).as_matrix()
    turn = {"local": None, "local_world_aligned": Placement(X.R, ZERO), "world": X}[reference]
    for k, column in local:
        moved = column if turn is None else turn.motion_to_parent(column)
        for row, entry in enumerate(moved):
            J[row][k] = J[row][k] + entry
    return J

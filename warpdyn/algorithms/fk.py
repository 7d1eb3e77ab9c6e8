"""Forward kinematics: poses of links in the world."""

from __future__ import annotations

from collections.abc import Sequence

from ..scalar import Scalar
from ..spatial import Placement, as_matrix
from ..tree import HERE, WORLD, Tree


def body_placements(tree: Tree, q: Sequence[Scalar], bodies: Sequence[int]) -> dict[int, Placement]:
    """World placements of the given bodies and of those that carry them: X0[i] = X0[parent] X[i] (RBDA 4.4)."""
    X: dict[int, Placement] = {WORLD: HERE}
    needed = {j for i in bodies for j in tree.path(i)}
    for i in sorted(needed):
        X[i] = X[tree.bodies[i].parent].compose(tree.bodies[i].placement(q)).as_matrix()
    return X


def fk(tree: Tree, q: Sequence[Scalar], frames: Sequence[str]) -> list[list[list[Scalar]]]:
    """Homogeneous 4x4 matrices, link frame to world, of the named frames.

    Composition of link transforms along the tree; Craig, Introduction to Robotics, 3.2.
    """
    placed = [tree.frames[name] for name in frames]
    X = body_placements(tree, q, [frame.body for frame in placed])
    poses = []
    for frame in placed:
        T = X[frame.body].compose(frame.placement).as_matrix()
        rows = [[*row, offset] for row, offset in zip(as_matrix(T.R).matrix.rows, T.p, strict=True)]
        poses.append([*rows, [0.0, 0.0, 0.0, 1.0]])
    return poses


def fk_of_one(tree: Tree, q: Sequence[Scalar], frames: Sequence[str]) -> list[list[Scalar]]:
    """The homogeneous 4x4 matrix of the first frame alone."""
    return fk(tree, q, frames[:1])[0]

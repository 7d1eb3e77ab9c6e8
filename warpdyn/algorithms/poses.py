"""Conversions of poses and rotations: matrices, quaternions, or both.

These need no robot: `tree` has neither bodies nor coordinates. `order` is "xyzw" or "wxyz".
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.pose_forms import (
    from_homogeneous,
    from_position_and_quaternion,
    homogeneous,
    rotation_quaternion,
)
from ..algebra.quaternions import quaternion_rotation
from ..algebra.scalar import Scalar
from ..algebra.spatial import Rotation, Vector
from ..model.tree import Tree

XYZW = "xyzw"


def reorder_quaternion(quaternion: Sequence[Scalar], source: str, target: str) -> list[Scalar]:
    """The same quaternion, its entries in the order `target` instead of `source`."""
    return [quaternion[source.index(c)] for c in target]


def convert_quaternion(
    tree: Tree, quaternion: Sequence[Scalar], source: str, target: str
) -> list[Scalar]:
    """Quaternion, 4, with its entries in the order `target`."""
    return reorder_quaternion(quaternion, source, target)


def matrix_to_quaternion(
    tree: Tree, matrix: Sequence[Sequence[Scalar]], order: str
) -> list[Scalar]:
    """Unit quaternion, 4, of a rotation matrix, 3 by 3; qw >= 0."""
    R = Rotation([Vector(*row) for row in matrix])
    return reorder_quaternion(rotation_quaternion(R), XYZW, order)


def quaternion_to_matrix(
    tree: Tree, quaternion: Sequence[Scalar], order: str
) -> list[list[Scalar]]:
    """Rotation matrix, 3 by 3, of a unit quaternion, 4 (RBDA 4.12)."""
    R = quaternion_rotation(reorder_quaternion(quaternion, order, XYZW))
    return [list(row) for row in R.matrix.rows]


def matrix_to_pose(tree: Tree, matrix: Sequence[Sequence[Scalar]], order: str) -> list[Scalar]:
    """Pose, 7: position [m], then quaternion; from a homogeneous matrix, 4 by 4."""
    T = from_homogeneous(matrix)
    return [*T.p, *reorder_quaternion(rotation_quaternion(T.R), XYZW, order)]


def pose_to_matrix(tree: Tree, pose: Sequence[Scalar], order: str) -> list[list[Scalar]]:
    """Homogeneous matrix, 4 by 4, from a pose, 7."""
    quaternion = reorder_quaternion(pose[3:], order, XYZW)
    return homogeneous(from_position_and_quaternion([*pose[:3], *quaternion]))


def chain_product(tree: Tree, matrices: Sequence[Sequence[Sequence[Scalar]]]) -> list[list[Scalar]]:
    """Homogeneous matrix T_1 T_2 .. T_n, 4 by 4: the product of n matrices."""
    first, *others = map(from_homogeneous, matrices)
    for other in others:
        first = first.compose(other)
    return homogeneous(first)

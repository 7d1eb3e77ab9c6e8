"""Conversions of poses and rotations: matrices, quaternions, or both.

These need no robot: `tree` has neither bodies nor coordinates. `order` is "xyzw" or "wxyz".
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.pose_forms import (
    from_homogeneous,
    from_position_and_quaternion,
    homogeneous,
    homogeneous_or_nan,
    rotation_or_nan,
    rotation_quaternion,
)
from ..algebra.quaternions import normalize_vector, quaternion_rotation
from ..algebra.scalar import Scalar
from ..algebra.spatial import AnyRotation, Rotation, Vector
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
    """Unit quaternion, 4, of a rotation matrix, 3 by 3; qw >= 0. NaN for other matrices."""
    return _unit_quaternion(Rotation([Vector(*row) for row in matrix]), order)


def _unit_quaternion(R: AnyRotation, order: str) -> list[Scalar]:
    """The quaternion of a matrix that is a rotation up to a few digits, at unit length."""
    quaternion = normalize_vector(rotation_quaternion(rotation_or_nan(R)))
    return reorder_quaternion(quaternion, XYZW, order)


def quaternion_to_matrix(
    tree: Tree, quaternion: Sequence[Scalar], order: str
) -> list[list[Scalar]]:
    """Rotation matrix, 3 by 3, of the direction of a quaternion, 4 (RBDA 4.12)."""
    R = quaternion_rotation(normalize_vector(reorder_quaternion(quaternion, order, XYZW)))
    return [list(row) for row in R.matrix.rows]


def matrix_to_pose(tree: Tree, matrix: Sequence[Sequence[Scalar]], order: str) -> list[Scalar]:
    """Pose, 7: position [m], then quaternion; from a homogeneous matrix, 4 by 4. NaN for others."""
    T = homogeneous_or_nan(matrix)
    return [*T.p, *_unit_quaternion(T.R, order)]


def pose_to_matrix(tree: Tree, pose: Sequence[Scalar], order: str) -> list[list[Scalar]]:
    """Homogeneous matrix, 4 by 4, from a pose, 7, whose quaternion counts by its direction."""
    quaternion = normalize_vector(reorder_quaternion(pose[3:], order, XYZW))
    return homogeneous(from_position_and_quaternion([*pose[:3], *quaternion]))


def chain_product(tree: Tree, matrices: Sequence[Sequence[Sequence[Scalar]]]) -> list[list[Scalar]]:
    """Homogeneous matrix T_1 T_2 .. T_n, 4 by 4: the product of n matrices."""
    first, *others = map(from_homogeneous, matrices)
    for other in others:
        first = first.compose(other)
    return homogeneous(first)

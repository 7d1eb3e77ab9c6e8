"""Poses and rotations from one form to another: 4x4 and 3x3 matrices, [position, quaternion], quaternions."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.quaternions import quaternion_rotation
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Placement, Rotation, Vector
from ..model.tree import Tree
from .fk import homogeneous, position_and_quaternion

XYZW = "xyzw"


def reordered(quaternion: Sequence[Scalar], source: str, target: str) -> list[Scalar]:
    """The same quaternion, its entries in the order `target` ("xyzw" or "wxyz")."""
    return [quaternion[source.index(c)] for c in target]


def convert_quaternion(
    tree: Tree, quaternion: Sequence[Scalar], source: str, target: str
) -> list[Scalar]:
    return reordered(quaternion, source, target)


def matrix_to_quaternion(
    tree: Tree, matrix: Sequence[Sequence[Scalar]], order: str
) -> list[Scalar]:
    R = Rotation([Vector(*row) for row in matrix])
    return reordered(position_and_quaternion(Placement(R, ZERO))[3:], XYZW, order)


def quaternion_to_matrix(
    tree: Tree, quaternion: Sequence[Scalar], order: str
) -> list[list[Scalar]]:
    return [
        list(row) for row in quaternion_rotation(reordered(quaternion, order, XYZW)).matrix.rows
    ]


def matrix_to_pose(tree: Tree, matrix: Sequence[Sequence[Scalar]], order: str) -> list[Scalar]:
    return [
        *(row[3] for row in matrix[:3]),
        *matrix_to_quaternion(tree, [row[:3] for row in matrix[:3]], order),
    ]


def pose_to_matrix(tree: Tree, pose: Sequence[Scalar], order: str) -> list[list[Scalar]]:
    return homogeneous(
        Placement(quaternion_rotation(reordered(pose[3:], order, XYZW)), Vector(*pose[:3]))
    )

"""Placements in the forms that arrays use: 4x4 matrices, and [x y z qx qy qz qw]."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from .quaternions import quaternion_rotation
from .scalar import Scalar, select_less, sqrt
from .spatial import AnyRotation, Placement, Rotation, Vector, as_matrix

LAST_ROW = 1e-3
"""Largest length of the first three entries in the last row of a pose's matrix, which are 0."""

NOT_A_ROTATION = 0.05
"""Largest |R Rᵀ - 1| of a rotation R that is written with few digits."""


def homogeneous(T: Placement) -> list[list[Scalar]]:
    """Homogeneous matrix [[R, p], [0, 1]] of a placement."""
    rows = [[*row, offset] for row, offset in zip(as_matrix(T.R).matrix.rows, T.p, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def from_homogeneous(T: Sequence[Sequence[Scalar]]) -> Placement:
    """Placement of a 4x4 matrix, the upper left of which is a rotation; the last row is ignored."""
    return Placement(
        Rotation([Vector(*row[:3]) for row in T[:3]]), Vector(*(row[3] for row in T[:3]))
    )


def homogeneous_or_nan(T: Sequence[Sequence[Scalar]]) -> Placement:
    """Placement of a 4x4 matrix. The position of one whose last row has it, because the matrix is
    transposed, is NaN."""
    placement = from_homogeneous(T)
    below = sum((x * x for x in T[3][:3]), 0.0)
    return Placement(placement.R, placement.p * select_less(below, LAST_ROW**2, 1.0, nan))


def rotation_or_nan(R: AnyRotation) -> Rotation:
    """The same matrix, or NaN if it is far from a rotation, such as a reflection or zeros."""
    x, y, z = (Vector(*row) for row in as_matrix(R).matrix.rows)
    lengths = [row.dot(row) - 1.0 for row in (x, y, z)]
    angles = [x.dot(y), y.dot(z), z.dot(x)]
    off = sum((e * e for e in lengths), 0.0) + sum((e * e for e in angles), 0.0) * 2.0
    right_handed = select_less(0.0, x.cross(y).dot(z), 1.0, nan)
    factor = select_less(off, NOT_A_ROTATION**2, right_handed, nan)
    return Rotation([row * factor for row in (x, y, z)])


def position_and_quaternion(T: Placement) -> list[Scalar]:
    """Position and unit quaternion x, y, z, qx, qy, qz, qw of a placement, qw >= 0."""
    return [*T.p, *rotation_quaternion(T.R)]


def from_position_and_quaternion(pose: Sequence[Scalar]) -> Placement:
    """Placement of x, y, z, qx, qy, qz, qw, the quaternion of unit length."""
    return Placement(quaternion_rotation(pose[3:]), Vector(*pose[:3]))


def rotation_quaternion(R: AnyRotation) -> list[Scalar]:
    """Unit quaternion x, y, z, w of a rotation, w >= 0.

    The matrix 4 q qᵀ follows from R without roots; its column with the largest diagonal entry d,
    divided by 2 sqrt(d), is q (Shepperd, J. Guidance and Control 1, 1978).
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = as_matrix(R).matrix.rows
    columns = [
        [1.0 + xx - yy - zz, xy + yx, xz + zx, zy - yz],
        [xy + yx, 1.0 - xx + yy - zz, yz + zy, xz - zx],
        [xz + zx, yz + zy, 1.0 - xx - yy + zz, yx - xy],
        [zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz],
    ]
    # All four columns give q up to rounding, which is least for the largest d: d >= 1 for one of
    # them, so that the root is far from zero. Selections by comparison work for symbols too.
    largest, d = columns[3], columns[3][3]
    for k in range(3):
        larger, column = columns[k][k], columns[k]
        largest = [
            select_less(d, larger, new, old) for new, old in zip(column, largest, strict=True)
        ]
        d = select_less(d, larger, larger, d)
    half = 0.5 / sqrt(d)
    scale = select_less(largest[3], 0.0, -half, half)
    return [x * scale for x in largest]

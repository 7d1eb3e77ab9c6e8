"""Vectors, poses, and the limits and passive forces of coordinates: parts of the records of links and
joints."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..algebra.spatial import Placement, Rotation, Vector, as_matrix

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

ORIGIN: Vector3 = (0.0, 0.0, 0.0)
EYE: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO3: Matrix3 = (ORIGIN, ORIGIN, ORIGIN)

UNIT = 1e-6
"""Tolerance for the unit length of users' quaternions and rotation axes."""

PERPENDICULAR = 1e-3
"""Cosine up to which two axes count as perpendicular: descriptions write right angles as 1.57."""

MOST = 1e9
"""Lengths [m], masses [kg] and moments [kg·m²] above this are mistakes: their sums and products
may overflow."""


def vector3(values: Iterable[Any]) -> Vector3:
    if isinstance(values, str) or len(numbers := [*values]) != 3:  # never the first three of more
        raise ValueError(f"three numbers are needed, got {values!r}")
    x, y, z = map(float, numbers)
    return (x, y, z)


def matrix3(rows: Iterable[Iterable[Any]]) -> Matrix3:
    x, y, z = (vector3(row) for row in rows)
    return (x, y, z)


def unit_vector(values: Iterable[Any]) -> Vector3:
    """The direction of a vector. Zero stays zero: `Model.assemble` refuses it by name."""
    x, y, z = vector3(values)
    # Divided by first, so that squares neither overflow nor vanish.
    longest = max(abs(x), abs(y), abs(z)) or 1.0
    norm = math.hypot(x / longest, y / longest, z / longest) or 1.0
    if abs(norm * longest - 1.0) < 1e-15:  # a second pass must not change it
        return (x, y, z)
    return (x / longest / norm, y / longest / norm, z / longest / norm)


def rpy_rotation(roll: float, pitch: float, yaw: float) -> Matrix3:
    """URDF's fixed-axis angles: Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = (
        (math.cos(angle), math.sin(angle)) for angle in (roll, pitch, yaw)
    )
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


@dataclass(frozen=True)
class Pose:
    """Position [m] and rotation matrix of one frame in another."""

    position: Vector3 = ORIGIN
    rotation: Matrix3 = EYE

    @property
    def placement(self) -> Placement:
        return Placement(Rotation([Vector(*row) for row in self.rotation]), Vector(*self.position))

    @classmethod
    def at(cls, xyz: Sequence[float] = ORIGIN, rpy: Sequence[float] = ORIGIN) -> Pose:
        """The pose at a position, rotated by URDF's fixed-axis angles [rad]."""
        return cls(vector3(xyz), rpy_rotation(*map(float, rpy)))

    @classmethod
    def of(cls, pose: Any) -> Pose:
        """The pose from any form that users write: a Pose, a Placement, a 4x4 matrix, a position,
        or x y z qx qy qz qw."""
        if isinstance(pose, Pose):
            return cls(vector3(pose.position), matrix3(pose.rotation))  # floats, also of integers
        if isinstance(pose, Placement):
            return cls(vector3(pose.p), matrix3(as_matrix(pose.R).matrix.rows))
        numbers = np.asarray(pose, dtype=float)
        if numbers.shape not in ((3,), (7,), (4, 4)) or not np.isfinite(numbers).all():
            raise ValueError(
                f"a pose is a Pose, a 4x4 matrix, x y z, or x y z qx qy qz qw, of finite numbers; got {pose!r}"
            )
        if numbers.shape == (3,):
            return cls(vector3(numbers))
        # Rounding of the length is removed, but a larger error is refused: it may be another order
        # of the quaternion's entries.
        if numbers.shape == (7,):
            norm = math.sqrt(sum(x * x for x in numbers[3:]))
            if abs(norm - 1.0) > UNIT:
                raise ValueError(
                    f"the quaternion of a pose must be of unit length, got {numbers[3:].tolist()}"
                )
            return cls(
                vector3(numbers[:3]),
                matrix3(quaternion_rotation([float(x / norm) for x in numbers[3:]]).matrix.rows),
            )
        R = numbers[:3, :3]
        if (
            np.abs(R @ R.T - np.eye(3)).max() > UNIT
            or np.linalg.det(R) < 0
            or numbers[3].tolist() != [0, 0, 0, 1]
        ):
            raise ValueError(
                f"a pose as a 4x4 matrix is a rotation and a position above 0 0 0 1, got {numbers.tolist()}"
            )
        return cls(vector3(numbers[:3, 3]), matrix3(R))


HERE = Pose()
"""The pose of a frame in itself."""


@dataclass(frozen=True)
class Limits:
    """Bounds from the description [rad or m, rad/s or m/s, N·m or N]; infinite if the description
    has none."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf

    def along(self, sign: float) -> Limits:
        """The same bounds for a coordinate counted forwards (sign 1) or backwards (-1)."""
        return self if sign > 0 else Limits(-self.upper, -self.lower, self.velocity, self.effort)


NO_LIMIT = sys.float_info.max
"""A limit in URDF that is none: its parsers need a number in some places, and refuse infinity."""

UNLIMITED = Limits()
"""Limits without any bound."""


@dataclass(frozen=True)
class Effects:
    """Passive forces on one coordinate of a joint, all off unless asked for:
    viscous friction [N·m·s/rad, N·s/m], Coulomb friction [N·m, N], beyond its limits a spring
    [N·m/rad, N/m] and a damper, and everywhere a spring [N·m/rad, N/m] that is slack at `rest`
    [rad, m] (see `Joint.rest`)."""

    viscous: float = 0.0
    coulomb: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    spring: float = 0.0
    rest: float = 0.0

    def along(self, sign: float) -> Effects:
        """The same effects for a coordinate counted forwards (sign 1) or backwards (-1)."""
        return replace(self, rest=self.rest * sign)

"""Records of a robot description: links, joints, limits, shapes, and helpers that find and check
names.

Format readers create the records; `warpdyn.model.Model` puts them in order.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..algebra.spatial import Inertia, Placement, Rotation, Symmetric, Vector, as_matrix
from .ground_contact import GroundContact, LimitSoftness, ShapeTouch
from .joints import FIXED, JointKind
from .old_members import OldMember
from .printable import printable

T = TypeVar("T")
Clamped = TypeVar("Clamped", bound=Any)

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

ORIGIN: Vector3 = (0.0, 0.0, 0.0)
EYE: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO3: Matrix3 = (ORIGIN, ORIGIN, ORIGIN)

UNIT = 1e-6
"""Tolerance for the unit length of users' quaternions and rotation axes."""


class ModelError(ValueError):
    """A robot description that cannot be used. The message names the place and the remedy in one
    line; characters of names that are not printable appear as their numbers."""

    def __init__(self, text: str = "") -> None:
        super().__init__(printable(text))


class ModelWarning(UserWarning):
    """A description that is used as written although it looks wrong."""


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


@dataclass(frozen=True)
class Geometry:
    """A shape attached to a link, kept as data. `shape` is "box", "cylinder", "sphere", "capsule",
    "mesh" or "plane" (a plane has no contact points); visual shapes may be "ellipsoid" too."""

    shape: str
    size: tuple[float, ...] = ()
    """box: x, y, z; cylinder: radius, length; sphere: radius; capsule: radius, length between the
    centres of its ends; mesh: scale x, y, z; ellipsoid: radii x, y, z; plane, which looks along its
    z: lengths x, y, of 0 if it has no end [m]."""
    filename: str | None = None
    pose: Pose = Pose()
    name: str | None = None
    folder: Path | None = field(default=None, compare=False)
    """Folder of the description, to which a mesh's `filename` is relative; None if the description
    was text."""
    color: tuple[float, float, float, float] | None = field(default=None, compare=False)
    """Red, green, blue, opacity in [0, 1]; None if the description gives no colour."""
    contact: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False)
    """Contact parameters in the description's own words, kept as data."""
    on_ground: GroundContact | None = field(default=None, compare=False)
    """Contact with the ground; None if the description gives none."""
    touch: ShapeTouch | None = field(default=None, compare=False)
    """Contact with other shapes; None if the description gives none."""


@dataclass(frozen=True)
class Link:
    """A rigid body. `inertia` is about the centre of mass `com`, in the link's axes [kg, m,
    kg·m²]."""

    name: str
    mass: float = 0.0
    com: Vector3 = ORIGIN
    inertia: Matrix3 = ZERO3
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()
    gravcomp: float = 0.0
    """The share of its weight that the description compensates."""
    borne: float = 0.0
    """The share of its weight that is compensated in the dynamics; 0 unless asked for."""

    @property
    def symmetric(self) -> Symmetric:
        """The upper triangle of `inertia`, as spatial algebra takes it."""
        return Symmetric.from_rows(self.inertia)

    @property
    def spatial_inertia(self) -> Inertia:
        """The spatial inertia about the link's origin."""
        return Inertia.at_com(self.mass, Vector(*self.com), self.symmetric)


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


UNLIMITED = Limits()
"""Limits without any bound."""


@dataclass(frozen=True)
class Mimic:
    """This joint's position is multiplier * (position of `joint`) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Gearbox:
    """The constraint of a gearbox joint: the angles of parent and child against the link
    `reference` keep theta_2 = -ratio theta_1.

    theta_1 is the angle of the parent about `axis`, theta_2 that of the child about `axis2`
    (SDFormat's definition).
    """

    ratio: float
    reference: str


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


@dataclass(frozen=True)
class Joint:
    """A joint from a parent link to a child link.

    `pose` is the joint frame (at zero position, the child link's frame) in the parent link; `axis`
    a unit vector in that frame; `armature` [kg·m² or kg] is reflected rotor inertia added to the
    diagonal of the mass matrix. Only joints of two axes have a second axis (unit vector in the
    joint frame too, carried by the first turn) with limits, damping and friction of its own; a
    gearbox joint its `axis2`. `pitch` is a screw's advance [m/rad].
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    pose: Pose = Pose()
    axis: Vector3 = (1.0, 0.0, 0.0)
    limits: Limits = UNLIMITED
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None
    axis2: Vector3 | None = None
    limits2: Limits = UNLIMITED
    damping2: float = 0.0
    friction2: float = 0.0
    pitch: float = 0.0
    gearbox: Gearbox | None = None
    effects: tuple[Effects, ...] = ()
    """One for each velocity coordinate, or none."""
    spring: float = 0.0
    rest: float | tuple[float, ...] = 0.0
    """The description's spring [N·m/rad, N/m], which is slack at `rest`: a position [rad, m]; of a
    ball joint a rotation vector [rad], of a free one a position [m] and a rotation vector, 0 where
    that is neutral."""
    soft_limit: LimitSoftness | None = None

    @property
    def axes(self) -> tuple[Vector3, ...]:
        """Axis directions in the order in which the turns are applied: one, or two for a joint of
        two axes."""
        return (self.axis, self.axis2) if self.kind.series and self.axis2 else (self.axis,)

    @property
    def v_limits(self) -> tuple[Limits, ...]:
        """Limits of each velocity coordinate."""
        return self.kind.each_coordinate(self.limits, self.limits2)

    @property
    def q_limits(self) -> tuple[Limits, ...]:
        """Limits of each configuration coordinate; none for quaternions."""
        if self.kind.series:
            return self.v_limits
        free = self.kind.nq if self.kind.quaternion is None else self.kind.quaternion
        return (self.limits,) * free + (UNLIMITED,) * (self.kind.nq - free)

    @property
    def v_damping(self) -> tuple[float, ...]:
        """Viscous damping of each velocity coordinate [N·s/m, N·m·s/rad]."""
        return self.kind.each_coordinate(self.damping, self.damping2)

    @property
    def v_friction(self) -> tuple[float, ...]:
        """Coulomb friction of each velocity coordinate [N, N·m]."""
        return self.kind.each_coordinate(self.friction, self.friction2)

    @property
    def v_rest(self) -> tuple[float, ...]:
        """`rest`, one number for each velocity coordinate."""
        return self.rest if isinstance(self.rest, tuple) else (self.rest,) * self.kind.nv

    @property
    def is_bounded(self) -> bool:
        """True if the joint has position limits that a spring can act on."""
        single = all(part.single for part in self.kind.parts)
        return single and any(
            math.isfinite(x) for limits in self.v_limits for x in (limits.lower, limits.upper)
        )

    bounded = OldMember("bounded", "is_bounded")

    def clamp(self, position: Clamped) -> Clamped:
        """`position` [rad, m] of this joint, a number or an array (NumPy, Torch, JAX), clamped to
        its limits. For a whole configuration see `warpdyn.clamp`."""
        if not self.kind.single:
            raise ValueError(
                f'joint "{self.name}" ({self.kind.name}) has {self.kind.nq} coordinates; clamp a '
                "whole configuration: wd.clamp(model, q)"
            )
        lower, upper = self.limits.lower, self.limits.upper
        if isinstance(position, (int, float)):
            return min(max(position, lower), upper)
        return position.clip(lower, upper)

    def with_effects(self, **values: Sequence[float] | None) -> Joint:
        """This joint with new effects, one for each velocity coordinate; None keeps the old."""
        effects = self.effects or (Effects(),) * self.kind.nv
        for name, numbers in values.items():
            if numbers is not None:
                effects = tuple(
                    replace(e, **{name: float(x)}) for e, x in zip(effects, numbers, strict=True)
                )
        return replace(self, effects=effects if any(e != Effects() for e in effects) else ())


def fixed_joint(name: str, parent: str, child: str, pose: Any) -> Joint:
    """A joint that holds `child` in `parent` at `pose`, in any form that `Pose.of` takes."""
    return Joint(name=name, kind=FIXED, parent=parent, child=child, pose=Pose.of(pose))


def leading_joint(joint: Joint, joints: Mapping[str, Joint]) -> tuple[str, float, float]:
    """The joint that moves a chain of mimic joints: position = multiplier * its position + offset."""
    multiplier, offset = 1.0, 0.0
    while joint.mimic is not None:
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        joint = joints[joint.mimic.joint]
    return joint.name, multiplier, offset


def look_up(table: Mapping[str, T], name: str, what: str, owner: str) -> T:
    """The entry with this name, or a KeyError that suggests similar names."""
    if not isinstance(name, str):
        raise TypeError(f"{owner}: give the name of a {what}, got {name!r}")
    if name in table:
        return table[name]
    close = near_names(name, table)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    known = f"it has {', '.join(list(table)[:12]) or 'none'}{', ...' if len(table) > 12 else ''}"
    raise KeyError(f"{owner} has no {what} named {name!r}; {hint}{known}")


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Three names, or fewer, that resemble `name`: first those that end with it or contain it, then
    those spelled like it."""
    known, word = list(names), name.lower()
    inside = [each for each in known if word and word in each.lower()]
    inside.sort(key=lambda each: (not each.lower().endswith(word), len(each)))
    spelled = difflib.get_close_matches(name, known, n=3)
    return list(dict.fromkeys([*inside, *spelled]))[:3]


def check_names(names: Iterable[str]) -> Iterable[str]:
    """The names. A single str is refused, because it would be read as a list of letters."""
    if isinstance(names, str):
        raise TypeError(f'expected a list of names, got "{names}"; for one name ["{names}"]')
    return names

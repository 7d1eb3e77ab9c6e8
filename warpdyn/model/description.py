"""Records of a robot description: links, joints and shapes.

Format readers create the records; `warpdyn.model.Model` puts them in order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from ..algebra.spatial import Inertia, Symmetric, Vector
from .ground_contact import GroundContact, LimitSoftness, ShapeTouch
from .joints import FIXED, JointKind
from .old_members import OldMember
from .poses_and_limits import (
    HERE,
    ORIGIN,
    UNLIMITED,
    ZERO3,
    Effects,
    Limits,
    Matrix3,
    Pose,
    Vector3,
)

Clamped = TypeVar("Clamped", bound=Any)


@dataclass(frozen=True)
class Geometry:
    """A shape attached to a link, kept as data. `shape` is "box", "cylinder", "sphere", "capsule",
    "mesh" or "plane" (a plane has no contact points); visual shapes may be "ellipsoid" too."""

    shape: str
    size: tuple[float, ...] = ()
    """box: x, y, z; cylinder: radius, length; sphere: radius; capsule: radius, length between the
    centres of its ends; mesh: scale x, y, z; ellipsoid: radii x, y, z; plane, whose normal is
    its z axis: lengths x, y, 0 if it is infinite [m]."""
    filename: str | None = None
    pose: Pose = HERE
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
    """The share of the link's weight that the description compensates."""
    borne: float = 0.0
    """The share of the link's weight that the dynamics compensate; 0 unless the caller asks for
    it."""

    @property
    def symmetric(self) -> Symmetric:
        """The upper triangle of `inertia`, as spatial algebra takes it."""
        return Symmetric.from_rows(self.inertia)

    @property
    def spatial_inertia(self) -> Inertia:
        """The spatial inertia about the link's origin."""
        return Inertia.at_com(self.mass, Vector(*self.com), self.symmetric)


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
class Joint:
    """A joint from a parent link to a child link.

    `pose` is the joint frame (at zero position, the child link's frame) in the parent link; `axis`
    a unit vector in that frame; `armature` [kg·m² or kg] is reflected rotor inertia added to the
    diagonal of the mass matrix. Only joints of two axes have a second axis (unit vector in the
    joint frame too, carried by the first turn) with its own limits, damping and friction; a gearbox
    joint has an `axis2`. `pitch` is a screw's advance [m/rad].
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    pose: Pose = HERE
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

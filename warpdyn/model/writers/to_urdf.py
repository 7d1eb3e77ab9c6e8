"""A model as URDF, as far as URDF can express it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from lxml import etree

from ...algebra.scalar import as_number
from ...algebra.spatial import Vector
from ..description import Geometry, Joint, Link
from ..joints import CONTINUOUS, URDF_KINDS
from ..names import ModelError
from ..poses_and_limits import (
    EYE,
    NO_LIMIT,
    ORIGIN,
    ZERO3,
    Limits,
    Matrix3,
    Pose,
    Vector3,
    vector3,
)
from ..structure import Structure
from .left_out import WITHOUT_EFFECTS, refuse_forces, warn_of_left_out

SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
"""Shapes that are written."""

ELSEWHERE = {
    "armature": "armature; with_armature(0) removes it",
    "effects": f"friction and springs that act in the dynamics; {WITHOUT_EFFECTS}",
}
"""Fields of a joint that URDF cannot express: what they are, and the remedy."""


def to_urdf(self: Structure) -> str:
    """The text of a URDF file of this robot: links, joints, limits, mimic joints, damping, friction
    and shapes.

    Loading the text (with the same `floating_base`) gives the same robot, up to rounding of the
    angles in which URDF writes rotations. Raises ModelError, naming the joint, for anything in the
    dynamics that URDF cannot express: other joint kinds, armature, joint effects, closed loops.
    Warns of springs, tendons, actuators and shapes that it leaves out. Named configurations, sensors
    and contact numbers of shapes are left out without a warning.
    """
    text = urdf_text(self)
    warn_of_left_out(self, "URDF", SHAPES)
    return text


def urdf_text(self: Structure) -> str:
    """The text of `to_urdf`, without its warning: for programs that know what it leaves out."""
    refuse_forces(self, "URDF")
    robot = etree.Element("robot", name=self.name)
    try:
        for link in self.links:
            _link(robot, link)
        for joint in self.joints:
            _joint(robot, joint)
    except ValueError as error:  # characters that XML does not allow
        raise (
            error
            if isinstance(error, ModelError)
            else ModelError(f"{self.name}: {error}; rename it (rename)")
        ) from error
    etree.indent(robot)
    return '<?xml version="1.0"?>\n' + etree.tostring(robot, encoding="unicode") + "\n"


def _link(robot: etree._Element, link: Link) -> None:
    element = etree.SubElement(robot, "link", name=link.name)
    if link.mass or link.inertia != ZERO3:
        inertial = etree.SubElement(element, "inertial")
        _origin(inertial, Pose(link.com))
        etree.SubElement(inertial, "mass", value=_format_numbers([link.mass]))
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        moments = zip(keys, link.symmetric.entries, strict=True)
        etree.SubElement(
            inertial, "inertia", {key: _format_numbers([as_number(x)]) for key, x in moments}
        )
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for shape in shapes:
            for part in _parts(shape):
                _shape(element, tag, part)


def _parts(shape: Geometry) -> list[Geometry]:
    """The shape itself. A capsule, which URDF lacks, becomes a cylinder and the spheres at its
    ends; an ellipsoid or a plane is left out."""
    if shape.shape not in SHAPES:
        return []
    if shape.shape != "capsule":
        return [shape]
    radius, length = shape.size
    ends = [
        vector3(shape.pose.placement.point_to_parent(Vector(0.0, 0.0, z)))
        for z in (-length / 2, length / 2)
    ]
    spheres = [Geometry("sphere", (radius,), pose=Pose(end)) for end in ends]
    return [replace(shape, shape="cylinder"), *spheres]


def _shape(link: etree._Element, tag: str, shape: Geometry) -> None:
    element = etree.SubElement(link, tag, {"name": shape.name} if shape.name else {})
    _origin(element, shape.pose)
    sizes = {
        "box": {"size": shape.size},
        "cylinder": {"radius": shape.size[:1], "length": shape.size[1:]},
        "sphere": {"radius": shape.size},
        "mesh": {"scale": shape.size or (1.0, 1.0, 1.0)},
    }[shape.shape]
    attributes = {key: _format_numbers(value) for key, value in sizes.items()}
    if shape.shape == "mesh":
        attributes["filename"] = shape.filename or ""
    etree.SubElement(etree.SubElement(element, "geometry"), shape.shape, attributes)


def _joint(robot: etree._Element, joint: Joint) -> None:
    # Gearboxes were replaced by mimic joints when the model was assembled.
    kind = CONTINUOUS if joint.kind.geared and joint.mimic else joint.kind
    where = f'joint "{joint.name}"'
    if kind.name not in URDF_KINDS:
        raise ModelError(
            f"{where}: URDF cannot express a {kind.name} joint; it has {', '.join(URDF_KINDS)}"
        )
    for field, what_and_remedy in ELSEWHERE.items():
        if getattr(joint, field):
            raise ModelError(f"{where}: URDF cannot express {what_and_remedy}")
    # URDF requires limits for a revolute joint; without any it is a continuous one.
    limits = joint.limits
    endless = limits.lower == -math.inf and limits.upper == math.inf
    if endless and kind.needs_limits and kind.turns:
        kind = CONTINUOUS
    element = etree.SubElement(robot, "joint", name=joint.name, type=kind.name)
    _origin(element, joint.pose)
    etree.SubElement(element, "parent", link=joint.parent)
    etree.SubElement(element, "child", link=joint.child)
    if joint.kind.has_axis:
        etree.SubElement(element, "axis", xyz=_format_numbers(joint.axis))
    bounds = _bounds(limits, positions=kind.needs_limits)
    if bounds and joint.kind.nv:
        etree.SubElement(element, "limit", bounds)
    if joint.damping or joint.friction:
        etree.SubElement(
            element,
            "dynamics",
            damping=_format_numbers([joint.damping]),
            friction=_format_numbers([joint.friction]),
        )
    if joint.mimic is not None and joint.kind.nv:
        mimic = {
            "joint": joint.mimic.joint,
            "multiplier": _format_numbers([joint.mimic.multiplier]),
            "offset": _format_numbers([joint.mimic.offset]),
        }
        etree.SubElement(element, "mimic", mimic)


def _bounds(limits: Limits, positions: bool) -> dict[str, str]:
    """Attributes of <limit>, which parsers of URDF require together: those of `positions`, effort
    and velocity. None for a joint without positions whose others are infinite."""
    bounds = {"lower": limits.lower, "upper": limits.upper} if positions else {}
    bounds |= {"effort": limits.effort, "velocity": limits.velocity}
    if not positions and not any(map(math.isfinite, bounds.values())):
        return {}
    return {
        key: _format_numbers([min(max(value, -NO_LIMIT), NO_LIMIT)])
        for key, value in bounds.items()
    }


def _origin(element: etree._Element, pose: Pose) -> None:
    if pose != Pose():
        turn = ORIGIN if pose.rotation == EYE else _rpy(pose.rotation)
        etree.SubElement(
            element, "origin", xyz=_format_numbers(pose.position), rpy=_format_numbers(turn)
        )


def _rpy(R: Matrix3) -> Vector3:
    """Fixed-axis angles. At pitch ±90°, where yaw is not determined, the roll compensates for any
    rounding of yaw."""
    yaw = math.atan2(R[1][0], R[0][0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2][0], c * R[0][0] + s * R[1][0])
    return math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1]), pitch, yaw


def _format_numbers(numbers: Iterable[float]) -> str:
    """Numbers with every digit, so that reading the text gives the same numbers."""
    return " ".join(repr(float(x) + 0.0) for x in numbers)

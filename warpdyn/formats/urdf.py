"""URDF: text to Model.

lxml reads the text, with entities, DTDs and the network off. The table `TAGS` lists everything that
dynamics needs. It is copied, every attribute is checked on the way, and urdf_parser_py parses the
copy. `Model.assemble` then checks the tree.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree
from urdf_parser_py import urdf as parser  # type: ignore[import-untyped]

from ..model import Model
from ..model.description import Geometry, Joint, Link, Mimic
from ..model.joints import URDF_KINDS
from ..model.names import ModelError
from ..model.poses_and_limits import (
    EYE,
    MOST,
    NO_LIMIT,
    Limits,
    Matrix3,
    Pose,
    Vector3,
    rpy_rotation,
    unit_vector,
)
from ..model.reference_frames import Reference
from ..model.remarks import unphysical, warn
from ..model.structure import QuaternionOrder
from .meshes.colors import urdf_color
from .registry import URDF
from .robot_source import Reading, RobotSource, tag_name
from .srdf import with_group_states
from .urdf_floating_root import without_floating_root


@dataclass(frozen=True)
class Tag:
    """The parts of an element that are kept: its attributes, each with its count of numbers (0:
    text) and its default (None: required), and its children."""

    attributes: Mapping[str, tuple[int, str | None]] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    many: tuple[str, ...] = ()


TEXT, NUMBER, VECTOR = (0, None), (1, None), (3, None)
TAGS = {
    "robot": Tag({"name": (0, "")}, many=("link", "joint")),
    "link": Tag({"name": TEXT}, optional=("inertial",), many=("visual", "collision")),
    "inertial": Tag(optional=("origin", "mass", "inertia")),
    "mass": Tag({"value": NUMBER}),
    "inertia": Tag(
        {
            "ixx": NUMBER,
            "iyy": NUMBER,
            "izz": NUMBER,
            "ixy": (1, "0"),
            "ixz": (1, "0"),
            "iyz": (1, "0"),
        }
    ),
    "origin": Tag({"xyz": (3, "0 0 0"), "rpy": (3, "0 0 0")}),
    "visual": Tag({"name": (0, "")}, needed=("geometry",), optional=("origin",)),
    "collision": Tag({"name": (0, "")}, needed=("geometry",), optional=("origin",)),
    "geometry": Tag(optional=("box", "cylinder", "sphere", "mesh")),
    "box": Tag({"size": VECTOR}),
    "cylinder": Tag({"radius": NUMBER, "length": NUMBER}),
    "sphere": Tag({"radius": NUMBER}),
    "mesh": Tag({"filename": TEXT, "scale": (3, "1 1 1")}),
    "joint": Tag(
        {"name": TEXT, "type": TEXT},
        ("parent", "child"),
        ("origin", "axis", "limit", "dynamics", "mimic"),
    ),
    "parent": Tag({"link": TEXT}),
    "child": Tag({"link": TEXT}),
    "axis": Tag({"xyz": VECTOR}),
    "limit": Tag(
        {"lower": (1, "0"), "upper": (1, "0"), "velocity": (1, "inf"), "effort": (1, "inf")}
    ),
    "dynamics": Tag({"damping": (1, "0"), "friction": (1, "0")}),
    "mimic": Tag({"joint": TEXT, "multiplier": (1, "1"), "offset": (1, "0")}),
}
WITHOUT_DYNAMICS = {
    "gazebo",
    "transmission",
    "ros2_control",
    "sensor",
    "material",
    "safety_controller",
    "calibration",
    "contact",
    "contact_coefficients",
    "verbose",
}
"""Elements of URDF or of common extensions that change no motion: ignored without a remark."""


def load_urdf(
    source: str | bytes | os.PathLike[str] | RobotSource,
    *,
    floating_base: bool = False,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    srdf: str | bytes | os.PathLike[str] | None = None,
) -> Model:
    """Robot of a URDF file.

    source: a path, or the XML itself (a str or bytes whose first character that is not blank is
    "<").
    floating_base: let the root link move freely; otherwise the root is fixed to the world. If the
        root is an empty link that carries the robot on a floating joint, the link below it is the base.
    quaternion: order of a base's or a floating joint's quaternion in q, "xyzw" or "wxyz".
    base_velocity: representation of a free base's velocity, "local", "local_world_aligned" or
    "world"; see `Model.with_base_velocity`.
    srdf: an SRDF file (or text) whose group states are the model's named configurations, and whose
    disabled collisions are its `excluded_pairs`.

    Raises ModelError for a description that cannot be used. Suspicious parts that can be used are
    used as written. They are listed in a ModelWarning and in `Model.warnings`.
    """
    text = RobotSource.of(source, URDF.reader, URDF.name)
    reader = UrdfReader(text.name)
    reader.folder = text.folder
    robot = reader.parse(text.root_of(URDF))
    links = [reader.link(link) for link in robot.links]
    joints = [reader.joint(joint) for joint in robot.joints]
    if floating_base:
        links, joints = without_floating_root(text.name, links, joints, reader.remarks)
    model = Model.assemble(
        robot.name or Path(text.name).stem,
        links,
        joints,
        source=text.name,
        floating_base=floating_base,
        quaternion=quaternion,
        warnings=[*reader.ignored_lines(), *reader.remarks, *unphysical(links, joints)],
    )
    if srdf is not None:
        model = with_group_states(model, srdf)
    return warn(text.name, model.with_base_velocity(base_velocity))


class UrdfReader(Reading):
    """One load."""

    # XML to objects of urdf_parser_py.

    def parse(self, root: etree._Element) -> Any:
        """urdf_parser_py's robot, from a copy with only the elements that it knows.

        Two packages provide this module, urdf-parser-py and urdfdom_py; the one installed last is
        imported. Names of shapes are read separately, because urdfdom_py does not know them.
        """
        kept = self._copy(root, "robot")
        names = {
            tag: iter([shape.attrib.pop("name") for shape in kept.iter(tag)])
            for tag in ("visual", "collision")
        }
        try:
            robot = parser.URDF.from_xml_string(etree.tostring(kept))
        except Exception as error:  # any error on a copy that passed the table
            raise ModelError(
                f"{self.source}: urdf_parser_py refuses it: {error}; correct that element"
            ) from error
        for link in robot.links:
            for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
                for shape in shapes:
                    shape.name = next(names[tag])
        return robot

    def _copy(self, element: etree._Element, tag: str) -> etree._Element:
        """The part of an element that `TAGS` names, checked, with its defaults written out."""
        rule = TAGS[tag]
        single = rule.needed + rule.optional
        copy = etree.Element(tag)
        self._copy_attributes(element, tag, copy)
        seen: set[str] = set()
        for child in element:
            name = tag_name(child)
            if name.startswith("xacro:") and not (
                tag == "robot" and self._is_ignorable_xacro(element)
            ):
                raise self.refusal(
                    child,
                    "a xacro element is left; use wd.load_xacro(path, ARGUMENT=VALUE), which expands "
                    "it, or expand the file first with xacro",
                )
            # If an element may occur only once, the first is used and further ones are reported.
            if name in rule.many or (name in single and name not in seen):
                copied = (
                    self._copy_shape(child, name)
                    if name in ("visual", "collision")
                    else self._copy(child, name)
                )
                if copied is not None:
                    copy.append(copied)
            elif name not in WITHOUT_DYNAMICS:
                self.ignore(
                    f"{'second ' if name in single else ''}element <{name}> of <{tag}>", child
                )
            seen.add(name)
        missing = [name for name in rule.needed if name not in seen]
        if missing:
            raise self.refusal(element, f"it has no <{missing[0]}>; add one")
        if tag == "geometry" and len(copy) != 1:
            raise self.refusal(element, "<geometry> needs one of box, cylinder, sphere, mesh")
        if tag == "inertial" and "mass" not in seen:
            self.remarks.append(f"{self.place(element)}: <inertial> has no <mass>; taken as 0 kg")
            etree.SubElement(copy, "mass", value="0")
        return copy

    def _is_ignorable_xacro(self, robot: etree._Element) -> bool:
        """True if a xacro element next to links can be ignored, as urdfdom does; false if the robot
        has no other elements."""
        return not self.source.endswith(".xacro") and robot.find("{*}link") is not None

    def _copy_attributes(self, element: etree._Element, tag: str, copy: etree._Element) -> None:
        written = {str(key): str(value) for key, value in element.attrib.items()}
        if tag == "origin" and "quat_xyzw" in written:
            raise self.refusal(
                element, "<origin> has quat_xyzw, which is not supported; write the rotation as rpy"
            )
        if tag == "limit" and "lower" not in written and "upper" not in written:
            written |= {"lower": "-inf", "upper": "inf"}
        for key, (count, default) in TAGS[tag].attributes.items():
            value = written.pop(key, default)
            if value is None or (default is None and not value.strip()):
                raise self.refusal(element, f'<{tag}> has no {key}; write {key}="..."')
            if count:
                infinite = tag == "limit"
                largest = math.inf if tag in ("limit", "dynamics", "axis") else MOST
                self.finite_numbers(element, f"<{tag}> {key}", value, count, infinite, largest)
            if tag == "joint" and key == "type" and value not in URDF_KINDS:
                raise self.refusal(
                    element, f'its type "{value}" is unknown; a joint is {", ".join(URDF_KINDS)}'
                )
            copy.set(key, value)
        for key in written:
            if (tag, key) != ("robot", "version"):
                self.ignore(f'attribute "{key}" of <{tag}>', element)

    def _copy_shape(self, element: etree._Element, tag: str) -> etree._Element | None:
        """A visual or collision element. No motion depends on it, so an error in it is only
        remarked."""
        try:
            copy = self._copy(element, tag)
            color = urdf_color(element) if tag == "visual" else None
            if color is not None:
                material = etree.SubElement(copy, "material", name="shown")
                etree.SubElement(material, "color", rgba=" ".join(map(repr, color)))
            return copy
        except ModelError as error:
            self.remarks.append(
                f"{str(error).removeprefix(self.source + ': ')}; this {tag} is left out"
            )
            return None

    def place(self, element: etree._Element) -> str:
        """The link or joint that an element belongs to, or else the element."""
        for around in (element, *element.iterancestors()):
            if tag_name(around) in ("link", "joint") and around.get("name"):
                return f'{tag_name(around)} "{around.get("name")}"'
        return f"<{tag_name(element)}>"

    # Objects of urdf_parser_py to links and joints.

    def link(self, link: Any) -> Link:
        visuals, collisions = (
            tuple(_geometry(shape, self.folder) for shape in shapes)
            for shapes in (link.visuals, link.collisions)
        )
        if link.inertial is None:
            return Link(link.name, visuals=visuals, collisions=collisions)
        mass, inertia, pose = link.inertial.mass, parser.Inertia(), _pose(link.inertial.origin)
        if link.inertial.inertia is not None:
            inertia = link.inertial.inertia
        elif mass:
            self.remarks.append(
                f'link "{link.name}": <inertial> has no <inertia>; taken as a point mass'
            )
        return Link(
            name=link.name,
            mass=mass,
            com=pose.position,
            inertia=_rotate_inertia(inertia, pose.rotation),
            visuals=visuals,
            collisions=collisions,
        )

    def joint(self, joint: Any) -> Joint:
        kind, place = URDF_KINDS[joint.type], f'joint "{joint.name}"'
        limits = Limits()
        if joint.limit is not None:
            written = joint.limit
            bounds = (written.lower, written.upper, written.velocity, written.effort)
            limits = Limits(
                *(x if abs(x) < NO_LIMIT else math.copysign(math.inf, x) for x in bounds)
            )
        if not kind.needs_limits:
            limits = Limits(velocity=limits.velocity, effort=limits.effort) if kind.nv else Limits()
        elif limits.lower == -math.inf and limits.upper == math.inf:
            self.remarks.append(
                f"{place}: a {kind.name} joint without position limits; taken as unlimited"
            )
        mimic = None
        if joint.mimic is not None and kind.nv:  # files that fix a joint often leave its <mimic>
            mimic = Mimic(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
        return Joint(
            name=joint.name,
            kind=kind,
            parent=joint.parent,
            child=joint.child,
            pose=_pose(joint.origin),
            axis=unit_vector(joint.axis)
            if kind.has_axis and joint.axis is not None
            else Joint.axis,
            limits=limits,
            damping=joint.dynamics.damping if joint.dynamics else 0.0,
            friction=joint.dynamics.friction if joint.dynamics else 0.0,
            mimic=mimic,
        )


# Numbers.


def _vector(values: Any) -> Vector3:
    x, y, z = values
    return (x, y, z)


def _dot(a: Iterable[float], b: Iterable[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _pose(origin: Any) -> Pose:
    if origin is None:
        return Pose()
    return Pose(_vector(origin.xyz), rpy_rotation(*origin.rpy) if any(origin.rpy) else EYE)


def _rotate_inertia(inertia: Any, rotation: Matrix3) -> Matrix3:
    """R I R^T, symmetric to the last bit: an inertia given in the axes of its <origin>, turned to
    those of its link."""
    written = inertia.to_matrix()
    if rotation is not EYE:
        half = [[_dot(row, column) for column in written] for row in rotation]
        written = [[_dot(half[max(i, j)], rotation[min(i, j)]) for j in range(3)] for i in range(3)]
    return (_vector(written[0]), _vector(written[1]), _vector(written[2]))


def _geometry(element: Any, folder: Path | None) -> Geometry:
    shape = element.geometry
    sizes = {
        "box": lambda: _vector(shape.size),
        "cylinder": lambda: (shape.radius, shape.length),
        "sphere": lambda: (shape.radius,),
        "mesh": lambda: _vector(shape.scale),
    }
    kind, material = type(shape).__name__.lower(), getattr(element, "material", None)
    return Geometry(
        shape=kind,
        size=sizes[kind](),
        filename=getattr(shape, "filename", None),
        pose=_pose(element.origin),
        name=element.name or None,
        folder=folder,
        color=tuple(material.color.rgba) if material is not None else None,
    )

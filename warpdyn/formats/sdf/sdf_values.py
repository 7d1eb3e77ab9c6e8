"""SDF: the values of XML elements, their defaults, and the messages about values that cannot be
used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from lxml import etree

from ...algebra.quaternions import quaternion_rotation
from ...algebra.spatial import HERE, IDENTITY, Placement, Rotation, Vector
from ...model.joints import JointKind
from ...model.poses_and_limits import MOST, Limits, rpy_rotation, vector3
from ..robot_source import Reading, tag_name

Element: TypeAlias = etree._Element

READ: Mapping[str, tuple[str, ...]] = {
    "world": ("model", "joint", "frame", "include", "gravity", "state", "population"),
    "model": ("static", "pose", "link", "joint", "frame", "model", "include"),
    "link": ("pose", "inertial", "visual", "collision", "gravity"),
    "inertial": ("pose", "mass", "inertia"),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
    "joint": (
        "pose",
        "parent",
        "child",
        "axis",
        "axis2",
        "physics",
        "gearbox_ratio",
        "gearbox_reference_body",
        "thread_pitch",
        "screw_thread_pitch",
    ),
    "axis": ("xyz", "use_parent_model_frame", "limit", "dynamics", "mimic"),
    "axis2": ("xyz", "use_parent_model_frame", "limit", "dynamics", "mimic"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("multiplier", "offset", "reference"),
    "frame": ("pose",),
    "visual": ("pose", "geometry", "material"),
    "collision": ("pose", "geometry"),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("radii",),
    "plane": ("normal", "size"),
    "mesh": ("uri", "scale"),
}
"""Child elements that are read. Others are remarked, except for those in the next table."""

WITHOUT_DYNAMICS = {
    "plugin",
    "gripper",
    "sensor",
    "light",
    "projector",
    "audio_sink",
    "audio_source",
    "battery",
    "particle_emitter",
    "self_collide",
    "allow_auto_disable",
    "enable_wind",
    "density",
    "auto_inertia_params",
    "stiffness",
    "dissipation",
    "spring_reference",
    "model_state",
    "provideFeedback",
    "physics",
    "actor",
    "scene",
    "gui",
    "audio",
    "wind",
    "atmosphere",
    "magnetic_field",
    "spherical_coordinates",
    "road",
    "laser_retro",
    "max_contacts",
    "cast_shadows",
    "transparency",
    "visibility_flags",
    "meta",
}
"""SDFormat elements that change no motion here: ignored without a remark."""

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "model": ("name", "canonical_link", "placement_frame"),
    "link": ("name",),
    "joint": ("name", "type"),
    "frame": ("name", "attached_to"),
    "visual": ("name",),
    "collision": ("name",),
    "inertial": ("auto",),
    "mimic": ("joint", "axis"),
    "xyz": ("expressed_in",),
}
"""Attributes that are read; `SdfValues` adds those of <pose>. Others are remarked."""

TRUE, FALSE = {"1", "true"}, {"0", "false"}

OLD_INFINITY = 1e16
"""SDFormat's old way to write infinity: limits of at least this size."""


class SdfValues(Reading):
    """One load, with the file's SDFormat version."""

    def __init__(self, source: str, version: tuple[int, int]) -> None:
        super().__init__(source)
        self.version = version

    def place(self, element: Element) -> str:
        return place(element)

    # Elements.

    def look_over(self, element: Element) -> None:
        """Note attributes and child elements that are not read, unless they change nothing."""
        self._look_over_attributes(element)
        self.look_over_children(element)

    def look_over_children(self, element: Element) -> None:
        """Note child elements that are not read, unless they change nothing."""
        tag, seen = tag_name(element), set[str]()
        many = ("link", "joint", "frame", "model", "include", "visual", "collision")
        for child in element:
            name = tag_name(child)
            if name in READ[tag]:
                if name in seen and name not in many:
                    self.ignore(f"second element <{name}> of <{tag}>", child)
            elif name not in WITHOUT_DYNAMICS and not _says_nothing(child):
                self.ignore(f"element <{name}> of <{tag}>", child)
            seen.add(name)

    def _look_over_attributes(self, element: Element) -> None:
        """Note attributes of the element, its pose and its axis that are not read. A misplaced one
        may mean another frame, such as `frame` of a <pose> from 1.7 on."""
        tag = tag_name(element)
        frame = "relative_to" if self.version >= (1, 7) else "frame"
        read = (frame, "degrees", "rotation_format") if tag == "pose" else ATTRIBUTES.get(tag, ())
        for key, value in element.attrib.items():
            if key not in read and value.strip():
                self.ignore(f'attribute "{etree.QName(key).localname}" of <{tag}>', element)
        inner = {"link": ("pose", "visual", "collision")}.get(tag, ("pose", "xyz"))
        for part in children(element, *inner):
            self._look_over_attributes(part)

    def name(self, element: Element) -> str:
        name = element.get("name", "")
        if not name.strip():
            raise self.refusal(element, f'<{tag_name(element)}> has no name; write name="..."')
        if name in ("world", "__model__", "__root__"):
            raise self.refusal(
                element, f'the name "{name}" is reserved by SDFormat; choose another'
            )
        return name

    # Values of children.

    def child_string(self, element: Element, tag: str) -> str:
        """Text of a child, blanks stripped; "" if there is no such child."""
        found = child(element, tag)
        return "" if found is None else (found.text or "").strip()

    def flag(self, element: Element, tag: str) -> bool | None:
        """The boolean of a child; None if there is no such child."""
        found = child(element, tag)
        return None if found is None else self.truth(found, tag, found.text or "")

    def truth(self, element: Element, what: str, text: str) -> bool:
        word = text.strip().lower()
        if word not in TRUE | FALSE:
            raise self.refusal(element, f'{what} is "{text.strip()}"; it needs true or false')
        return word in TRUE

    def number(
        self, element: Element | None, tag: str, default: float, infinite: bool = False
    ) -> float:
        """The number of a child, finite unless `infinite`; the default if there is no such child."""
        found = None if element is None else child(element, tag)
        if found is None or not (found.text or "").strip():
            return default
        return self.numbers(found, found.text or "", 1, infinite)[0]

    def numbers(
        self, element: Element, text: str, count: int, infinite: bool = False
    ) -> list[float]:
        what = f"<{tag_name(element)}>"
        largest = math.inf if infinite else MOST
        return self.finite_numbers(element, what, text.strip(), count, infinite, largest)

    def pose(self, element: Element) -> tuple[Placement, str]:
        """The <pose> of an element and the name of the frame that it is given in ("" for the
        default)."""
        found = child(element, "pose")
        if found is None:
            return HERE, ""
        relative_to = found.get("relative_to" if self.version >= (1, 7) else "frame", "")
        text, rotation_format = found.text or "", found.get("rotation_format", "euler_rpy")
        degrees = self.truth(found, "degrees", found.get("degrees", "false"))
        if rotation_format not in ("euler_rpy", "quat_xyzw"):
            raise self.refusal(
                found, f'rotation_format is "{rotation_format}"; it needs euler_rpy or quat_xyzw'
            )
        if rotation_format == "quat_xyzw":
            values = self.numbers(found, text, 7) if text.strip() else [0.0] * 6 + [1.0]
            size = math.hypot(*values[3:])
            if degrees or not 0.5 < size < 2.0:
                raise self.refusal(
                    found,
                    "a quaternion must be of unit length and has no degrees; correct the pose",
                )
            turn = quaternion_rotation([x / size for x in values[3:]])
        else:
            values = self.numbers(found, text, 6) if text.strip() else [0.0] * 6
            angles = [math.radians(x) if degrees else x for x in values[3:]]
            rows = [Vector(*row) for row in rpy_rotation(*angles)]
            turn = Rotation(rows) if any(angles) else IDENTITY
        return Placement(turn, Vector(*vector3(values[:3]))), relative_to

    # Joints.

    def axis_data(self, kind: JointKind, axis: Element | None) -> tuple[Limits, float, float]:
        """Limits, damping and friction of an axis."""
        if axis is None:
            return Limits(), 0.0, 0.0
        limit, dynamics = child(axis, "limit"), child(axis, "dynamics")
        for part in (axis, limit, dynamics):
            if part is not None:
                self.look_over(part)
        lower = self.number(limit, "lower", -math.inf, infinite=True)
        upper = self.number(limit, "upper", math.inf, infinite=True)
        velocity = self.number(limit, "velocity", math.inf, infinite=True)
        effort = self.number(limit, "effort", math.inf, infinite=True)
        bounds = Limits(
            lower=_is_unlimited(lower),
            upper=_is_unlimited(upper),
            velocity=_read_bound(velocity),
            effort=_read_bound(effort),
        )
        # In a model, continuous joints and quaternions have no position limits.
        if kind.endless or kind.quaternion is not None:
            bounds = Limits(velocity=bounds.velocity, effort=bounds.effort)
        return (
            bounds,
            self.number(dynamics, "damping", 0.0),
            self.number(dynamics, "friction", 0.0),
        )

    def pitch(self, element: Element) -> float:
        """Advance [m/rad], positive for a right-handed thread.

        screw_thread_pitch is in metres per revolution, right-handed; thread_pitch in radians per
        metre, left-handed.
        """
        if (
            child(element, "screw_thread_pitch") is None
            and child(element, "thread_pitch") is not None
        ):
            turns = self.number(element, "thread_pitch", 1.0)
            if turns == 0.0:
                raise self.refusal(
                    element, "its thread_pitch is 0 rad/m, which is an infinite advance; correct it"
                )
            return -1.0 / turns
        if child(element, "screw_thread_pitch") is None:
            self.remarks.append(
                f"{place(element)}: it has no pitch; SDF's default is 1 m per revolution"
            )
        return self.number(element, "screw_thread_pitch", 1.0) / (2.0 * math.pi)


def child(element: Element, tag: str) -> Element | None:
    """The first child of that name."""
    return next((found for found in element if tag_name(found) == tag), None)


def children(element: Element, *tags: str) -> list[Element]:
    return [found for found in element if tag_name(found) in tags]


def place(element: Element) -> str:
    """The link, joint, frame or model that an element belongs to, with the surrounding models, or
    else the element."""
    named: list[Element] = []
    for around in (element, *element.iterancestors()):
        kinds = ("model",) if named else ("link", "joint", "frame", "model")
        if tag_name(around) in kinds and around.get("name"):
            named.append(around)
    if not named:
        return f"<{tag_name(element)}>"
    path = "::".join(around.get("name", "") for around in reversed(named))
    return f'{tag_name(named[0])} "{path}"'


def _says_nothing(element: Element) -> bool:
    """True if everything in it is empty, zero or false, attributes too."""
    texts = [
        str(text) for part in element.iter() for text in (part.text or "", *part.attrib.values())
    ]
    return all(word in ("0", "false") or _zero(word) for text in texts for word in text.split())


def _zero(word: str) -> bool:
    try:
        return float(word) == 0.0
    except ValueError:
        return False


def _is_unlimited(x: float) -> float:
    return x if abs(x) < OLD_INFINITY else math.copysign(math.inf, x)


def _read_bound(x: float) -> float:
    """A bound; a negative one is not enforced."""
    return x if 0.0 <= x < OLD_INFINITY else math.inf

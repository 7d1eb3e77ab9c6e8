"""MJCF: numbers, orientations, default classes and compiler settings of XML elements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from lxml import etree

from ...algebra.quaternions import quaternion_exp, quaternion_rotation
from ...algebra.scalar import as_number
from ...algebra.spatial import (
    IDENTITY,
    AxisRotation,
    Placement,
    Rotation,
    TwoRotations,
    Vector,
    as_matrix,
)
from ...model.poses_and_limits import MOST, unit_vector, vector3
from ..robot_source import Reading, tag_name
from .mjcf_defaults import TURNS, with_class_defaults
from .mjcf_flags import Flags

Element: TypeAlias = etree._Element
Attributes = Mapping[str, str]

ACTUATORS = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "pid",
    "orientation",
    "plugin",
)
"""The elements of <actuator>."""

ACTUATOR_LAW = (
    "dyntype",
    "gaintype",
    "biastype",
    "dynprm",
    "gainprm",
    "biasprm",
    "kp",
    "kv",
    "dampratio",
    "timeconst",
    "inheritrange",
    "area",
    "diameter",
    "bias",
    "gain",
    "ctrlrange",
)
"""Attributes of actuators that `mjcf_actuator_laws` reads, by its own rule."""

ACTUATOR = "actuator"
"""The key under which a default class keeps the attributes that all actuator elements share."""

COMPILER = "{warpdyn}compiler"
"""Attribute of elements from another file's model: the index of that model's settings in
`MjcfValues.compilers`."""

TINY = 1e-14
"""Vectors shorter than this have no direction, as in MuJoCo."""

MEASURED = (
    "pos",
    "fromto",
    "size",
    "mass",
    "density",
    "diaginertia",
    "fullinertia",
    "armature",
    "euler",
    "axisangle",
    "ref",
    "axis",
)
"""Attributes that hold lengths, masses and angles."""

BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Compiler:
    """The settings of <compiler>: units, angle sequences and rules for inertias."""

    radians: bool = False
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    inertiagrouprange: tuple[int, int] = (0, 5)
    balanceinertia: bool = False
    boundmass: float = 0.0
    boundinertia: float = 0.0
    settotalmass: float = -1.0
    alignfree: bool = False
    fitaabb: bool = False
    fusestatic: bool = False
    raw: Attributes = field(default_factory=dict)

    def angle(self, value: float) -> float:
        return value if self.radians else math.radians(value)

    def euler(self, angles: list[float]) -> Rotation:
        """The rotation of Euler angles. Small letters of eulerseq turn about the axes as they are
        turned, capitals about the fixed ones."""
        R = IDENTITY
        for letter, angle in zip(self.eulerseq, angles, strict=True):
            angle = self.angle(angle)
            turn = AxisRotation("xyz".index(letter.lower()), math.cos(angle), math.sin(angle))
            R = as_matrix(TwoRotations(R, turn) if letter.islower() else TwoRotations(turn, R))
        return R


class MjcfValues(Reading):
    """One load, with the file's compiler settings and default classes."""

    def __init__(
        self, source: str, root: Element, files: Mapping[Element, str] = MappingProxyType({})
    ) -> None:
        super().__init__(source, files)
        self.flags = Flags(self, root)
        self.compiler = self._compiler(root)
        self.compilers = [self.compiler]
        """The file's own settings, and those of attached models."""
        self.classes: dict[str, dict[str, dict[str, str]]] = {}
        self.actuator_defaults: dict[str, tuple[tuple[Element, ...], ...]] = {}
        """The actuator elements of each default class: its own, then those of each surrounding
        class."""
        self.force_ranges: dict[str, tuple[float, float]] = {}
        """Bounds on the sum of all actuator forces of a joint [N·m, N], for ranges whose two ends
        differ."""
        for element in root.findall("default"):
            self._read_class(element, None)

    def place(self, element: Element) -> str:
        return place(element)

    def compiler_of(self, element: Element) -> Compiler:
        """The compiler settings that apply to an element."""
        if len(self.compilers) > 1:
            for around in (element, *element.iterancestors()):
                if COMPILER in around.attrib:
                    return self.compilers[int(str(around.get(COMPILER)))]
        return self.compiler

    # Numbers and words.

    def numbers(self, element: Element, key: str, written: Attributes, count: int) -> list[float]:
        """The finite numbers of an attribute that is present; lengths, masses and angles must be
        below `MOST`."""
        numbers = self.finite_numbers(element, key, written[key], count)
        if key in MEASURED and any(abs(x) > MOST for x in numbers):
            raise self.refusal(
                element,
                f'{key} is "{written[key]}"; numbers beyond {MOST:g} are refused; correct it',
            )
        return numbers

    def number(self, element: Element, key: str, written: Attributes, default: float) -> float:
        return self.numbers(element, key, written, 1)[0] if key in written else default

    def vector(
        self,
        element: Element,
        key: str,
        written: Attributes,
        default: tuple[float, ...] = (0, 0, 0),
    ) -> Vector:
        return Vector(
            *(self.numbers(element, key, written, 3) if key in written else map(float, default))
        )

    def choice(
        self, element: Element, key: str, written: Attributes, default: str, words: tuple[str, ...]
    ) -> str:
        word = written.get(key, default)
        if word not in words:
            raise self.refusal(element, f'{key} is "{word}"; it must be one of {", ".join(words)}')
        return word

    def boolean(self, element: Element, key: str, written: Attributes, default: bool) -> bool:
        return BOOLEANS[self.choice(element, key, written, str(default).lower(), tuple(BOOLEANS))]

    def bounds(
        self, element: Element, written: Attributes, key: str, switch: str
    ) -> tuple[float, ...]:
        """The two ends of a range if it applies: if `switch` says so or, without a switch, if the
        range is present. Otherwise nothing."""
        limited = self.choice(element, switch, written, "auto", ("auto", "true", "false"))
        if key not in written or limited == "false":
            return ()
        if limited == "auto" and not self.compiler_of(element).autolimits:
            raise self.refusal(
                element, f'it has {key}, but autolimits is off; write {switch}="true" or "false"'
            )
        low, high = self.numbers(element, key, written, 2)
        if limited == "true" and low > high:
            raise self.refusal(element, f"{key} must be increasing, got {low:g} {high:g}")
        return (low, high) if limited == "true" or low < high else ()

    # Places.

    def placement(self, element: Element, written: Attributes) -> Placement:
        return Placement(self.rotation(element, written), self.vector(element, "pos", written))

    def shape_placement(self, element: Element, written: Attributes) -> Placement:
        """The placement of a geom or a site: between two ends, or as written."""
        if "fromto" not in written:
            return self.placement(element, written)
        ends = self.numbers(element, "fromto", written, 6)
        a, b = Vector(*ends[:3]), Vector(*ends[3:])
        along = unit_vector(a - b)
        return Placement(z_to(Vector(*along)) if any(along) else IDENTITY, (a + b) * 0.5)

    def rotation(self, element: Element, written: Attributes) -> Rotation:
        """An element's orientation, from whichever of `TURNS` it has."""
        ways = [key for key in TURNS if key in written]
        if len(ways) > 1:
            raise self.refusal(
                element, f"it has both {ways[0]} and {ways[1]}; write its orientation in one way"
            )
        if not ways:
            return IDENTITY
        (way,) = ways
        numbers = self.numbers(
            element, way, written, {"quat": 4, "axisangle": 4, "xyaxes": 6}.get(way, 3)
        )
        if way == "euler":
            return self.compiler_of(element).euler(numbers)
        first, second = Vector(*numbers[:3]), Vector(*numbers[-3:])
        if way == "quat":
            norm = math.hypot(*numbers)
            if norm < TINY:
                raise self.refusal(element, "quat is zero; write 1 0 0 0 for no rotation")
            w, x, y, z = (number / norm for number in numbers)
            return quaternion_rotation([x, y, z, w])
        if way == "axisangle":
            return _rotation_about(
                self._direction(element, way, first), self.compiler_of(element).angle(numbers[3])
            )
        if way == "zaxis":
            return z_to(self._direction(element, way, first))
        # MuJoCo's xyaxes need not be perpendicular: y is corrected, x is kept.
        x_axis = self._direction(element, way, first)
        y_axis = self._direction(element, way, second - x_axis * x_axis.dot(second))
        z_axis = x_axis.cross(y_axis)
        return Rotation([Vector(*row) for row in zip(x_axis, y_axis, z_axis, strict=True)])

    def _direction(self, element: Element, key: str, u: Vector) -> Vector:
        norm = math.hypot(*u)
        if norm < TINY:
            raise self.refusal(element, f"{key} has an axis of length zero; give it a direction")
        return u * (1.0 / norm)

    # Default classes.

    def attributes(self, element: Element, tag: str, childclass: str | None) -> dict[str, str]:
        """An element's attributes combined with those of its default class."""
        plain = ((str(key), str(value)) for key, value in element.attrib.items())
        written = {key: value for key, value in plain if not key.startswith("{")}
        name = written.pop("class", childclass)
        defaults = self.defaults(element, name).get(tag, {})
        return with_class_defaults(written, defaults)

    def defaults(self, element: Element, name: str | None) -> Mapping[str, dict[str, str]]:
        if name is None:
            return self.classes.get("", {})
        if name not in self.classes:
            known = ", ".join(filter(None, self.classes)) or "none"
            raise self.refusal(
                element, f'there is no default class "{name}"; the classes are {known}'
            )
        return self.classes[name]

    def _read_class(self, element: Element, parent: str | None) -> None:
        """Read a default class, which starts as a copy of its parent. The outermost applies to
        elements without a class."""
        name = element.get("class", "main" if parent is None else "")
        if not name:
            raise self.refusal(
                element, 'a <default> inside another has no class; write class="..."'
            )
        if name in self.classes and parent is not None:
            raise self.refusal(
                element, f'two default classes are named "{name}"; give each its own name'
            )
        start = self.classes.get(name if parent is None else parent, {})
        collected = self.classes[name] = {tag: dict(values) for tag, values in start.items()}
        own, *around = self.actuator_defaults.get(name if parent is None else parent, ((),))
        if parent is not None:
            own, around = (), [own, *around]
        # All actuator elements of a class share one set of attributes. Laws are kept as elements,
        # because a shortcut replaces a law instead of changing its attributes.
        for child in element:
            tag = tag_name(child)
            written = {str(key): str(value) for key, value in child.attrib.items()}
            if tag in ACTUATORS:
                own, tag = (*own, child), ACTUATOR
                written = {k: x for k, x in written.items() if k not in ACTUATOR_LAW}
            if tag != "default":
                collected[tag] = with_class_defaults(written, collected.get(tag, {}))
        self.actuator_defaults[name] = (own, *around)
        if parent is None:
            self.classes[""], self.actuator_defaults[""] = collected, self.actuator_defaults[name]
        for child in element.findall("default"):
            self._read_class(child, name)

    def settings(self, root: Element, tag: str = "compiler") -> dict[str, str]:
        """Attributes of every <compiler> (or section `tag`) of the file; for repeated attributes
        the last value."""
        written: dict[str, str] = {}
        for element in root.findall(tag):
            written |= {str(key): str(value) for key, value in element.attrib.items()}
        return written

    def _compiler(self, root: Element) -> Compiler:
        written = self.settings(root)
        element = next(root.iterchildren("compiler", reversed=True), root)
        if written.get("coordinate", "local") != "local":
            raise self.refusal(
                element,
                f'coordinate="{written["coordinate"]}" is no longer part of MJCF; write local frames',
            )
        sequence = written.get("eulerseq", "xyz")
        if len(sequence) != 3 or not set(sequence) <= set("xyzXYZ"):
            raise self.refusal(
                element, f'eulerseq is "{sequence}"; it needs three letters of xyzXYZ'
            )
        groups = self.numbers(
            element, "inertiagrouprange", {"inertiagrouprange": "0 5", **written}, 2
        )
        unit = self.choice(element, "angle", written, "degree", ("degree", "radian"))
        rule = self.choice(element, "inertiafromgeom", written, "auto", ("auto", "true", "false"))
        # Attributes that affect masses are also kept as written, for the text that MuJoCo compiles.
        weighing = ("angle", "eulerseq", "inertiagrouprange", "exactmeshinertia", "fitaabb")
        return Compiler(
            radians=unit == "radian",
            eulerseq=sequence,
            autolimits=self.boolean(element, "autolimits", written, True),
            inertiafromgeom=rule,
            inertiagrouprange=(int(groups[0]), int(groups[1])),
            balanceinertia=self.boolean(element, "balanceinertia", written, False),
            boundmass=self.number(element, "boundmass", written, 0.0),
            boundinertia=self.number(element, "boundinertia", written, 0.0),
            settotalmass=self.number(element, "settotalmass", written, -1.0),
            alignfree=self.boolean(element, "alignfree", written, False),
            fitaabb=self.boolean(element, "fitaabb", written, False),
            fusestatic=self.boolean(element, "fusestatic", written, False),
            raw={key: written[key] for key in weighing if key in written},
        )


def place(element: Element) -> str:
    """The named element that an element is or belongs to."""
    for around in (element, *element.iterancestors()):
        name = around.get("name")
        if name and tag_name(around) not in ("frame", "mujoco"):
            inner = "" if around is element else f", <{tag_name(element)}>"
            return f'{tag_name(around)} "{name}"{inner}'
    return f"<{tag_name(element)}>"


def z_to(direction: Vector) -> Rotation:
    """The smallest rotation that brings the z axis to a unit vector."""
    axis = Vector(0.0, 0.0, 1.0).cross(direction)
    sine = math.hypot(*axis)
    axis = axis * (1.0 / sine) if sine > TINY else Vector(1.0, 0.0, 0.0)
    return _rotation_about(axis, math.atan2(sine, as_number(direction.z)))


def _rotation_about(axis: Vector, angle: float) -> Rotation:
    return quaternion_rotation(quaternion_exp(vector3(axis * angle)))

"""MJCF: gain, bias and activation of an actuator, from its element and its default classes.

A default class holds one law for all actuator elements. <general> changes that law attribute by
attribute. Every other element is a shortcut, which replaces the law. If a shortcut omits a
parameter, its value comes from the nearest class whose law was written with the same shortcut, or
with <general> and the gain type of the shortcut, and otherwise from MuJoCo's defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...model.actuators import Affine
from ...model.names import ModelError
from ..robot_source import tag_name
from .mjcf_powers import Numbers, first_numbers
from .mjcf_values import Attributes, Element, MjcfValues

GAIN_TYPES = {
    "damper": "affine",
    "muscle": "muscle",
    "dcmotor": "dcmotor",
    "pid": "pid",
    "orientation": "so3",
}
"""The gain types of these shortcuts; all other shortcuts have a fixed gain."""


@dataclass(frozen=True)
class ActuatorLaw:
    """Force = gain · control + bias. Gain and bias each hold a constant and factors of length and
    rate."""

    element: str = "general"
    """The element that last wrote the law."""
    activation: str = "none"
    """MuJoCo's dyntype."""
    time: float = 1.0
    """First number of dynprm [s]."""
    gain_type: str = "fixed"
    bias_type: str = "none"
    gain: Affine = (1.0, 0.0, 0.0)
    bias: Affine = (0.0, 0.0, 0.0)
    inheritrange: float = 0.0
    """Range of control, as a fraction of the target's range. 0: not inherited."""
    ctrlrange: str = ""
    """Range of control as written in the file. Of ctrlrange and inheritrange, the last one written
    applies."""
    ctrllimited: str = ""
    """The switch of ctrlrange, as the last element of a class wrote it."""

    @property
    def is_servo(self) -> bool:
        """True if MuJoCo treats the law as a position servo, to which inheritrange applies."""
        fixed = self.gain_type == "fixed" and self.bias_type == "affine"
        return fixed and self.gain[0] == -self.bias[1]

    @property
    def has_damping_ratio(self) -> bool:
        """True if the factors of control and length cancel: MuJoCo then reads a positive factor of
        the rate as a damping ratio."""
        balanced = self.gain[0] == -self.bias[1]
        return self.bias_type == "affine" and balanced and self.bias[2] > 0

    @property
    def affine_gain(self) -> Affine:
        return self.gain if self.gain_type == "affine" else (self.gain[0], 0.0, 0.0)

    @property
    def affine_bias(self) -> Affine:
        return self.bias if self.bias_type == "affine" else (0.0, 0.0, 0.0)


class ActuatorElement(NamedTuple):
    """An element with a law, and the attributes that it writes itself."""

    values: MjcfValues
    xml: Element
    written: Attributes

    def number(self, key: str, default: float) -> float:
        return self.values.number(self.xml, key, self.written, default)

    def not_negative(self, key: str) -> float:
        number = self.number(key, 0.0)
        if number < 0:
            raise self.refusal(f"{key} is {number:g}; it must be at least 0")
        return number

    def first(self, key: str, start: Numbers) -> Numbers:
        """The first numbers of a list; missing ones keep their values in `start`."""
        return first_numbers(self.values, self.xml, key, self.written, start)

    def refusal(self, said: str) -> ModelError:
        return self.values.refusal(self.xml, said)


Laws = tuple[ActuatorLaw, ...]
"""The law of a default class, then those of the classes around it, the nearest first."""


def actuator_law(values: MjcfValues, element: Element) -> ActuatorLaw:
    """The law of an element of <actuator>, based on those of its default class."""
    name = element.get("class")
    values.defaults(element, name)
    classes: Laws = ()
    for elements in reversed(values.actuator_defaults.get(name or "", ((),))):
        law = classes[0] if classes else ActuatorLaw()
        for default in elements:
            law = _change_law(values, default, (law, *classes))
        classes = (law, *classes)
    return _change_law(values, element, classes)


def _change_law(values: MjcfValues, element: Element, classes: Laws) -> ActuatorLaw:
    """The first law of `classes`, changed by this element; the further ones belong to the
    surrounding classes."""
    written = {str(key): str(value) for key, value in element.attrib.items()}
    word, own = tag_name(element), ActuatorElement(values, element, written)
    if word == "general":
        return _general(own, classes[0])
    source = next((law for law in classes if _continues(law, word)), ActuatorLaw())
    law = ActuatorLaw(
        word,
        gain_type=GAIN_TYPES.get(word, "fixed"),
        ctrlrange=written.get("ctrlrange", classes[0].ctrlrange),
        # MuJoCo limits the control of these two, also where their class says "false".
        ctrllimited="true"
        if word in ("damper", "adhesion")
        else written.get("ctrllimited", classes[0].ctrllimited),
    )
    shortcut = SHORTCUTS.get(word)
    return shortcut(own, source, law) if shortcut else law


def _continues(law: ActuatorLaw, word: str) -> bool:
    """True if a shortcut takes the parameters that it omits from this law."""
    same_gain = law.gain_type == GAIN_TYPES.get(word, "fixed")
    return law.element == word or (law.element == "general" and same_gain)


def _general(element: ActuatorElement, law: ActuatorLaw) -> ActuatorLaw:
    return replace(
        law,
        element="general",
        ctrlrange=element.written.get("ctrlrange", law.ctrlrange),
        ctrllimited=element.written.get("ctrllimited", law.ctrllimited),
        activation=element.written.get("dyntype", law.activation),
        time=element.first("dynprm", (law.time,))[0],
        gain_type=element.written.get("gaintype", law.gain_type),
        bias_type=element.written.get("biastype", law.bias_type),
        gain=element.first("gainprm", law.gain),
        bias=element.first("biasprm", law.bias),
    )


def _servo(element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw) -> ActuatorLaw:
    """Read <position> and <intvelocity>. The factor of the rate is -kv, or dampratio."""
    kp = element.number("kp", source.gain[0])
    rate = source.bias[2]
    if "kv" in element.written and "dampratio" in element.written:
        raise element.refusal("it has both kv and dampratio; write one of them")
    if "kv" in element.written:
        rate = -element.not_negative("kv")
    if "dampratio" in element.written:
        rate = element.not_negative("dampratio")
    time, activation = source.time, source.activation
    if "timeconst" in element.written:
        time = element.not_negative("timeconst")
        activation = "filterexact" if time else "none"
    elif activation != "filterexact":
        time, activation = law.time, "none"
    servo = replace(
        law,
        activation="integrator" if law.element == "intvelocity" else activation,
        time=time,
        bias_type="affine",
        gain=(kp, 0.0, 0.0),
        bias=(0.0, -kp, rate),
        inheritrange=source.inheritrange,
    )
    return _with_one_range(element, servo)


def _with_one_range(element: ActuatorElement, law: ActuatorLaw) -> ActuatorLaw:
    """The law with either ctrlrange or inheritrange, whichever this element writes.

    <intvelocity> inherits the range of its state, not of its control.
    """
    if "inheritrange" in element.written:
        inherited = element.number("inheritrange", 0.0)
        law = replace(law, inheritrange=inherited)
        if inherited > 0 and "ctrlrange" not in element.written and law.element == "position":
            return replace(law, ctrlrange="")
    elif "ctrlrange" in element.written and law.element == "position":
        return replace(law, inheritrange=0.0)
    ends = element.values.numbers(
        element.xml, "ctrlrange", {"ctrlrange": law.ctrlrange or "0 0"}, 2
    )
    if law.inheritrange > 0 and any(ends) and law.element == "position":
        raise element.refusal("it has both ctrlrange and inheritrange; leave one out")
    return law


def _velocity(element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw) -> ActuatorLaw:
    kv = element.number("kv", source.gain[0])
    return replace(law, bias_type="affine", gain=(kv, 0.0, 0.0), bias=(0.0, 0.0, -kv))


def _damper(element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw) -> ActuatorLaw:
    kv = element.number("kv", -source.gain[2])
    if kv < 0:
        raise element.refusal(f"its kv is {kv:g}; a damper needs kv of at least 0")
    return replace(law, gain=(0.0, 0.0, -kv))


def _cylinder(element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw) -> ActuatorLaw:
    area = element.number("area", source.gain[0])
    if "diameter" in element.written:
        area = math.pi / 4 * element.number("diameter", 0.0) ** 2
    return replace(
        law,
        activation="filter",
        time=element.number("timeconst", source.time),
        bias_type="affine",
        gain=(area, 0.0, 0.0),
        bias=element.first("bias", source.bias),
    )


def _adhesion(element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw) -> ActuatorLaw:
    gain = element.number("gain", source.gain[0])
    return replace(law, gain=(gain, 0.0, 0.0))


def _muscle(element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw) -> ActuatorLaw:
    """Read <muscle>. The first numbers are range and force, for <general> over a class of
    <muscle>."""
    start = source.gain if source.gain_type == "muscle" else (0.75, 1.05, -1.0)
    low, high = start[:2]
    if "range" in element.written:
        low, high = element.values.numbers(element.xml, "range", element.written, 2)
    numbers = (low, high, element.number("force", start[2]))
    return replace(law, activation="muscle", bias_type="muscle", gain=numbers, bias=numbers)


def _law_without_numbers(
    element: ActuatorElement, source: ActuatorLaw, law: ActuatorLaw
) -> ActuatorLaw:
    """Read <dcmotor>, <pid> and <orientation>, whose numbers are ignored."""
    unknown = (math.nan, math.nan, math.nan)
    activation = "dcmotor" if law.element == "dcmotor" else "none"
    return replace(law, activation=activation, bias_type=law.gain_type, gain=unknown, bias=unknown)


Shortcut = Callable[[ActuatorElement, ActuatorLaw, ActuatorLaw], ActuatorLaw]

SHORTCUTS: Mapping[str, Shortcut] = {
    "position": _servo,
    "intvelocity": _servo,
    "velocity": _velocity,
    "damper": _damper,
    "cylinder": _cylinder,
    "adhesion": _adhesion,
    "muscle": _muscle,
    "dcmotor": _law_without_numbers,
    "pid": _law_without_numbers,
    "orientation": _law_without_numbers,
}
"""Functions by shortcut that make a law from their parameters and the law `source`."""

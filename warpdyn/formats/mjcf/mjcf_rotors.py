"""MJCF: armature and damping of actuators, which act on their joint or tendon times gear²."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from ...model.description import Joint
from ...model.tendons import Tendon
from .mjcf_powers import all_numbers, linear_coefficient
from .mjcf_values import ACTUATOR, Attributes, Element, MjcfValues

Owner = TypeVar("Owner", Joint, Tendon)


class Rotor(NamedTuple):
    """Armature and damping at a joint or a tendon."""

    armature: float = 0.0
    damping: float = 0.0


NO_ROTOR = Rotor()


@dataclass
class Rotors:
    """The rotors of all actuators, summed by joint and by tendon."""

    joints: dict[str, Rotor] = field(default_factory=dict)
    tendons: dict[str, Rotor] = field(default_factory=dict)


def read_rotors(values: MjcfValues, root: Element) -> Rotors:
    """The rotors of every element of <actuator>, including those whose forces are left out: MuJoCo
    adds them to the joint or the tendon."""
    found = Rotors()
    spatial = {
        e.get("name") for section in root.findall("tendon") for e in section.iterchildren("spatial")
    }
    for element in (child for section in root.findall("actuator") for child in section):
        written = values.attributes(element, ACTUATOR, None)
        rotor = _rotor(values, element, written)
        if not any(rotor):
            continue
        if written.get("tendon") in spatial:
            values.ignore("armature and damping of an actuator of a spatial tendon", element)
        elif "tendon" in written:
            _add(found.tendons, written["tendon"], rotor)
        else:
            _add(found.joints, written.get("joint", written.get("jointinparent", "")), rotor)
    return found


def with_rotors(owners: Sequence[Owner], rotors: Mapping[str, Rotor]) -> list[Owner]:
    """The joints or tendons, with the armature and damping of the rotors that turn with them."""
    turned = []
    for owner in owners:
        armature, damping = rotors.get(owner.name, NO_ROTOR)
        turned.append(
            replace(owner, armature=owner.armature + armature, damping=owner.damping + damping)
        )
    return turned


def _rotor(values: MjcfValues, element: Element, written: Attributes) -> Rotor:
    gear = (all_numbers(values, element, "gear", written) or [1.0])[0] ** 2
    what = "damping of an actuator"
    damping = linear_coefficient(values, element, "damping", written, what)
    damping = values.flags.acting(damping, "damper", what, element)
    return Rotor(gear * values.number(element, "armature", written, 0.0), gear * damping)


def _add(rotors: dict[str, Rotor], name: str, rotor: Rotor) -> None:
    before = rotors.get(name, NO_ROTOR)
    rotors[name] = Rotor(before.armature + rotor.armature, before.damping + rotor.damping)

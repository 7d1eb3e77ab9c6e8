"""MJCF: the positions of <keyframe>, as named configurations."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from ...model.joints import JointKind
from ...model.named_configurations import Configuration
from ...model.structure import DRAWN
from .mjcf_values import TINY, Element, MjcfValues


@dataclass(frozen=True)
class Place:
    """A joint's place in qpos: its name in the model, its kind, and its coordinates in the file's
    drawing (quaternions x y z w), which MuJoCo calls qpos0."""

    joint: str
    kind: JointKind
    drawn: tuple[float, ...]
    written: bool = True
    """True if the file has the joint. False if only the model has it, in which case qpos does not
    contain it."""


def configurations(
    values: MjcfValues, root: Element, places: Sequence[Place], joints: Collection[str]
) -> list[Configuration]:
    """A configuration for each <key>, with the joints that the model has, and "qpos0", in which the
    file draws the robot, unless a key has that name. Keys without qpos are included.

    places: every joint in the order of qpos.
    """
    made: dict[str, Configuration] = {}
    keys = [key for section in root.findall("keyframe") for key in section.findall("key")]
    count = sum(place.kind.nq for place in places if place.written)
    for number, element in enumerate(keys):
        written = {str(key): str(value) for key, value in element.attrib.items()}
        name = element.get("name") or f"key{number}"
        if name in made:
            raise values.refusal(
                element, f'two keyframes are named "{name}"; give each its own name'
            )
        length = len(written.get("qpos", "").split())
        if length not in (0, count):
            raise values.refusal(
                element,
                f"qpos has {length} numbers; the joints of this file have {count} coordinates",
            )
        numbers = values.numbers(element, "qpos", written, count) if length else []
        # All numbers of qpos are consumed, including those of joints that the model does not have,
        # because qpos counts them.
        rest = iter(numbers)
        coordinates: list[tuple[str, tuple[float, ...]]] = []
        for place in places:
            mine = place.drawn
            if numbers and place.written:
                mine = tuple(islice(rest, place.kind.nq))
                mine = place.kind.scalar_last(_unit(values, place, mine, name), "wxyz")
            if place.joint in joints:
                coordinates.append((place.joint, mine))
        made[name] = Configuration(name, tuple(coordinates))
    drawn = tuple((place.joint, place.drawn) for place in places if place.joint in joints)
    return [*{DRAWN: Configuration(DRAWN, drawn), **made}.values()]


def _unit(
    values: MjcfValues, place: Place, numbers: tuple[float, ...], keyframe: str
) -> tuple[float, ...]:
    """The coordinates with their quaternion w x y z normalised. A zero quaternion means no
    rotation, as in MuJoCo."""
    k = place.kind.quaternion
    if k is None:
        return numbers
    norm = math.hypot(*numbers[k:])
    if norm < TINY:
        values.remarks.append(
            f'keyframe "{keyframe}": the quaternion of joint "{place.joint}" is zero; '
            "it is read as no rotation"
        )
        return (*numbers[:k], 1.0, 0.0, 0.0, 0.0)
    return (*numbers[:k], *(x / norm for x in numbers[k:]))

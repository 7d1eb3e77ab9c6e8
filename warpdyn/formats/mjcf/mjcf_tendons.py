"""MJCF: fixed tendons. Spatial tendons, which run along sites and around geoms, are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...model.description import Joint
from ...model.poses_and_limits import Limits
from ...model.tendons import Tendon
from ..robot_source import tag_name
from .mjcf_powers import all_numbers, linear_coefficient
from .mjcf_softness import limit_softness
from .mjcf_values import Attributes, Element, MjcfValues

TENDON = "tendon"
"""The key under which a default class keeps its tendon attributes."""

ACTING = ("armature", "stiffness", "damping", "frictionloss")


def read_tendons(values: MjcfValues, root: Element, joints: Sequence[Joint]) -> list[Tendon]:
    """Fixed tendons, in the order of the file. Other tendons are remarked."""
    by_name = {joint.name: joint for joint in joints}
    found: dict[str, Tendon] = {}
    for element in (child for section in root.findall("tendon") for child in section):
        written = values.attributes(element, TENDON, None)
        name = element.get("name") or f"tendon{len(found)}"
        if tag_name(element) == "spatial":
            acts = [key for key in ACTING if any(all_numbers(values, element, key, written))]
            if acts:
                values.ignore(f"{' and '.join(acts)} of a spatial tendon", element)
            continue
        if tag_name(element) != "fixed":
            values.ignore(f"element <{tag_name(element)}> of <tendon>", element)
            continue
        if name in found:
            raise values.refusal(element, f'two tendons are named "{name}"; give each its own name')
        found[name] = _tendon(values, name, element, written, by_name)
    return list(found.values())


def unsupported_tendons(values: MjcfValues, root: Element) -> Iterator[str]:
    """The parts of tendons that a `Simulation` leaves out, in words."""
    tendons = [(x, values.attributes(x, TENDON, None)) for x in root.iterfind("tendon/*")]
    limits = [
        values.bounds(element, written, "range", "limited")
        for element, written in tendons
        if tag_name(element) == "spatial"
    ]
    friction = [
        x for each in tendons for x in all_numbers(values, each[0], "frictionloss", each[1])
    ]
    if any(limits):
        yield "limits of spatial tendons"
    if any(friction) and "frictionloss" not in values.flags.disabled:
        yield "dry friction of tendons"


def moving_tendons(tendons: Sequence[Tendon], still: Mapping[str, float]) -> list[Tendon]:
    """Tendons over the joints that move, with the other joints held at the positions `still`."""
    held = (tendon.with_held_joints(still) for tendon in tendons)
    return [tendon for tendon in held if tendon.coefficients]


def arms(values: MjcfValues, element: Element) -> Iterator[tuple[str, float]]:
    """The joints of a fixed tendon, each with its coefficient."""
    for child in element.findall("joint"):
        written = {str(key): str(value) for key, value in child.attrib.items()}
        yield written.get("joint", ""), values.number(child, "coef", written, 1.0)


def _tendon(
    values: MjcfValues, name: str, element: Element, written: Attributes, joints: dict[str, Joint]
) -> Tendon:
    coefficients = list(arms(values, element))
    if not coefficients:
        raise values.refusal(element, 'it names no joint; write <joint joint="..." coef="..."/>')
    # MuJoCo refuses a joint that is named twice, whose coefficient is ambiguous.
    if len(dict(coefficients)) < len(coefficients):
        raise values.refusal(
            element, "it names a joint twice; write one coefficient for each joint"
        )
    for joint, _ in coefficients:
        if joint not in joints:
            raise values.refusal(element, f'its joint "{joint}" does not exist; correct the name')
        if not joints[joint].kind.single:
            raise values.refusal(element, f'its joint "{joint}" must be a hinge or a slide joint')
    rest = sum(c * joints[joint].v_rest[0] for joint, c in coefficients)
    lengths = all_numbers(values, element, "springlength", written) or [-1.0]
    low, high = lengths[0], lengths[-1]
    if low > high:
        raise values.refusal(element, f"springlength must not decrease, got {low:g} {high:g}")
    if values.bounds(element, written, "actuatorfrcrange", "actuatorfrclimited"):
        values.ignore("actuatorfrcrange of a tendon", element)
    if values.number(element, "springyield", written, 0.0):
        values.ignore("springyield of a tendon, whose spring does not yield", element)
    bounds = values.bounds(element, written, "range", "limited")
    return Tendon(
        name,
        tuple(coefficients),
        armature=values.number(element, "armature", written, 0.0),
        spring=_first(values, element, "stiffness", written, "spring"),
        slack=(rest, rest) if low == high == -1.0 else (low, high),
        damping=_first(values, element, "damping", written, "damper"),
        friction=_first(values, element, "frictionloss", written, "frictionloss"),
        limits=Limits(*bounds) if bounds else Limits(),
        soft_limit=limit_softness(values, element, written) if bounds else None,
    )


def _first(values: MjcfValues, element: Element, key: str, written: Attributes, flag: str) -> float:
    """The first number of an attribute, or 0 if the flag is disabled."""
    what = f"{key} of a tendon"
    first = linear_coefficient(values, element, key, written, what)
    return values.flags.acting(first, flag, what, element)

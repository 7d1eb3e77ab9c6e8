"""MJCF: actuators, and what they can do to joints, where the joints themselves do not say it.

An actuator's force is at most its forcerange; that of one whose force is its control times a gain,
at most ctrlrange times the gain. A gear carries it to the joint, and, by way of a fixed tendon,
the joint's coefficient there. Several actuators of a joint add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..model.actuators import NO_BOUNDS, Actuator, Affine
from ..model.description import Joint
from .mjcf_tendons import arms as joint_arms
from .mjcf_values import ACTUATOR, ACTUATORS, Attributes, Element, MjcfValues
from .robot_text import tag_name

PLAIN = {"gaintype": ("fixed", "fixed"), "biastype": ("none", "none")}
"""Attributes, with MuJoCo's default and the word for a force that is control times gain."""

BOUNDED = ("none", "filter", "filterexact")
"""Activation that stays within the range of control."""

SHORTCUTS = {"kp", "kv", "area", "diameter", "timeconst"}
"""Attributes of elements other than <general>, which stand for several of its own."""

STATIC = {"general", "motor", "position", "velocity", "damper"}
"""Elements whose force is a function of control, length and rate alone."""

TRANSMISSIONS = ("joint", "jointinparent", "tendon")
"""Attributes that name what is pulled along, those that are read."""


def read_actuators(values: MjcfValues, root: Element, joints: Sequence[Joint]) -> list[Actuator]:
    """Actuators of hinges, slides and fixed tendons, in the order of the file; what others do is
    remarked."""
    by_name, arms = {joint.name: joint for joint in joints}, _tendon_arms(values, root)
    elements = [child for section in root.findall("actuator") for child in section]
    taken = {str(element.get("name")) for element in elements}
    found: list[Actuator] = []
    for number, element in enumerate(elements):
        tag = tag_name(element)
        if tag not in ACTUATORS:
            values.ignore(f"element <{tag}> of <actuator>", element)
            continue
        written = values.attributes(element, ACTUATOR, None)
        name = element.get("name", "")
        if name and name in (each.name for each in found):
            raise values.refusal(element, f'two actuators are named "{name}"; rename one')
        if not name:
            name = f"actuator{number}"
            while name in taken:
                name += "_"
        why = _left_out(values, element, tag, written, by_name, arms)
        if why:
            values.ignore(why, element)
            continue
        driven = tuple(_driven(values, element, written, arms))
        gain, bias = _law(values, element, tag, written)
        controls = _bounds(values, element, written, "ctrlrange", "ctrllimited")
        inherited = values.number(element, "inheritrange", written, 0.0)
        if inherited and len(driven) == 1:
            limits = by_name[driven[0][0]].limits
            middle, half = (limits.lower + limits.upper) / 2, (limits.upper - limits.lower) / 2
            controls = (middle - half * inherited, middle + half * inherited)
        forces = _bounds(values, element, written, "forcerange", "forcelimited")
        found.append(Actuator(name, driven, gain, bias, controls, forces))
    return found


def moving_actuators(actuators: Sequence[Actuator], still: Mapping[str, float]) -> list[Actuator]:
    """Actuators on the joints that move, where these others are held at these positions."""
    held = (actuator.held(still) for actuator in actuators)
    return [actuator for actuator in held if actuator.arms]


def _left_out(
    values: MjcfValues,
    element: Element,
    tag: str,
    written: Attributes,
    joints: Mapping[str, Joint],
    arms: Mapping[str, Mapping[str, float]],
) -> str:
    """What of an actuator can't be read, in words; "" where all can."""
    if tag not in STATIC:
        return f"actuator <{tag}>, whose force depends on more than control, position and velocity"
    if written.get("dyntype", "none") != "none":
        return f'an actuator with dyntype="{written["dyntype"]}"'
    if tag == "position" and values.number(element, "timeconst", written, 0.0):
        return "a position servo with timeconst"
    if tag == "general" and SHORTCUTS & set(written):
        return "an actuator <general> with the class of another element"
    if tag == "position" and "dampratio" in written:
        return "an actuator with dampratio, which is of a mass; write kv"
    if written.get("gaintype", "fixed") not in ("fixed", "affine"):
        return f'an actuator with gaintype="{written["gaintype"]}"'
    if written.get("biastype", "none") not in ("none", "affine"):
        return f'an actuator with biastype="{written["biastype"]}"'
    if not any(key in written for key in TRANSMISSIONS):
        return "an actuator of neither a joint nor a fixed tendon"
    joint = joints.get(written.get("joint", written.get("jointinparent", "")))
    if "tendon" not in written and joint is None:
        raise values.refusal(element, "its joint does not exist; correct the name")
    if joint is not None and not joint.kind.single:
        return f"an actuator of a {joint.kind.name} joint"
    if "tendon" in written and written["tendon"] not in arms:
        return "an actuator of a spatial tendon"
    return ""


def _law(
    values: MjcfValues, element: Element, tag: str, written: Attributes
) -> tuple[Affine, Affine]:
    """Gain and bias, each a constant and factors of length and rate."""
    if tag == "motor":
        return (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if tag == "position":
        kp = values.number(element, "kp", written, 1.0)
        return (kp, 0.0, 0.0), (0.0, -kp, -values.number(element, "kv", written, 0.0))
    if tag in ("velocity", "damper"):
        kv = values.number(element, "kv", written, 1.0)
        if tag == "damper":
            return (0.0, 0.0, -kv), (0.0, 0.0, 0.0)
        return (kv, 0.0, 0.0), (0.0, 0.0, -kv)
    gain = _three(values, element, "gainprm", written, 1.0)
    bias = _three(values, element, "biasprm", written, 0.0)
    if written.get("gaintype", "fixed") == "fixed":
        gain = (gain[0], 0.0, 0.0)
    return gain, bias if written.get("biastype", "none") == "affine" else (0.0, 0.0, 0.0)


def _three(
    values: MjcfValues, element: Element, key: str, written: Attributes, first: float
) -> Affine:
    """The first three numbers of a list that may be shorter."""
    words = written.get(key, "").split()[:3]
    there = values.numbers(element, key, {key: " ".join(words)}, len(words)) if words else [first]
    return tuple([*there, 0.0, 0.0][:3])  # type: ignore[return-value]


def _bounds(
    values: MjcfValues, element: Element, written: Attributes, key: str, switch: str
) -> tuple[float, float]:
    ends = values.bounds(element, written, key, switch)
    return (ends[0], ends[1]) if ends else NO_BOUNDS


def with_effort_limits(values: MjcfValues, root: Element, joints: Sequence[Joint]) -> list[Joint]:
    """The joints, with the limits of effort that their actuators make where they have none;
    remarked."""
    arms = _tendon_arms(values, root)
    limits: dict[str, float] = {}
    for element in (child for section in root.findall("actuator") for child in section):
        tag = tag_name(element)
        if tag not in ACTUATORS:
            continue
        written = values.attributes(element, ACTUATOR, None)
        force = _largest_force(values, element, tag, written)
        for name, arm in _driven(values, element, written, arms):
            limits[name] = limits.get(name, 0.0) + abs(arm) * force
    taken: list[str] = []
    result = []
    for joint in joints:
        effort = limits.get(joint.name, math.inf)
        if joint.kind.single and math.isinf(joint.limits.effort) and math.isfinite(effort):
            joint = replace(joint, limits=replace(joint.limits, effort=effort))
            taken.append(joint.name)
        result.append(joint)
    if taken:
        which = f'joint "{taken[0]}"' if len(taken) == 1 else f"{len(taken)} joints"
        values.remarks.append(
            f"the limit of effort of {which} is that of actuators: range times gear"
        )
    return result


def _largest_force(values: MjcfValues, element: Element, tag: str, written: Attributes) -> float:
    """Bound of an actuator's force, infinite where there is none."""
    force = math.inf
    ends = values.bounds(element, written, "forcerange", "forcelimited")
    if ends:
        force = max(map(abs, ends))
    gain = _gain(values, element, tag, written)
    if math.isfinite(gain):
        ends = values.bounds(element, written, "ctrlrange", "ctrllimited")
        if ends:
            force = min(force, abs(gain) * max(map(abs, ends)))
    return force


def _gain(values: MjcfValues, element: Element, tag: str, written: Attributes) -> float:
    """Force by control, of actuators whose force is nothing else; infinite for others."""
    if tag == "motor":
        return 1.0
    shortcuts = SHORTCUTS & set(written)
    plain = all(written.get(key, default) == word for key, (default, word) in PLAIN.items())
    if tag != "general" or shortcuts or not plain or written.get("dyntype", "none") not in BOUNDED:
        return math.inf
    first = written.get("gainprm", "1").split()[:1]
    return values.number(element, "gainprm", {"gainprm": " ".join(first)}, 1.0)


def _driven(
    values: MjcfValues,
    element: Element,
    written: Attributes,
    arms: Mapping[str, Mapping[str, float]],
) -> Iterator[tuple[str, float]]:
    """The joints that an actuator drives, each with its force there by the actuator's."""
    first = written.get("gear", "1").split()[:1]
    gear = values.number(element, "gear", {"gear": " ".join(first)}, 1.0)
    for key in ("joint", "jointinparent"):
        if key in written:
            yield written[key], gear
    for joint, coefficient in arms.get(written.get("tendon", ""), {}).items():
        yield joint, gear * coefficient


def _tendon_arms(values: MjcfValues, root: Element) -> dict[str, dict[str, float]]:
    """The coefficients of joints in each fixed tendon."""
    arms: dict[str, dict[str, float]] = {}
    for tendon in (e for section in root.findall("tendon") for e in section.findall("fixed")):
        here = arms.setdefault(tendon.get("name", ""), {})
        here |= dict(joint_arms(values, tendon))
    return arms

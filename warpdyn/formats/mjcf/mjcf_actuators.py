"""MJCF: actuators, and the effort limits that they imply for joints without their own limits.

An actuator's force is at most its forcerange. A force that is control times gain is at most
ctrlrange times the gain. The gear, and for a fixed tendon the joint's coefficient, converts it to a
force at the joint. Several actuators of a joint add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...model.actuators import NO_BOUNDS, Actuator
from ...model.description import Joint
from ..robot_source import tag_name
from .mjcf_actuator_laws import ActuatorLaw, actuator_law
from .mjcf_tendons import TENDON
from .mjcf_tendons import arms as joint_arms
from .mjcf_values import ACTUATOR, ACTUATORS, Attributes, Element, MjcfValues

BOUNDED = ("none", "filter", "filterexact")
"""Activation types that stay within the range of control."""

STATIC = {"general", "motor", "position", "velocity", "damper"}
"""Elements whose force is a function of control, length and rate alone."""

TRANSMISSIONS = ("joint", "jointinparent", "tendon")
"""Attributes that name the target of an actuator, for the targets that are read."""


def read_actuators(values: MjcfValues, root: Element, joints: Sequence[Joint]) -> list[Actuator]:
    """Actuators of hinges, slides and fixed tendons, in the order of the file. Other actuators are
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
        law, written = _law_and_attributes(values, element)
        name = element.get("name", "")
        if name and name in (each.name for each in found):
            raise values.refusal(element, f'two actuators are named "{name}"; rename one')
        if not name:
            # Each actuator without a name gets one that the file does not use.
            name = f"actuator{number}"
            while name in taken:
                name += "_"
        why = _reason_for_no_force(values, element, written) or _unsupported_law(element, law)
        why = why or _unsupported_target(values, element, written, by_name, arms)
        if why:
            values.ignore(why, element)
            continue
        driven = tuple(_driven_joints(values, element, written, arms))
        controls = _controls(values, element, law, written, by_name)
        forces = _bounds(values, element, written, "forcerange", "forcelimited")
        found.append(Actuator(name, driven, law.affine_gain, law.affine_bias, controls, forces))
    return _within_force_ranges(values, found)


def _within_force_ranges(values: MjcfValues, actuators: Sequence[Actuator]) -> list[Actuator]:
    """The actuators, clamped to the force ranges of joints whose two ends differ.

    If several actuators share such a joint, or one acts on other joints too, they are left out.
    """
    for name, ends in values.force_ranges.items():
        pushing = [each for each in actuators if name in dict(each.arms)]
        if len(pushing) == 1 and len(pushing[0].arms) == 1:
            held = [_limit_forces(each, ends) if each in pushing else each for each in actuators]
            actuators = held
        elif pushing:
            actuators = [each for each in actuators if each not in pushing]
            values.remarks.append(
                f'{len(pushing)} actuators of joint "{name}" are left out: its actuatorfrcrange is wider '
                "one way, and holds for the sum of several"
            )
    return list(actuators)


def _limit_forces(actuator: Actuator, ends: tuple[float, float]) -> Actuator:
    ((_, arm),) = actuator.arms
    if not arm:
        return actuator
    low, high = sorted(end / arm for end in ends)
    bounds = (min(max(end, low), high) for end in actuator.forces)
    return replace(actuator, forces=(next(bounds), next(bounds)))


def moving_actuators(actuators: Sequence[Actuator], still: Mapping[str, float]) -> list[Actuator]:
    """Actuators on the joints that move, with the other joints held at the positions `still`."""
    held = (actuator.with_held_joints(still) for actuator in actuators)
    return [actuator for actuator in held if actuator.arms]


def _law_and_attributes(values: MjcfValues, element: Element) -> tuple[ActuatorLaw, dict[str, str]]:
    """An actuator's law, and its attributes combined with those of its class."""
    law, written = actuator_law(values, element), values.attributes(element, ACTUATOR, None)
    written.pop("ctrlrange", None)
    if law.ctrllimited:
        written["ctrllimited"] = law.ctrllimited
    if tag_name(element) == "damper":
        low, high = values.numbers(element, "ctrlrange", {"ctrlrange": law.ctrlrange or "0 0"}, 2)
        if not 0 <= low < high:
            raise values.refusal(element, "a damper needs a ctrlrange of two numbers of 0 or more")
    if "clampctrl" in values.flags.disabled:
        written["ctrllimited"] = "false"
    return law, {**written, "ctrlrange": law.ctrlrange} if law.ctrlrange else written


def _reason_for_no_force(values: MjcfValues, element: Element, written: Attributes) -> str:
    """The reason why an actuator's control does not act immediately; "" if it does."""
    if "actuation" in values.flags.disabled:
        return 'an actuator, which <flag actuation="disable"> switches off'
    if _is_switched_off(values, element, written):
        return "an actuator of a group in actuatorgroupdisable"
    if values.number(element, "delay", written, 0.0):
        return "an actuator with delay"
    return ""


def _is_switched_off(values: MjcfValues, element: Element, written: Attributes) -> bool:
    """True for an actuator of a group in actuatorgroupdisable; an empty group is 0."""
    group = values.number(element, "group", written, 0.0) if written.get("group") else 0.0
    return group in values.flags.disabled_groups


def _unsupported_law(element: Element, law: ActuatorLaw) -> str:
    """The part of an actuator's law that cannot be read, in words; "" if all can."""
    tag = tag_name(element)
    if tag not in STATIC:
        return f"actuator <{tag}>, whose force depends on more than control, position and velocity"
    if tag == "position" and law.activation != "none":
        return "a position servo with timeconst"
    if law.activation != "none":
        return f'an actuator with dyntype="{law.activation}"'
    if law.has_damping_ratio:
        return "an actuator with dampratio, which depends on a mass; write kv"
    if law.gain_type not in ("fixed", "affine"):
        return f'an actuator with gaintype="{law.gain_type}"'
    if law.bias_type not in ("none", "affine"):
        return f'an actuator with biastype="{law.bias_type}"'
    if any(map(math.isnan, (*law.affine_gain, *law.affine_bias))):
        return "an actuator with a class of <dcmotor>, <pid> or <orientation>"
    return ""


def _unsupported_target(
    values: MjcfValues,
    element: Element,
    written: Attributes,
    joints: Mapping[str, Joint],
    arms: Mapping[str, Mapping[str, float]],
) -> str:
    """The target of an actuator in words, if it is neither a hinge, a slide nor a fixed tendon; "" if it is."""
    if not any(key in written for key in TRANSMISSIONS):
        return "an actuator of neither a joint nor a fixed tendon"
    name = written.get("joint", written.get("jointinparent", ""))
    joint = joints.get(name)
    if "tendon" not in written and joint is None:
        # The joint of a free base is not a joint of the model, and neither is one that
        # floating_base=False holds.
        bodies = element.getroottree().iterfind("worldbody//*")
        if name in {x.get("name") for x in bodies if tag_name(x) in ("joint", "freejoint")}:
            return "an actuator of a free joint"
        raise values.refusal(element, "its joint does not exist; correct the name")
    if joint is not None and not joint.kind.single:
        return f"an actuator of a {joint.kind.name} joint"
    if "tendon" in written and written["tendon"] not in arms:
        return "an actuator of a spatial tendon"
    return ""


def _controls(
    values: MjcfValues,
    element: Element,
    law: ActuatorLaw,
    written: Attributes,
    joints: Mapping[str, Joint],
) -> tuple[float, float]:
    """Bounds of the control: the actuator's own, or a fraction of its target's range."""
    if law.inheritrange <= 0 or not law.is_servo:
        return _bounds(values, element, written, "ctrlrange", "ctrllimited")
    joint = joints.get(written.get("joint", written.get("jointinparent", "")))
    if joint is None:
        low, high = _tendon_range(values, element, written["tendon"])
    else:
        low, high = joint.limits.lower, joint.limits.upper
    if not math.isfinite(high - low):
        raise values.refusal(
            element, "it has inheritrange, but its target has no range; write its ctrlrange"
        )
    if written.get("ctrllimited") == "false":
        return NO_BOUNDS
    middle, half = (low + high) / 2, (high - low) / 2 * law.inheritrange
    return middle - half, middle + half


def _tendon_range(values: MjcfValues, element: Element, name: str) -> tuple[float, float]:
    tendons = element.getroottree().iterfind(".//tendon/fixed")
    tendon = next(each for each in tendons if each.get("name") == name)
    written = values.attributes(tendon, TENDON, None)
    return _bounds(values, tendon, written, "range", "limited")


def _bounds(
    values: MjcfValues, element: Element, written: Attributes, key: str, switch: str
) -> tuple[float, float]:
    ends = values.bounds(element, written, key, switch)
    return (ends[0], ends[1]) if ends else NO_BOUNDS


def with_effort_limits(values: MjcfValues, root: Element, joints: Sequence[Joint]) -> list[Joint]:
    """The joints, with effort limits from their actuators where they have none. Each of these
    limits is remarked."""
    arms = _tendon_arms(values, root)
    limits: dict[str, float] = {}
    for element in (child for section in root.findall("actuator") for child in section):
        tag = tag_name(element)
        if tag not in ACTUATORS:
            continue
        law, written = _law_and_attributes(values, element)
        if _is_switched_off(values, element, written):
            continue
        force = _largest_force(values, element, law, written)
        for name, arm in _driven_joints(values, element, written, arms):
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
        values.remarks.append(f"the effort limit of {which} comes from actuators: range times gear")
    return result


def _largest_force(
    values: MjcfValues, element: Element, law: ActuatorLaw, written: Attributes
) -> float:
    """Bound of an actuator's force; infinite without one."""
    force = math.inf
    ends = values.bounds(element, written, "forcerange", "forcelimited")
    if ends:
        force = max(map(abs, ends))
    plain = law.gain_type == "fixed" and law.bias_type == "none"
    if plain and law.activation in BOUNDED:
        ends = values.bounds(element, written, "ctrlrange", "ctrllimited")
        if ends:
            force = min(force, abs(law.gain[0]) * max(map(abs, ends)))
    return force


def _driven_joints(
    values: MjcfValues,
    element: Element,
    written: Attributes,
    arms: Mapping[str, Mapping[str, float]],
) -> Iterator[tuple[str, float]]:
    """The joints that an actuator drives, each with the ratio of the joint's force to the
    actuator's."""
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

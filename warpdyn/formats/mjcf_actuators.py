"""MJCF: what actuators can do to joints, where the joints themselves do not say it.

An actuator's force is at most its forcerange; that of one whose force is its control times a gain,
at most ctrlrange times the gain. A gear carries it to the joint, and, by way of a fixed tendon,
the joint's coefficient there. Several actuators of a joint add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..model.description import Joint
from .mjcf_tendons import arms as joint_arms
from .mjcf_values import ACTUATOR, ACTUATORS, Attributes, Element, MjcfValues
from .robot_text import tag_name

PLAIN = {"gaintype": ("fixed", "fixed"), "biastype": ("none", "none")}
"""Attributes, with MuJoCo's default and the word for a force that is control times gain."""

BOUNDED = ("none", "filter", "filterexact")
"""Activation that stays within the range of control."""


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
    shortcuts = {"kp", "kv", "area", "diameter", "timeconst"} & set(written)
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

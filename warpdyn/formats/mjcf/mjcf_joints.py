"""MJCF: one joint of a body, with its limits and the forces that act on it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from ...algebra.scalar import as_number
from ...algebra.spatial import ZERO, Placement, Vector
from ...model.description import Joint
from ...model.joints import FLOATING, KINDS
from ...model.poses_and_limits import Limits, unit_vector
from .mjcf_powers import linear_coefficient
from .mjcf_softness import limit_softness
from .mjcf_values import TINY, Attributes, Element, MjcfValues

TYPES = ("hinge", "slide", "ball", "free")


class JointElement(NamedTuple):
    """A joint whose parent is not set yet, its position in the body, and its coordinate in the
    file's drawing (hinges and slides only)."""

    joint: Joint
    position: Vector
    zero: float


def read_joint(
    values: MjcfValues, name: str, body: str, element: Element, written: Attributes, X: Placement
) -> JointElement:
    """The joint of an element in the frame `X` of a body."""
    word = values.choice(element, "type", written, "hinge", TYPES)
    p = X.point_to_parent(values.vector(element, "pos", written)) if word != "free" else ZERO
    single = word in ("hinge", "slide")
    axis, zero = Joint.axis, 0.0
    if single:
        direction = X.R.to_parent(values.vector(element, "axis", written, (0.0, 0.0, 1.0)))
        axis = unit_vector(direction)
        if not math.hypot(*map(as_number, direction)) > TINY:
            raise values.refusal(element, f"axis is zero; a {word} joint needs a direction")
        zero = values.number(element, "ref", written, 0.0)
        zero = values.compiler_of(element).angle(zero) if word == "hinge" else zero
    limits = _limits(values, name, element, written, word)
    # A hinge is revolute only if it has both limits; otherwise it is continuous.
    bounded = single and math.isfinite(limits.upper - limits.lower)
    kind = {
        "hinge": KINDS["revolute" if bounded else "continuous"],
        "slide": KINDS["prismatic"],
    }.get(word, KINDS["ball"] if word == "ball" else FLOATING)
    spring = _first(values, element, written, "stiffness", "spring")
    rest = values.number(element, "springref", written, 0.0)
    if "springdamper" in written and any(values.numbers(element, "springdamper", written, 2)):
        values.ignore('attribute "springdamper" of <joint>: its spring and damping', element)
    friction = _first(values, element, written, "frictionloss", "frictionloss")
    if friction and word == "free":
        # MuJoCo's friction acts along the axes of the world, but velocities here are along those of
        # the body.
        values.ignore("frictionloss of a free joint", element)
        friction = 0.0
    if values.number(element, "springyield", written, 0.0):
        values.ignore('attribute "springyield" of <joint>: its spring does not yield', element)
    if values.boolean(element, "actuatorgravcomp", written, False):
        values.ignore(
            'attribute "actuatorgravcomp" of <joint>: gravcomp is not an actuator here', element
        )
    joint = Joint(
        name=name,
        kind=kind,
        parent="",
        child=body,
        axis=axis,
        limits=limits,
        damping=_first(values, element, written, "damping", "damper"),
        friction=friction,
        armature=values.number(element, "armature", written, 0.0),
        spring=spring,
        rest=values.compiler_of(element).angle(rest)
        if word == "hinge"
        else rest
        if single
        else 0.0,
        soft_limit=limit_softness(values, element, written)
        if single and math.isfinite(min(abs(limits.lower), abs(limits.upper)))
        else None,
    )
    return JointElement(joint, p, zero)


def _first(values: MjcfValues, element: Element, written: Attributes, key: str, flag: str) -> float:
    """The first number of an attribute, or 0 if the flag is disabled."""
    first = linear_coefficient(values, element, key, written, f'"{key}" of <joint>')
    return values.flags.acting(first, flag, f"{key} of <joint>", element)


def _limits(
    values: MjcfValues, name: str, element: Element, written: Attributes, word: str
) -> Limits:
    """Position bounds if the joint is limited, effort bounds if its actuators are."""
    single = word in ("hinge", "slide")
    limits = Limits()
    bounds = values.bounds(element, written, "range", "limited")
    if bounds and single:
        lower, upper = (
            values.compiler_of(element).angle(x) if word == "hinge" else x for x in bounds
        )
        limits = Limits(lower, upper)
    elif bounds:
        values.ignore(f"range of a {word} joint", element)
    efforts = values.bounds(element, written, "actuatorfrcrange", "actuatorfrclimited")
    if efforts and single and sum(efforts):
        low, high = efforts
        values.force_ranges[name] = low, high
        values.remarks.append(
            f'the effort limit of joint "{name}" is the larger bound of its actuatorfrcrange; the '
            "forces of its actuators stay within both bounds"
        )
    return replace(limits, effort=max(map(abs, efforts))) if efforts and single else limits

"""Remarks on links and joints that look like mistakes, and the one warning that lists them at the
line where the user loaded the robot."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .checks import NEGLIGIBLE, ROUNDING
from .description import Joint, Link
from .joints import FIXED, FLOATING
from .names import ModelWarning, printable
from .poses_and_limits import Limits
from .structure import Robot

PACKAGE = __name__.partition(".")[0]


WARNED_LINES = 12
"""Remarks shown in the one warning of a load; `Model.warnings` has them all."""


def warn(name: str, model: Robot) -> Robot:
    """The model, after one warning at the user's call that lists all remarks."""
    if model.warnings:
        shown = list(model.warnings[:WARNED_LINES])
        if len(model.warnings) > WARNED_LINES:
            shown.append(f"... and {len(model.warnings) - WARNED_LINES} more, see model.warnings")
        level, frame = 1, sys._getframe().f_back
        while (
            frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE
        ):
            level, frame = level + 1, frame.f_back
        lines = (f"{name} is used as written, but:", *shown)
        text = "\n  ".join(map(printable, lines))
        warnings.warn(text, ModelWarning, stacklevel=level + 1)
    return model


def unphysical(links: Sequence[Link], joints: Sequence[Joint]) -> Iterator[str]:
    """A remark for each inertia that no rigid body can have, and for each limit or loss of a joint
    that no joint can have."""
    for joint in joints:
        if not joint.kind.nv:
            continue  # files give fixed joints limits and dampers, too
        yield from _unphysical_axis(joint, "", joint.limits, joint.damping, joint.friction)
        if joint.kind.series:
            values = (joint.limits2, joint.damping2, joint.friction2)
            yield from _unphysical_axis(joint, "second ", *values)
    for link in links:
        largest = max(abs(x) for row in link.inertia for x in row)
        if not NEGLIGIBLE < largest < math.inf:
            continue
        if not link.mass:
            yield f'link "{link.name}": it has rotational inertia but no mass'
        moments = [
            largest * float(part) for part in np.linalg.eigvalsh(np.array(link.inertia) / largest)
        ]
        shown = ", ".join(f"{moment:.3g}" for moment in moments)
        if moments[0] < -ROUNDING * moments[2]:
            yield f'link "{link.name}": a principal moment of its inertia is negative ({shown} kg·m²)'
        elif moments[0] + moments[1] < (1 - ROUNDING) * moments[2]:
            yield f'link "{link.name}": its principal moments ({shown} kg·m²) break the triangle inequality'


def _unphysical_axis(
    joint: Joint, which: str, limits: Limits, damping: float, friction: float
) -> Iterator[str]:
    place = f'joint "{joint.name}"'
    if limits.lower > limits.upper:
        yield (
            f"{place}: its {which}lower limit {limits.lower:g} is above its {which}upper limit "
            f"{limits.upper:g}"
        )
    numbers = {
        "velocity": limits.velocity,
        "effort": limits.effort,
        "damping": damping,
        "friction": friction,
    }
    for name, number in numbers.items():
        if number < 0:
            yield f"{place}: its {which}{name} is negative, {number:g}"


def remark_limits_of_followers(joints: Sequence[Joint]) -> Iterator[str]:
    """A remark for each mimic joint whose position limits are narrower than those that follow from
    its leader. Its own limits have no effect."""
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic is None:
            continue
        leader, multiplier, offset = joint, 1.0, 0.0
        while leader.mimic is not None:
            offset += multiplier * float(leader.mimic.offset)
            multiplier *= float(leader.mimic.multiplier)
            leader = by_name[leader.mimic.joint]
        bounds = (leader.limits.lower, leader.limits.upper)
        ends = sorted(multiplier * x + offset for x in bounds) if multiplier else [offset, offset]
        own = joint.limits.lower, joint.limits.upper
        # Files round limits to three digits.
        near = ROUNDING * max((abs(x) for x in own if math.isfinite(x)), default=0.0)
        if ends[0] < own[0] - near or ends[1] > own[1] + near:
            yield (
                f'joint "{joint.name}" follows "{leader.name}", whose limits let it move from {ends[0]:.3g} to '
                f"{ends[1]:.3g}; its own, {own[0]:.3g} to {own[1]:.3g}, have no effect"
            )


def links_held_by(root: str, joints: Iterable[Joint]) -> set[str]:
    """The root and the links that fixed joints hold on it."""
    held, count = {root}, 0
    fixed = [joint for joint in joints if joint.kind is FIXED]
    while count < len(held):
        count = len(held)
        held |= {joint.child for joint in fixed if joint.parent in held}
    return held


def remark_double_freedom(links: Sequence[Link], joints: Sequence[Joint]) -> Iterator[str]:
    """A remark for each joint that repeats the floating base's motion: a floating joint on a root
    (the first link, with the links fixed to it) without mass."""
    root = links[0]
    held = links_held_by(root.name, joints)
    if any(link.mass for link in links if link.name in held):
        return
    for joint in joints:
        if joint.parent in held and joint.kind is FLOATING:
            yield (
                f'joint "{joint.name}" lets link "{joint.child}" move freely already, on the '
                f'massless root "{root.name}"; leave floating_base=True out'
            )

"""Links and joints of a description, given in any order, put into tree order."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, get_args

from .checks import check_description, find_root
from .closed_loops.loop import HIGHEST_POWER, Loop, LoopKind
from .described_sensors import DescribedSensor
from .description import Joint, Link
from .gearbox import without_gears
from .names import ModelError, near_names, suggestion
from .structure import Robot, Structure


def in_tree_order(
    source: str, links: Sequence[Link], joints: Sequence[Joint]
) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Checked links and joints, depth first, siblings in the order of the description. Gearboxes
    become mimic joints.

    Joint k carries link k + 1. Raises ModelError, whose message begins with `source`, if the links
    and joints are not valid or do not form one tree.
    """
    joints = without_gears(source, links, joints)
    check_description(source, links, joints)
    root = find_root(source, links, joints)
    by_parent: dict[str, list[Joint]] = {}
    for joint in joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    by_name = {link.name: link for link in links}
    ordered_links, ordered_joints = [by_name[root]], []
    waiting = list(reversed(by_parent.get(root, [])))
    while waiting:  # a stack, so that chains of thousands of links need no deep recursion
        joint = waiting.pop()
        ordered_joints.append(joint)
        ordered_links.append(by_name[joint.child])
        waiting.extend(reversed(by_parent.get(joint.child, [])))
    return tuple(ordered_links), tuple(ordered_joints)


def rebuild(
    robot: Robot,
    links: Sequence[Link],
    joints: Sequence[Joint],
    names: Mapping[str, str] = MappingProxyType({}),
) -> Robot:
    """The same robot with other links and joints, checked and put in tree order. Configurations,
    tendons, loops and actuators are kept for the joints that still move, sensors, loops and excluded
    pairs for the links and joints that still exist.

    names: new names of joints, old ones as keys.
    """
    links, joints = in_tree_order(robot.name, links, joints)
    result = replace(
        robot, links=links, joints=joints, **_parts_between(robot, links, joints, names)
    )
    now = {**names, robot.base_joint: result.base_joint} if robot.floating_base else names
    named = (c.with_renamed_joints(now).restrict_to(result.coordinates) for c in robot.named)
    return replace(result, named=tuple(named))


def _parts_between(
    robot: Structure, links: Sequence[Link], joints: Sequence[Joint], names: Mapping[str, str]
) -> dict[str, Any]:
    """The fields of a robot that refer to links and joints which still exist, under their new
    names."""
    moving = {joint.name for joint in joints if joint.kind.nv}
    there = {link.name for link in links}, {joint.name for joint in joints}
    tendons = (t.with_renamed_joints(names) for t in robot.tendons)
    actuators = (a.with_renamed_joints(names) for a in robot.actuators)
    return {
        "tendons": tuple(t for t in tendons if moving.issuperset(j for j, _ in t.coefficients)),
        "loops": loops_between(robot.name, robot.loops, names, links, joints),
        "actuators": tuple(a for a in actuators if moving.issuperset(j for j, _ in a.arms)),
        "sensors": tuple(s for s in robot.sensors if _is_on(s, *there)),
        "excluded_pairs": tuple(p for p in robot.excluded_pairs if there[0].issuperset(p)),
        "touching_pairs": tuple(p for p in robot.touching_pairs if there[0].issuperset(p.links)),
    }


def _is_on(sensor: DescribedSensor, links: set[str], joints: set[str]) -> bool:
    if not (sensor.link or sensor.joint):
        return True
    return sensor.link in links or sensor.joint in joints


def loops_between(
    name: str,
    loops: Sequence[Loop],
    renamed: Mapping[str, str],
    links: Collection[Link],
    joints: Collection[Joint],
) -> tuple[Loop, ...]:
    """The loops of the robot `name` whose links exist, or whose joints still move; `renamed` are new
    names of joints."""
    there = {link.name for link in links}
    moving = {joint.name for joint in joints if joint.kind.nv}
    named = [loop.with_renamed_joints(renamed) for loop in loops]
    found = tuple(loop for loop in named if loop.is_between(there, moving))
    check_loops(name, found, links, joints)
    return found


def check_loops(
    source: str, loops: Sequence[Loop], links: Collection[Link], joints: Collection[Joint]
) -> None:
    """Raise a ModelError that begins with `source` if a loop has unknown or unfit ends."""
    by_name = {joint.name: joint for joint in joints}
    known: dict[bool, Collection[str]] = {True: {link.name for link in links}, False: by_name}
    for loop in loops:
        where = f"{source}: loop {loop.kind}{f' {loop.name}' if loop.name else ''}"
        if loop.kind not in get_args(LoopKind):
            raise ModelError(f'{where}: its kind must be "connect", "weld", "hinge" or "joint"')
        what = "link" if loop.is_of_links else "joint"
        for end in loop.ends:
            if end not in known[loop.is_of_links]:
                hint = suggestion(near_names(end, known[loop.is_of_links]))
                raise ModelError(f'{where}: there is no {what} "{end}"{hint}')
            if not loop.is_of_links and not by_name[end].kind.single:
                raise ModelError(f'{where}: joint "{end}" must have one coordinate')
        if loop.first == loop.second:
            raise ModelError(
                f'{where}: both ends are {what} "{loop.first}"; a loop is between two {what}s'
            )
        count = len(loop.coefficients)
        if not loop.is_of_links and not 1 <= count <= HIGHEST_POWER + 1:
            raise ModelError(
                f"{where}: it needs 1 to {HIGHEST_POWER + 1} coefficients, got {count}"
            )
        if not all(map(math.isfinite, loop.coefficients)):
            raise ModelError(f"{where}: its coefficients must be finite numbers")

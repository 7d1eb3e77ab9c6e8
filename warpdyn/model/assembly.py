"""Links and joints of a description, given in any order, put into tree order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from .checks import check_description, find_root
from .closed_loops.loop import loops_between
from .described_sensors import DescribedSensor
from .description import Joint, Link
from .gearbox import without_gears
from .structure import Robot


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
    tendons, loops and actuators are kept for the joints that still move, sensors and loops for the
    links and joints that still exist.

    names: new names of joints, old ones as keys.
    """
    links, joints = in_tree_order(robot.name, links, joints)
    moving = {joint.name for joint in joints if joint.kind.nv}
    named_tendons = (t.with_renamed_joints(names) for t in robot.tendons)
    tendons = (t for t in named_tendons if all(joint in moving for joint, _ in t.coefficients))
    renamed = (a.with_renamed_joints(names) for a in robot.actuators)
    actuators = (a for a in renamed if all(joint in moving for joint, _ in a.arms))
    there = {link.name for link in links}, {joint.name for joint in joints}
    sensors = (s for s in robot.sensors if not (s.link or s.joint) or _is_on(s, *there))
    loops = loops_between(robot.name, robot.loops, names, links, joints)
    result = replace(
        robot,
        links=links,
        joints=joints,
        tendons=tuple(tendons),
        loops=loops,
        actuators=tuple(actuators),
        sensors=tuple(sensors),
    )
    now = {**names, robot.base_joint: result.base_joint} if robot.floating_base else names
    named = (c.with_renamed_joints(now).restrict_to(result.coordinates) for c in robot.named)
    return replace(result, named=tuple(named))


def _is_on(sensor: DescribedSensor, links: set[str], joints: set[str]) -> bool:
    return sensor.link in links or sensor.joint in joints

"""Gearbox joints as mimic joints: reduced coordinates instead of a constraint.

A gearbox relates two angles, both measured against a reference link: the child's angle theta_2
about `axis2` and the parent's angle theta_1 about `axis` satisfy theta_2 = -ratio theta_1. Each is
a joint position if a single joint turns the link against the reference, or a sum of joint
positions. Two arrangements occur in descriptions: the child has a joint of its own on the reference
(the gearbox closes a loop, and that joint becomes a mimic joint), or the gearbox joint alone
carries it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..algebra.scalar import as_number
from ..algebra.spatial import HERE, Placement, Vector
from .description import Gearbox, Joint, Link, Mimic
from .names import ModelError
from .poses_and_limits import PERPENDICULAR


def without_gears(source: str, links: Sequence[Link], joints: Sequence[Joint]) -> list[Joint]:
    """The joints of a tree, each gearbox replaced by an equivalent mimic joint."""
    waiting = [joint for joint in joints if joint.kind.geared and joint.mimic is None]
    if not waiting:
        return list(joints)
    plain = {j.child: j for j in joints if not (j.kind.geared and j.mimic is None)}
    carriers = {**{gear.child: gear for gear in waiting}, **plain}
    replaced: dict[str, Joint | None] = {}
    known = {link.name for link in links}
    for gear in waiting:
        where = f'{source}: joint "{gear.name}"'
        gearbox = _checked_gearbox(where, gear, known)
        # Axes are compared in the root's frame at zero position, because parent, child and
        # reference each have their own.
        x = _place(where, gear.parent, carriers).compose(gear.pose.placement).as_matrix()
        axis, axis2 = (x.R.to_parent(Vector(*u)) for u in (gear.axis, gear.axis2 or gear.axis))
        first, sign = _between(where, gearbox.reference, gear.parent, axis, carriers)
        ratio = gearbox.ratio
        # If another joint carries the child, that joint becomes the mimic joint and the gearbox is
        # dropped. Otherwise the gearbox itself is the child's joint, and its coordinate is the
        # child's angle less the parent's, hence the + 1.
        if gear.child in plain:
            second, other = _between(where, gearbox.reference, gear.child, axis2, carriers)
            if second.mimic is not None or second.name in replaced:
                raise ModelError(
                    f'{where}: it moves joint "{second.name}", which follows another already; remove one of the two'
                )
            replaced[second.name] = replace(second, mimic=Mimic(first.name, -ratio * sign * other))
            replaced[gear.name] = None
        else:
            same = _parallel(where, "its axis2", axis2, axis)
            replaced[gear.name] = replace(
                gear, mimic=Mimic(first.name, -(ratio * same + 1.0) * sign)
            )
    kept = (replaced.get(joint.name, joint) for joint in joints)
    return [joint for joint in kept if joint is not None]


def _checked_gearbox(where: str, gear: Joint, links: Collection[str]) -> Gearbox:
    """The joint's gearbox; raises if it has none, if its ratio is not finite, or if a link does not
    exist."""
    gearbox = gear.gearbox
    if gearbox is None:
        raise ModelError(
            f"{where}: a {gear.kind.name} joint needs its ratio and its reference link (gearbox=...)"
        )
    if not math.isfinite(gearbox.ratio):
        raise ModelError(f"{where}: the ratio is {gearbox.ratio}; it must be finite")
    roles = {"reference": gearbox.reference, "parent": gear.parent, "child": gear.child}
    for role, name in roles.items():
        if name not in links:
            raise ModelError(
                f'{where}: its {role} link "{name}" does not exist; add the link or correct the name'
            )
    return gearbox


def _between(
    where: str, reference: str, link: str, axis: Vector, carriers: Mapping[str, Joint]
) -> tuple[Joint, float]:
    """The one joint that turns `link` against `reference`, and the sign of its position as an angle
    about `axis`."""
    up, down = _joints_to_root(where, reference, carriers), _joints_to_root(where, link, carriers)
    while up and down and up[-1] is down[-1]:
        up.pop(), down.pop()
    path = [(joint, -1.0) for joint in up if joint.kind.nv] + [
        (joint, 1.0) for joint in down if joint.kind.nv
    ]
    if len(path) != 1 or not (path[0][0].kind.single and path[0][0].kind.turns):
        names = ", ".join(f'"{joint.name}"' for joint, _ in path) or "none"
        raise ModelError(
            f'{where}: between its reference link "{reference}" and "{link}" one joint must turn and '
            f"the others must be fixed, but the moving joints are: {names}; choose the link that "
            "carries it as reference, or write the relation as a mimic joint"
        )
    ((joint, way),) = path
    direction = _place(where, joint.child, carriers).R.to_parent(Vector(*joint.axis))
    return joint, way * _parallel(where, f'the axis of joint "{joint.name}"', direction, axis)


def _parallel(where: str, what: str, u: Vector, axis: Vector) -> float:
    """1 for parallel directions and -1 for opposite ones. Raises if they do not lie on one line."""
    cosine = as_number(u.dot(axis))
    if abs(abs(cosine) - 1.0) > PERPENDICULAR:
        raise ModelError(
            f"{where}: {what} must be parallel to the axis of the gearbox, but the cosine between them is "
            f"{cosine:.4g}; correct one of them, or write the relation as a mimic joint"
        )
    return 1.0 if cosine > 0 else -1.0


def _joints_to_root(where: str, link: str, carriers: Mapping[str, Joint]) -> list[Joint]:
    """The joints from a link up to the root."""
    joints: list[Joint] = []
    while link in carriers:
        joints.append(carriers[link])
        link = joints[-1].parent
        if joints[-1] in joints[:-1]:
            raise ModelError(
                f'{where}: joints form a closed loop through link "{link}"; a robot must be a tree'
            )
    return joints


def _place(where: str, link: str, carriers: Mapping[str, Joint]) -> Placement:
    """The placement of a link in the root at zero position."""
    X = HERE
    for joint in reversed(_joints_to_root(where, link, carriers)):
        X = X.compose(joint.pose.placement).as_matrix()
    return X

"""Changes of a robot: joints locked, links merged, parts attached, names and numbers replaced.

Each function takes the links and joints of a model in tree order and returns those of another; `Model` offers them as
methods, which check names and put the result in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.spatial import HERE, ZERO, Inertia, Placement, Symmetric, Vector
from .description import (
    Geometry,
    Joint,
    Link,
    Matrix3,
    Mimic,
    ModelError,
    Pose,
    Vector3,
    followed,
    matrix3,
    vector3,
)
from .joints import FIXED, aligned

Links = Sequence[Link]
Joints = Sequence[Joint]
Parts = tuple[list[Link], list[Joint]]

ROUNDING = 1e-9
"""How far given inertias may be from symmetric, relative to their largest entry, and quaternions from unit length."""


# Joints locked.


def reduce(links: Links, joints: Joints, locked: Mapping[str, Sequence[float]]) -> Parts:
    """Joints fixed at their given coordinates, with those that follow them (mimic)."""
    by_name = {joint.name: joint for joint in joints}

    def still(joint: Joint) -> Joint:
        source, multiplier, offset = followed(joint, by_name)
        if not joint.kind.nv or source not in locked:
            return joint
        q = list(locked[source])
        return at_rest(joint, q if source == joint.name else [q[0] * multiplier + offset])

    return list(links), [still(joint) for joint in joints]


def at_rest(joint: Joint, q: Sequence[float]) -> Joint:
    """The fixed joint that holds the child where this joint has it at the coordinates `q` (quaternions xyzw)."""
    X, q = joint.pose.placement, list(q)
    for kind, direction in zip(joint.kind.with_pitch(joint.pitch).parts, joint.axes, strict=True):
        own, q = q[: kind.nq], q[kind.nq :]
        axis, sign, turn = aligned(kind, direction)
        if kind.single:
            own = [sign * own[0]]
        R, p = kind.placement(axis, own)
        T = Placement(turn, ZERO)
        X = X.compose(T).compose(Placement(R, p)).compose(T.inverse())
    return Joint(joint.name, FIXED, joint.parent, joint.child, Pose.of(X))


# Links merged.


def collapse(links: Links, joints: Joints, keep: Collection[str]) -> Parts:
    """Links on fixed joints merged into the links that carry them; those of `keep` stay, without mass, as frames."""
    merged = {link.name: link for link in links}
    place = {links[0].name: (links[0].name, HERE)}
    left: list[Joint] = []
    for joint in joints:
        carrier, X = place[joint.parent]
        if carrier != joint.parent:
            X = X.compose(joint.pose.placement).as_matrix()
            joint = replace(joint, parent=carrier, pose=Pose.of(X))
        else:
            X = joint.pose.placement
        place[joint.child] = (joint.child, HERE) if joint.kind.nv else (carrier, X)
        if joint.kind.nv or joint.child in keep:
            left.append(joint)
        if not joint.kind.nv:
            merged[carrier] = joined(merged[carrier], moved(merged.pop(joint.child), X))
            if joint.child in keep:
                merged[joint.child] = Link(joint.child)
    return list(merged.values()), left


def joined(link: Link, load: Link) -> Link:
    """`link` with `load`, placed in the same frame, welded to it: the parallel-axis theorem about the common com."""
    mass = link.mass + load.mass
    parts = [part for part in (link, load) if part.mass]
    com = parts[0].com if len(parts) == 1 else link.com
    if len(parts) == 2:
        com = vector3(
            (link.mass * a + load.mass * b) / mass for a, b in zip(link.com, load.com, strict=True)
        )
    J = Symmetric.diagonal(0.0)
    for part in (link, load):
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = part.inertia
        shift = Vector(*part.com) - Vector(*com)
        J = J + Inertia.at_com(part.mass, shift, Symmetric(xx, xy, xz, yy, yz, zz)).J
    return replace(
        link,
        mass=mass,
        com=com,
        inertia=matrix3(J.rows),
        visuals=link.visuals + load.visuals,
        collisions=link.collisions + load.collisions,
    )


def moved(link: Link, X: Placement) -> Link:
    """A link's content as seen from the frame in which the link is placed by `X`."""

    def shifted(shapes: tuple[Geometry, ...]) -> tuple[Geometry, ...]:
        return tuple(
            replace(shape, pose=Pose.of(X.compose(shape.pose.placement))) for shape in shapes
        )

    (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia
    return replace(
        link,
        com=vector3(X.point_to_parent(Vector(*link.com))),
        inertia=matrix3(X.R.symmetric_to_parent(Symmetric(xx, xy, xz, yy, yz, zz)).rows),
        visuals=shifted(link.visuals),
        collisions=shifted(link.collisions),
    )


# Parts added and removed.


def attach(
    links: Links, joints: Joints, other: tuple[Links, Joints], joint: Joint, prefix: str
) -> Parts:
    """`other`, its names prefixed, on a joint to its root."""
    theirs = rename(
        *other,
        {link.name: prefix + link.name for link in other[0]},
        {each.name: prefix + each.name for each in other[1]},
    )
    taken = {link.name for link in links} & {link.name for link in theirs[0]}
    taken_joints = {each.name for each in joints} & {joint.name, *(each.name for each in theirs[1])}
    if taken or taken_joints:
        what, name = ("link", min(taken)) if taken else ("joint", min(taken_joints))
        raise ValueError(
            f'both have a {what} named "{name}"; give what is attached a prefix, such as prefix="tool_"'
        )
    return [*links, *theirs[0]], [*joints, joint, *theirs[1]]


def detach(links: Links, joints: Joints, link: str) -> Parts:
    """What is left without `link` and all that it carries."""
    gone = {link}
    for joint in joints:  # parents come first
        if joint.parent in gone:
            gone.add(joint.child)
    left = [joint for joint in joints if joint.child not in gone]
    lost = {joint.name for joint in joints} - {joint.name for joint in left}
    for joint in left:
        if joint.mimic is not None and joint.mimic.joint in lost:
            raise ValueError(
                f'joint "{joint.name}" mimics "{joint.mimic.joint}", which would go with link "{link}"; '
                "detach it too, or lock that joint first (reduce)"
            )
    return [each for each in links if each.name not in gone], left


def rename(
    links: Links, joints: Joints, of_links: Mapping[str, str], of_joints: Mapping[str, str]
) -> Parts:
    """New names, old ones as keys, wherever they stand."""

    def renamed(joint: Joint) -> Joint:
        mimic, gearbox = joint.mimic, joint.gearbox
        if mimic is not None:
            mimic = Mimic(of_joints.get(mimic.joint, mimic.joint), mimic.multiplier, mimic.offset)
        if gearbox is not None:
            gearbox = replace(gearbox, reference=of_links.get(gearbox.reference, gearbox.reference))
        return replace(
            joint,
            name=of_joints.get(joint.name, joint.name),
            parent=of_links.get(joint.parent, joint.parent),
            child=of_links.get(joint.child, joint.child),
            mimic=mimic,
            gearbox=gearbox,
        )

    return [replace(k, name=of_links.get(k.name, k.name)) for k in links], [
        renamed(j) for j in joints
    ]


# Numbers replaced.


def with_link(links: Links, joints: Joints, name: str, change: Callable[[Link], Link]) -> Parts:
    return [change(link) if link.name == name else link for link in links], list(joints)


def with_joint(links: Links, joints: Joints, name: str, change: Callable[[Joint], Joint]) -> Parts:
    return list(links), [change(joint) if joint.name == name else joint for joint in joints]


def limited(joint: Joint, bounds: Mapping[str, float | None]) -> Joint:
    """With those bounds that are not None."""
    given = {name: float(value) for name, value in bounds.items() if value is not None}
    limits = replace(joint.limits, **given)
    if (
        any(map(math.isnan, given.values()))
        or limits.lower > limits.upper
        or min(limits.velocity, limits.effort) < 0
    ):
        raise ValueError(
            f'limits of joint "{joint.name}" need lower <= upper, velocity and effort not negative; got {limits}'
        )
    return replace(joint, limits=limits)


def body(what: str, mass: Any, com: Any, inertia: Any) -> tuple[float, Vector3, Matrix3]:
    """Mass [kg], com [m] and inertia about it [kg·m²] as plain numbers, refused where no body can have them."""
    try:
        values = float(mass), vector3(com), matrix3(inertia)
    except (TypeError, ValueError):
        values = math.nan, vector3((0, 0, 0)), matrix3(((0,) * 3,) * 3)
    (m, c, J), entries = values, [x for row in values[2] for x in row]
    if not (m >= 0 and all(map(math.isfinite, (m, *c, *entries)))):
        raise ValueError(
            f"{what} needs a finite mass, not negative, a finite com (3,) and inertia (3, 3); "
            f"got {mass} kg at {com} with {inertia}"
        )
    if any(
        abs(J[i][k] - J[k][i]) > ROUNDING * max(map(abs, entries))
        for i in range(3)
        for k in range(i)
    ):
        raise ValueError(f"the inertia of {what} must be symmetric, got {inertia}")
    return m, c, J


def frame(joints: Joints, name: str, parent: str, pose: Any) -> tuple[Link, Joint]:
    """A link without mass, and the fixed joint that holds it."""
    joint = f"{name}_joint"
    if any(each.child == name for each in joints):
        raise ModelError(
            f'frame "{name}": there is a link "{name}" already; choose another name for the frame'
        )
    if any(each.name == joint for each in joints):
        raise ModelError(
            f'frame "{name}": there is a joint "{joint}" already; choose another name for the frame'
        )
    return Link(name), Joint(joint, FIXED, parent, name, Pose.of(pose))


def coordinates(joint: Joint, value: Any, order: Sequence[str]) -> list[float]:
    """A joint's coordinates, given in this order of their names, as plain numbers in its kind's own order; quaternions
    made of unit length."""
    kind = joint.kind
    given = (
        [float(value)]
        if kind.single and not hasattr(value, "__len__")
        else [float(x) for x in value]
    )
    if len(given) != kind.nq or not all(map(math.isfinite, given)):
        raise ValueError(
            f'joint "{joint.name}" needs {kind.nq} finite coordinates ({kind.name}), got {value!r}'
        )
    given = [dict(zip(order, given, strict=True))[name] for name in kind.q_names]
    if kind.quaternion is not None:
        k = kind.quaternion
        norm = math.hypot(*given[k : k + 4])
        if not norm > 0:
            raise ValueError(
                f'joint "{joint.name}": its quaternion is zero; it must be of unit length'
            )
        given[k : k + 4] = [x / norm for x in given[k : k + 4]]
    return given

"""Copies of a robot with other links and joints: locked, merged, attached, detached, renamed.

Each public function that takes `self` is a method of `Model`, which lists them. It checks names and
returns another model, in tree order. Functions that replace numbers are in `edits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.spatial import HERE, ZERO, Inertia, Placement, Symmetric, Vector
from .assembly import rebuild
from .checks import finite
from .closed_loops.loop import loops_to_attach
from .description import Geometry, Joint, Link, Mimic, fixed_joint, leading_joint
from .joints import align_axis
from .names import ModelError, check_names, look_up
from .poses_and_limits import ORIGIN, Pose, matrix3, vector3
from .structure import Robot, Structure

# Joints locked.


def reduce(self: Robot, joints: Iterable[str], at: Any = None) -> Robot:
    """The robot with all other joints locked: fixed at the coordinates `at`, together with
    the joints that mimic them. A floating base stays free. Links of locked joints stay as frames
    (`collapse` merges them).

    joints: names of the joints that keep their coordinates.
    at: coordinates by joint name, or a whole q (nq,); neutral where not given.
    """
    if isinstance(joints, Mapping):
        raise TypeError(
            "joints are the names of those that keep their coordinates, got coordinates by name; "
            "coordinates of locked joints are `at`: model.reduce(kept, at={...})"
        )
    kept = set(check_names(joints))
    self.joint_indices(kept)
    independent = self.moving_joints[int(self.floating_base) :]
    locked = {joint.name: joint for joint in independent if joint.name not in kept}
    for name in at if isinstance(at, Mapping) else ():
        if name in kept:
            raise ValueError(
                f'joint "{name}" of {self.name} keeps its coordinates; leave it out of `at`'
            )
        look_up(locked, name, "locked joint", self.name)
    still = coordinates_at(self, list(locked.values()), at)
    by_name = {joint.name: joint for joint in self.joints}
    held = {}
    for joint in (each for each in self.joints if each.kind.single):
        leader, multiplier, offset = leading_joint(joint, by_name)
        if leader in still:
            held[joint.name] = still[leader][0] * multiplier + offset
    tendons = (tendon.with_held_joints(held) for tendon in self.tendons)
    actuators = (
        held_there for a in self.actuators if (held_there := a.with_held_joints(held)).arms
    )
    loops = tuple(left for loop in self.loops if (left := loop.with_held_joints(held)))
    tied = replace(self, tendons=tuple(tendons), loops=loops, actuators=tuple(actuators))
    return rebuild(tied, self.links, lock_joints(self.joints, still))


def lock_joints(joints: Sequence[Joint], values: Mapping[str, Sequence[float]]) -> list[Joint]:
    """The joints, with those of `values` and their mimic joints fixed at these coordinates."""
    by_name = {joint.name: joint for joint in joints}

    def fix_joint(joint: Joint) -> Joint:
        leader, multiplier, offset = leading_joint(joint, by_name)
        if not joint.kind.nv or leader not in values:
            return joint
        q = list(values[leader])
        return at_rest(joint, q if leader == joint.name else [q[0] * multiplier + offset])

    return [fix_joint(joint) for joint in joints]


def at_rest(joint: Joint, q: Sequence[float]) -> Joint:
    """The fixed joint that holds the child where this joint places it at the coordinates `q`
    (quaternions xyzw)."""
    X, q = joint.pose.placement, list(q)
    for kind, direction in zip(joint.kind.with_pitch(joint.pitch).parts, joint.axes, strict=True):
        coordinates, q = q[: kind.nq], q[kind.nq :]
        axis, sign, turn = align_axis(kind, direction)
        if kind.single:
            coordinates = [sign * coordinates[0]]
        R, p = kind.placement(axis, coordinates)
        T = Placement(turn, ZERO)
        X = X.compose(T).compose(Placement(R, p)).compose(T.inverse())
    return fixed_joint(joint.name, joint.parent, joint.child, X)


def coordinates_at(
    self: Structure, joints: Iterable[Joint], at: Any, what: str = "at"
) -> dict[str, list[float]]:
    """Coordinates (quaternions x y z w) of moving joints, by name, at the configuration `at`.

    at: coordinates by joint name, or a whole q (nq,), which messages call `what`; joints that it
    does not name are neutral.
    """
    q = self.neutral
    if at is not None and not isinstance(at, Mapping):
        q = np.asarray(at, dtype=float)
        if q.shape != (self.nq,):
            raise ValueError(
                f"{what} must be a mapping by joint name, or q (nq,) = ({self.nq},), got {q.shape}"
            )
    values: Mapping[str, Any] = at if isinstance(at, Mapping) else {}
    return {
        joint.name: _coordinates(
            joint, values.get(joint.name, q[self.coordinates[joint.name].q]), self.quaternion
        )
        for joint in joints
    }


def _coordinates(joint: Joint, value: Any, order: str) -> list[float]:
    """A joint's coordinates as plain numbers. The quaternion, given in this order and of any
    length, is returned as x y z w of unit length."""
    kind = joint.kind
    alone = kind.single and not hasattr(value, "__len__")
    entries = [value] if alone else list(value)
    if len(entries) != kind.nq or not finite(entries):
        what = f"{kind.nq} finite coordinate{'s' * (kind.nq > 1)}"
        raise ValueError(f'joint "{joint.name}" needs {what} ({kind.name}), got {value!r}')
    numbers = [float(x) for x in entries]
    numbers = list(kind.scalar_last(numbers, order))
    if kind.quaternion is not None:
        quaternion = numbers[kind.quaternion :]
        norm = math.hypot(*quaternion)
        if not norm > 0:
            raise ValueError(
                f'joint "{joint.name}": its quaternion is zero; it must be of unit length'
            )
        numbers[kind.quaternion :] = [x / norm for x in quaternion]
    return numbers


# Links merged.


def collapse(self: Robot, keep: Iterable[str] = ()) -> Robot:
    """The same robot with every link on a fixed joint merged into the link that carries it. The
    links named in `keep` stay as frames without mass. Excluded pairs of merged links are lost. Links
    of which gravity compensation bears different shares, acting or described, are refused."""
    kept = set(check_names(keep))
    self.link_indices(kept)
    links = {link.name: link for link in self.links}
    place = {self.root: (self.root, HERE)}
    shapes: dict[str, tuple[str, int]] = {}
    joints: list[Joint] = []
    for joint in self.joints:
        carrier, X = place[joint.parent]
        if carrier == joint.parent:
            X = joint.pose.placement
        else:  # its parent was merged: the joint moves to the link that now carries it
            X = X.compose(joint.pose.placement).as_matrix()
            joint = replace(joint, parent=carrier, pose=Pose.of(X))
        place[joint.child] = (joint.child, HERE) if joint.kind.nv else (carrier, X)
        if joint.kind.nv or joint.child in kept:
            joints.append(joint)
        if not joint.kind.nv:
            shapes[joint.child] = carrier, len(links[carrier].collisions)
            links[carrier] = weld_links(links[carrier], move_link(links.pop(joint.child), X))
            if joint.child in kept:
                links[joint.child] = Link(joint.child)
    # A loop within one link constrains no motion.
    moved = (loop.with_moved_links(place) for loop in self.loops)
    loops = tuple(loop for loop in moved if loop.first != loop.second)
    pairs = tuple(pair.with_moved_shapes(shapes) for pair in self.touching_pairs)
    whole = replace(self, loops=loops, touching_pairs=pairs)
    return rebuild(whole, list(links.values()), joints)


def weld_links(link: Link, load: Link) -> Link:
    """`link` with `load`, placed in the same frame, welded to it: the parallel-axis theorem about
    the common com."""
    heavy = [part for part in (link, load) if part.mass]
    # A link has one share, so the weights of parts with two shares could not be borne as before.
    for share, remedy in (
        ("borne", "make them equal first: with_gravity_compensation"),
        ("gravcomp", "leave them apart: links on fixed joints cost nothing at run time"),
    ):
        shares = [float(getattr(part, share)) for part in heavy]
        if len(set(shares)) > 1:
            raise ValueError(
                f"the compensated shares of the weight of {link.name} ({shares[0]:g}) and {load.name} "
                f"({shares[1]:g}) differ; {remedy}"
            )
    bearing = heavy[0] if heavy else link
    mass = link.mass + load.mass
    com = heavy[0].com if len(heavy) == 1 else link.com
    if len(heavy) == 2:
        com = vector3(
            (link.mass * a + load.mass * b) / mass for a, b in zip(link.com, load.com, strict=True)
        )
    J = Symmetric.diagonal(0.0)
    for part in (link, load):
        shift = Vector(*part.com) - Vector(*com)
        J = J + Inertia.at_com(part.mass, shift, part.symmetric).J
    return replace(
        link,
        mass=mass,
        com=com,
        inertia=matrix3(J.rows),
        borne=bearing.borne,
        gravcomp=bearing.gravcomp,
        visuals=link.visuals + load.visuals,
        collisions=link.collisions + load.collisions,
    )


def move_link(link: Link, X: Placement) -> Link:
    """A link's inertia and shapes, seen from the frame in which the link is placed by `X`."""

    def shift_shapes(shapes: tuple[Geometry, ...]) -> tuple[Geometry, ...]:
        return tuple(
            replace(shape, pose=Pose.of(X.compose(shape.pose.placement))) for shape in shapes
        )

    return replace(
        link,
        com=vector3(X.point_to_parent(Vector(*link.com))),
        inertia=matrix3(X.R.symmetric_to_parent(link.symmetric).rows),
        visuals=shift_shapes(link.visuals),
        collisions=shift_shapes(link.collisions),
    )


# Links and joints added and removed.


def with_frame(self: Robot, name: str, parent: str, pose: Any) -> Robot:
    """The same robot with a frame on link `parent`: a link without mass on a fixed joint
    "<name>_joint".

    pose: of the frame in the link: a Pose, a 4x4 matrix, x y z, or x y z qx qy qz qw.
    """
    self.link(parent)
    joint = f"{name}_joint"
    for what, there, new in (
        ("link", {each.child for each in self.joints}, name),
        ("joint", {each.name for each in self.joints}, joint),
    ):
        if new in there:
            raise ModelError(
                f'frame "{name}": there is a {what} "{new}" already; choose another name for the frame'
            )
    holder = fixed_joint(joint, parent, name, pose)
    return rebuild(self, [*self.links, Link(name)], [*self.joints, holder])


def attach(
    self: Robot,
    other: Structure,
    frame: str,
    *,
    pose: Any = ORIGIN,
    prefix: str = "",
    joint: str | None = None,
) -> Robot:
    """This robot with another one fixed to its link `frame`, regardless of the other robot's base.

    pose: of the other's root in `frame`: a Pose, a 4x4 matrix, x y z, or x y z qx qy qz qw.
    prefix: goes before the other's names. joint: name of the joint, by default "<frame>_to_<root>".
    A configuration of this robot takes the other's joints from the other's configuration of the
    same name; without one they are neutral. Configurations of the other alone are left out.
    """
    self.link(frame)
    root = prefix + other.root
    mount = fixed_joint(joint or f"{frame}_to_{root}", frame, root, pose)
    of_links = {link.name: prefix + link.name for link in other.links}
    of_joints = {each.name: prefix + each.name for each in other.joints}
    links, joints = rename_parts(other, of_links, of_joints)
    same_links = {link.name for link in self.links} & {link.name for link in links}
    same_joints = {each.name for each in self.joints} & {mount.name, *(j.name for j in joints)}
    if same_links or same_joints:
        what, name = ("link", min(same_links)) if same_links else ("joint", min(same_joints))
        raise ValueError(
            f'both robots have a {what} named "{name}"; give the attached robot a prefix, such as '
            'prefix="tool_"'
        )
    # Configurations with the same name on both robots are joined: `home` of an arm with a hand is
    # `home` of both.
    there = {c.name: c.restrict_to(other.joint_names) for c in other.named}
    prefixed = {name: prefix + name for name in other.joint_names}
    both = rebuild(self, [*self.links, *links], [*self.joints, mount, *joints])
    named = (
        c.join(there[c.name].with_renamed_joints(prefixed)) if c.name in there else c
        for c in both.named
    )
    added = _prefixed_parts(other, prefix, of_links, of_joints)
    kept: dict[str, Any] = {n: (*getattr(both, n), *parts) for n, parts in added.items()}
    chosen = self.chosen_forces | other.chosen_forces
    return replace(both, named=tuple(named), chosen_forces=chosen, **kept)


def _prefixed_parts(
    other: Structure, prefix: str, of_links: Mapping[str, str], of_joints: Mapping[str, str]
) -> dict[str, Any]:
    """The fields of an attached robot that refer to its links and joints, under new names."""
    tendons = (t.with_renamed_joints(of_joints) for t in other.tendons)
    actuators = (a.with_renamed_joints(of_joints) for a in other.actuators)
    sensors = (s.with_renamed_parts(of_links, of_joints) for s in other.sensors)
    return {
        "tendons": [replace(t, name=prefix + t.name) for t in tendons],
        "loops": loops_to_attach(other.name, other.loops, prefix, of_links, of_joints),
        "actuators": [replace(a, name=prefix + a.name) for a in actuators],
        "sensors": [replace(s, name=prefix + s.name) for s in sensors],
        "excluded_pairs": renamed_pairs(other, of_links),
        "touching_pairs": [p.with_renamed_links(of_links) for p in other.touching_pairs],
    }


def detach(self: Robot, link: str) -> Robot:
    """The robot without `link` and everything that `link` carries."""
    self.link(link)
    if link == self.root:
        raise ValueError(
            f'link "{link}" is the root of {self.name}; nothing would be left without it'
        )
    gone = {link}
    for joint in self.joints:  # parents come first
        if joint.parent in gone:
            gone.add(joint.child)
    left = [joint for joint in self.joints if joint.child not in gone]
    lost = {joint.name for joint in self.joints} - {joint.name for joint in left}
    for joint in left:
        if joint.mimic is not None and joint.mimic.joint in lost:
            raise ValueError(
                f'joint "{joint.name}" mimics "{joint.mimic.joint}", which is removed with link '
                f'"{link}"; detach it too, or lock that joint first (reduce)'
            )
    return rebuild(self, [each for each in self.links if each.name not in gone], left)


# Names.


def rename(
    self: Robot,
    links: Mapping[str, str] | None = None,
    joints: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Robot:
    """The same robot under other names: {old: new} for links and joints, `name` for the robot."""
    for link in links or {}:
        self.link(link)
    for joint in joints or {}:
        self.joint(joint)
    sensors = (sensor.with_renamed_parts(links or {}, joints or {}) for sensor in self.sensors)
    loops = (loop.with_renamed_links(links or {}) for loop in self.loops)
    named = replace(
        self,
        sensors=tuple(sensors),
        loops=tuple(loops),
        excluded_pairs=renamed_pairs(self, links or {}),
        touching_pairs=tuple(p.with_renamed_links(links or {}) for p in self.touching_pairs),
    )
    result = rebuild(named, *rename_parts(self, links or {}, joints or {}), joints or {})
    return result if name is None else replace(result, name=name)


def renamed_pairs(robot: Structure, of_links: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The excluded pairs under new names of links, old ones as keys."""
    return tuple((of_links.get(a, a), of_links.get(b, b)) for a, b in robot.excluded_pairs)


def rename_parts(
    robot: Structure, of_links: Mapping[str, str], of_joints: Mapping[str, str]
) -> tuple[list[Link], list[Joint]]:
    """Links and joints under new names, old ones as keys, including all references to them."""

    def rename_joint(joint: Joint) -> Joint:
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

    links = [replace(link, name=of_links.get(link.name, link.name)) for link in robot.links]
    return links, [rename_joint(joint) for joint in robot.joints]

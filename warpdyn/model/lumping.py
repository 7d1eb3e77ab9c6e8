"""The conversion of a model to its tree: fixed joints lumped, axes aligned, mimic joints
resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..algebra.scalar import is_number
from ..algebra.spatial import HERE, ZERO, ZERO_INERTIA, Inertia, Placement, Vector, as_matrix
from .closed_loops.loop import Loop
from .closed_loops.tree_loops import CoupledJoints, Follower, JoinedFrames, LoopEnd, TreeLoop
from .description import Joint, leading_joint
from .joints import FLOATING, align_axis
from .link_inertia import Point, Spread
from .structure import Structure
from .tendons import Tendon
from .tree import WORLD, Body, Cable, DrivenJoint, Frame, Tree, TreeActuator

Columns = Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]
"""Columns of each joint in q and in v, by name."""


def build_tree(model: Structure) -> Tree:
    """Lump fixed joints, align joint axes and resolve mimic joints. A joint of two axes becomes two
    bodies."""
    columns = {
        name: (tuple(range(c.q.start, c.q.stop)), tuple(range(c.v.start, c.v.stop)))
        for name, c in model.coordinates.items()
    }
    joints = {j.name: j for j in model.joints}
    bodies = _base(model, columns)
    frames = {model.root: Frame(0 if bodies else WORLD, HERE)}
    for joint in model.joints:  # parents come first, so that each finds its carrier
        carrier = frames[joint.parent]
        X = carrier.placement.compose(joint.pose.placement).as_matrix()
        # The child of a fixed joint moves with the body that carries the joint: it is a frame in
        # that body.
        frames[joint.child] = (
            _add_joint(model, joint, carrier.body, X, columns, joints, bodies)
            if joint.kind.nv
            else Frame(carrier.body, X)
        )
    # Links are lumped last, when every frame has its body.
    ground = _lump_links(model, bodies, frames)
    starts = {name: (v[0], q[0]) for name, (q, v) in columns.items()}
    cables = tuple(_cable(tendon, joints, starts) for tendon in model.tendons)
    drives, driven = _drives(model, joints, starts)
    loops = tuple(_loop(loop, frames, joints, starts) for loop in model.loops)
    return Tree(
        tuple(bodies),
        frames,
        model.nq,
        model.nv,
        ground,
        cables,
        drives,
        loops=loops,
        driven=driven,
    )


def _base(model: Structure, columns: Columns) -> list[Body]:
    """The free base as a body; none if the root is fixed to the world."""
    if not model.floating_base:
        return []
    q_index, v_index = columns[model.base_joint]
    base = Body(
        joint=model.base_joint,
        parent=WORLD,
        kind=FLOATING,
        axis=2,
        X_tree=HERE,
        known=ZERO_INERTIA,
        q_index=FLOATING.scalar_last(q_index, model.quaternion),
        v_index=v_index,
        armature=model.base_armature,
        effects=model.base_effects,
    )
    return [base]


def _add_joint(
    model: Structure,
    joint: Joint,
    parent: int,
    X: Placement,
    columns: Columns,
    joints: Mapping[str, Joint],
    bodies: list[Body],
) -> Frame:
    """Add a body without mass for each axis of a moving joint, and return its child's frame.

    parent, X: the body that carries the joint, and the joint's placement in it.
    """
    # A mimic joint reads its leader's columns; the relation is two numbers of the body.
    leader, multiplier, offset = leading_joint(joint, joints)
    q_index, v_index = columns[leader]
    q_index = joint.kind.scalar_last(q_index, model.quaternion)
    effects, limits = joint.effects, joint.v_limits
    for kind, direction in zip(joint.kind.with_pitch(joint.pitch).parts, joint.axes, strict=True):
        # With the frame turned so that the joint moves about or along a coordinate axis, most
        # entries of its transform are zeros and ones. An axis that points backwards counts its
        # angle backwards.
        axis, sign, turn = align_axis(kind, direction)
        body = Body(
            joint=joint.name,
            parent=parent,
            kind=kind,
            axis=axis,
            X_tree=X.compose(Placement(turn, ZERO)).as_matrix(),
            known=ZERO_INERTIA,
            q_index=q_index[: kind.nq],
            v_index=v_index[: kind.nv],
            multiplier=sign * multiplier,
            offset=sign * offset,
            armature=joint.armature,
            effects=tuple(each.along(sign) for each in effects[: kind.nv]),
            limits=limits[0].along(sign),
        )
        bodies.append(body)
        effects, limits = effects[kind.nv :], limits[kind.nv :]
        q_index, v_index = q_index[kind.nq :], v_index[kind.nv :]
        # The next axis, and the child link, are described in the joint's frame before that turn.
        parent, X = len(bodies) - 1, Placement(turn, ZERO).inverse()
    return Frame(parent, X)


def _lump_links(model: Structure, bodies: list[Body], frames: dict[str, Frame]) -> Inertia:
    """Add the links' masses to their frames and to the bodies that carry them, and return the
    inertia of the links that are fixed to the world."""
    ground = ZERO_INERTIA
    for link in model.links:
        frame = frames[link.name] = replace(
            frames[link.name], mass=link.mass, com=Vector(*link.com)
        )
        # The mass at the centre and the moments about it are added separately, because with params
        # either may be symbols.
        point = Point(frame.placement, frame.mass, frame.com)
        spread = Spread(as_matrix(frame.placement.R), link.symmetric)
        if frame.body == WORLD:
            ground = ground + point.inertia + spread.inertia
            continue
        body = bodies[frame.body].with_load(point).with_load(spread)
        if not (is_number(link.borne) and link.borne == 0.0):
            part = frame.mass * link.borne, frame.placement.point_to_parent(frame.com)
            body = replace(body, borne=(*body.borne, part))
        bodies[frame.body] = body
    return ground


def _drives(
    model: Structure, joints: Mapping[str, Joint], starts: Mapping[str, tuple[int, int]]
) -> tuple[tuple[TreeActuator, ...], tuple[DrivenJoint, ...]]:
    """The actuators, and the joints that they push as columns of q and v."""
    names = list(dict.fromkeys(name for each in model.actuators for name, _ in each.arms))
    driven = []
    for name in names:
        leader, multiplier, offset = leading_joint(joints[name], joints)
        driven.append(DrivenJoint(*starts[leader], multiplier, offset, joints[name].limits.effort))
    drives = (
        TreeActuator(
            tuple((names.index(name), arm) for name, arm in each.arms),
            each.constant,
            each.gain,
            each.bias,
            each.controls,
            each.forces,
        )
        for each in model.actuators
    )
    return tuple(drives), tuple(driven)


def _loop(
    loop: Loop,
    frames: Mapping[str, Frame],
    joints: Mapping[str, Joint],
    starts: Mapping[str, tuple[int, int]],
) -> TreeLoop:
    """A loop between bodies, or between columns of q and v."""
    if not loop.is_of_links:
        followers = []
        for name in loop.ends:
            leader, multiplier, offset = leading_joint(joints[name], joints)
            followers.append(Follower(*starts[leader], multiplier, offset))
        second = followers[1] if loop.second else None
        return TreeLoop(joints=CoupledJoints(followers[0], second, loop.coefficients))
    ends = []
    for link, pose in ((loop.first, loop.first_pose), (loop.second, loop.second_pose)):
        frame = Frame(WORLD, HERE) if link is None else frames[link]
        X = frame.placement.compose(pose.placement).as_matrix()
        ends.append(LoopEnd(frame.body, X))
    return TreeLoop(JoinedFrames(ends[0], ends[1], loop.rows - 3))


def _cable(
    tendon: Tendon, joints: Mapping[str, Joint], starts: Mapping[str, tuple[int, int]]
) -> Cable:
    """A tendon as columns of q and v. Joints that follow others count as their leaders' columns.

    starts: first column in v and q of each joint.
    """
    by_column: dict[tuple[int, int], float] = {}
    constant = tendon.constant
    for name, c in tendon.coefficients:
        leader, multiplier, offset = leading_joint(joints[name], joints)
        by_column[starts[leader]] = by_column.get(starts[leader], 0.0) + c * multiplier
        constant += c * offset
    columns = tuple((*start, c) for start, c in by_column.items() if c)
    limits = tendon.limits.lower, tendon.limits.upper
    return Cable(columns, constant, tendon.armature, tendon.effects, tendon.slack, limits)

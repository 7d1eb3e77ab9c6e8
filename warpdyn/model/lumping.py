"""The conversion of a model to its tree: fixed joints lumped, axes aligned, mimic joints
resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..algebra.scalar import is_number
from ..algebra.spatial import HERE, ZERO, ZERO_INERTIA, Placement, Vector, as_matrix
from .description import Joint, leading_joint
from .joints import FLOATING, align_axis
from .link_inertia import Point, Spread
from .structure import Structure
from .tendons import Tendon
from .tree import WORLD, Body, Cable, DrivenJoint, Frame, Tree, TreeActuator


def build_tree(model: Structure) -> Tree:
    """Lump fixed joints, align joint axes and resolve mimic joints. A joint of two axes becomes two
    bodies."""
    coordinates = {
        name: (tuple(range(c.q.start, c.q.stop)), tuple(range(c.v.start, c.v.stop)))
        for name, c in model.coordinates.items()
    }
    by_name = {j.name: j for j in model.joints}
    bodies: list[Body] = []
    frames: dict[str, Frame] = {}
    ground = ZERO_INERTIA
    if model.floating_base:
        q_index, v_index = coordinates[model.base_joint]
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
        bodies.append(base)
        frames[model.root] = Frame(0, HERE)
    else:
        frames[model.root] = Frame(WORLD, HERE)
    for joint in model.joints:  # parents come first, so that each finds its carrier
        carrier = frames[joint.parent]
        X = carrier.placement.compose(joint.pose.placement).as_matrix()
        # The child of a fixed joint moves with the body that carries the joint: it is a frame in
        # that body.
        if not joint.kind.nv:
            frames[joint.child] = Frame(carrier.body, X)
            continue
        # A mimic joint reads its leader's columns; the relation is two numbers of the body.
        leader, multiplier, offset = leading_joint(joint, by_name)
        q_index, v_index = coordinates[leader]
        q_index, parent = joint.kind.scalar_last(q_index, model.quaternion), carrier.body
        effects, limits = joint.effects, joint.v_limits
        for kind, direction in zip(
            joint.kind.with_pitch(joint.pitch).parts, joint.axes, strict=True
        ):
            # With the frame turned so that the joint moves about or along a coordinate axis, most
            # entries of its transform are zeros and ones. An axis that points backwards counts its
            # angle backwards.
            axis, sign, turn = align_axis(kind, direction)
            X_tree = X.compose(Placement(turn, ZERO)).as_matrix()
            body = Body(
                joint=joint.name,
                parent=parent,
                kind=kind,
                axis=axis,
                X_tree=X_tree,
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
            # The next axis, and the child link, are described in the joint's frame before that
            # turn.
            parent, X = len(bodies) - 1, Placement(turn, ZERO).inverse()
        frames[joint.child] = Frame(parent, X)
    # Links are lumped last, when every frame has its body. The mass at the centre and the moments
    # about it are added separately, because with params either may be symbols.
    for link in model.links:
        frame = frames[link.name] = replace(
            frames[link.name], mass=link.mass, com=Vector(*link.com)
        )
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
    starts = {name: (v[0], q[0]) for name, (q, v) in coordinates.items()}
    cables = tuple(_cable(tendon, by_name, starts) for tendon in model.tendons)
    drives, driven = _drives(model, by_name, starts)
    return Tree(tuple(bodies), frames, model.nq, model.nv, ground, cables, drives, driven)


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
    return Cable(columns, constant, tendon.armature, tendon.effects, tendon.slack)

"""USD: a stage's UsdPhysics bodies and joints to Model, by the package usd-core.

`usd_values` reads numbers in SI units. This module chooses an articulation and arranges its joints
as a tree. `Model.assemble` then checks it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model import Model
from ...model.checks import unphysical
from ...model.description import Joint, Limits, Link, ModelError, Pose, fixed_joint, unit_vector
from ...model.joints import KINDS
from ...model.reference_frames import Reference
from ...model.remarks import warn
from ...model.structure import QuaternionOrder
from ..registry import USD
from ..robot_source import Loops, RobotSource, cuts_loops
from .usd_groups import group_bodies, last_words
from .usd_layers import open_stage
from .usd_shapes import shapes_of
from .usd_values import UsdValues, error_message, library

WORLD = "world"
"""The massless root link of a robot that is fixed to the world."""

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
EXCLUDED = "physics:excludeFromArticulation"
SECOND = "its second body carries its first; exchange its bodies and their frames"
FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def load_usd(
    source: str | bytes | os.PathLike[str] | RobotSource,
    *,
    model: str | None = None,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    loops: Loops = "refuse",
) -> Model:
    """Robot of a USD stage: its UsdPhysics bodies and joints, as Isaac Sim and Newton write them.

    source: a path (.usd, .usda, .usdc, .usdz), or the text of a .usda ("#usda 1.0 ..."). Layers
    that a file refers to are read too: only for files that you trust.
    model: which articulation, by the path or the name of its root, if there is more than one.
    floating_base: None follows the stage: a robot that no joint holds in the world moves freely.
    True: it must. False: fixed at its pose in the stage.
    quaternion: order of quaternions in q, "xyzw" or "wxyz".
    base_velocity: representation of a free base's velocity, "local", "local_world_aligned" or
    "world"; see `Model.with_base_velocity`.
    loops: "refuse" a joint that closes a loop, or "cut": leave it open, with a remark.

    Units are SI whatever the stage's are, and the world's z axis is up. Links are named after their
    prims, or by their paths if names are not unique. A robot that is fixed to the world has the
    link "world" as root.
    Raises ModelError for a stage that cannot be used, and if usd-core is not installed (extra
    `[usd]`). Suspicious parts that can be used are used as written: one ModelWarning lists them,
    and so does `Model.warnings`.
    """
    cut = cuts_loops(loops)
    text = RobotSource.of(source, USD.reader, USD.name)
    pxr = library()
    try:
        stage = open_stage(pxr, text)
        robot = UsdReader(UsdValues(pxr, stage, text.name), stage, cut).model(model, floating_base)
    except (pxr.Tf.ErrorException, UnicodeDecodeError) as error:
        raise ModelError(f"{text.name}: usd-core cannot read it: {error_message(error)}") from error
    made = Model.assemble(
        robot.name,
        robot.links,
        robot.joints,
        source=text.name,
        floating_base=robot.free,
        quaternion=quaternion,
        warnings=[*robot.remarks, *unphysical(robot.links)],
    )
    return warn(text.name, made.with_base_velocity(base_velocity))


@dataclass(frozen=True)
class ArticulationParts:
    """The arguments of `Model.assemble`."""

    name: str
    links: list[Link]
    joints: list[Joint]
    free: bool
    remarks: list[str]


@dataclass(frozen=True, eq=False)
class Between:
    """A joint prim between two bodies (paths; "" is the world), with its frame in each [m]."""

    prim: Any
    bodies: tuple[str, str]
    frames: tuple[np.ndarray, np.ndarray]

    def beyond(self, body: str) -> str:
        return self.bodies[1] if body == self.bodies[0] else self.bodies[0]


class UsdReader:
    """One load."""

    def __init__(self, values: UsdValues, stage: Any, cut: bool) -> None:
        self.values, self.stage, self.cut, self.pxr = values, stage, cut, values.pxr
        physics = self.pxr.UsdPhysics
        self.left_out = 0
        prims = list(stage.Traverse(self.pxr.Usd.TraverseInstanceProxies()))
        self.bodies = {str(p.GetPath()): p for p in prims if p.HasAPI(physics.RigidBodyAPI)}
        self.roots = [str(p.GetPath()) for p in prims if p.HasAPI(physics.ArticulationRootAPI)]
        self.joints = [each for p in prims if p.IsA(physics.Joint) for each in self._between(p)]
        if not self.bodies:
            raise ModelError(
                f"{values.source}: no prim has PhysicsRigidBodyAPI; a robot needs rigid bodies"
            )
        for prim in (p for p in prims if p.IsA(physics.Scene)):
            values.check(prim)
            self._gravity(physics.Scene(prim))

    def _gravity(self, scene: Any) -> None:
        size = scene.GetGravityMagnitudeAttr().Get()
        along = np.array(scene.GetGravityDirectionAttr().Get() or (0, 0, 0), dtype=float)
        if size is None or not 0 <= size < np.inf or not along.any():
            return  # minus infinity and no direction: gravity as on the earth, downwards
        x, y, z = self.values.units.up[:3, :3] @ along / np.linalg.norm(along)
        size *= self.values.units.metre
        if abs(x) + abs(y) > 1e-3 or abs(size * z + 9.81) > 0.02:
            self.values.remarks.append(
                f"its gravity is ({x * size:g}, {y * size:g}, {z * size:g}); a model holds none, "
                "functions take gravity=..."
            )

    # Joints and their bodies.

    def _between(self, prim: Any) -> Iterator[Between]:
        """The joint if it acts on two bodies, or on one and the world."""
        self.values.check(prim)
        joint = self.pxr.UsdPhysics.Joint(prim)
        if joint.GetJointEnabledAttr().Get() is False:
            self.values.remarks.append(f"{prim.GetPath()}: this joint is disabled; it is left out")
            return
        ends = []
        for side, relation in enumerate((joint.GetBody0Rel(), joint.GetBody1Rel())):
            targets = relation.GetTargets()
            position = (joint.GetLocalPos0Attr, joint.GetLocalPos1Attr)[side]().Get()
            turn = (joint.GetLocalRot0Attr, joint.GetLocalRot1Attr)[side]().Get()
            ends.append(self._end(prim, targets[0] if targets else None, position, turn))
        (a, X), (b, Y) = ends
        if a == b:
            if a:
                raise self.values.refusal(prim, "both of its bodies are one; it needs two")
            return
        yield Between(prim, (a, b), (X, Y))

    def _end(self, joint: Any, target: Any, position: Any, turn: Any) -> tuple[str, np.ndarray]:
        """The body at an end of a joint, and the joint's frame in it."""
        values = self.values
        place = np.array(values.numbers(joint, "its place", position))
        if target is None:
            return "", values.units.up @ values.placement_at(joint, place, turn)
        prim = self.stage.GetPrimAtPath(target)
        if not prim:
            raise values.refusal(joint, f"there is no prim {target}, which it joins; correct it")
        on, scale = values.in_stage(prim)
        X = on @ values.placement_at(joint, place * scale, turn)
        body = prim
        while body and str(body.GetPath()) not in self.bodies:
            body = body.GetParent()
        if not body:  # a part of the scene that does not move
            return "", values.units.up @ X
        if body == prim:
            return str(target), values.placement_at(joint, place * scale, turn)
        return str(body.GetPath()), np.linalg.inv(values.in_stage(body)[0]) @ X

    # The choice of a robot.

    def model(self, wanted: str | None, floating_base: bool | None) -> ArticulationParts:
        label, members, root = self._choose(wanted)
        names = last_words(members)
        links = {path: self._link(self.bodies[path], names[path]) for path in members}
        if self.left_out:
            self.values.remarks.append(
                f"{self.left_out} shapes are meshes or of other kinds that are not read; what "
                "touches is boxes, balls, cylinders and capsules"
            )
        mine = set(members)
        joints = [j for j in self.joints if any(end in mine for end in j.bodies)]
        held = [j for j in joints if "" in j.bodies]
        if held and floating_base:
            raise self.values.refusal(
                held[0].prim, "it holds the robot in the world; leave floating_base out, or it"
            )
        names[""] = WORLD
        made = list(self._tree(names, joints, "" if held else root))
        if floating_base is False and not held:
            at = self.values.units.up @ self.values.in_stage(self.bodies[root])[0]
            made.append(fixed_joint(f"world_to_{names[root]}", WORLD, names[root], at))
        free = not held and floating_base is not False
        bodies = set(names.values())
        frames = [joint.child for joint in made if joint.child not in bodies]
        whole = [*([] if free else [Link(WORLD)]), *links.values(), *map(Link, frames)]
        return ArticulationParts(label.rpartition("/")[2], whole, made, free, self.values.remarks)

    def _link(self, prim: Any, name: str) -> Link:
        shapes = shapes_of(self.values, prim)
        self.left_out += shapes.left_out
        link = self.values.link(prim, name)
        return replace(link, visuals=shapes.visuals, collisions=shapes.collisions)

    def _choose(self, wanted: str | None) -> tuple[str, list[str], str]:
        """Path of an articulation, its bodies, and its root body."""
        groups = group_bodies(list(self.bodies), [j.bodies for j in self.joints])
        found: dict[str, tuple[list[str], str]] = {}
        ends = {str(j.prim.GetPath()): {end for end in j.bodies if end} for j in self.joints}
        near = {path: ends[path] if path in ends else self._below(path) for path in self.roots}
        held = {end for j in self.joints if "" in j.bodies for end in j.bodies}
        for members in groups:
            inside = set(members)
            marked = [path for path in self.roots if not near[path].isdisjoint(inside)]
            root = next((path for path in marked if path in inside), members[0])
            path = marked[0] if marked else members[0]
            # Several fixed trees may share one marked root: they become one robot on the world.
            if path in found:
                if held.isdisjoint(members) or held.isdisjoint(found[path][0]):
                    raise ModelError(
                        f"{self.values.source}: {path} is the root of several trees, of which one moves freely; "
                        "give each a root of its own, or hold all in the world"
                    )
                members, root = [*found[path][0], *members], found[path][1]
            found[path] = (members, root)
        articulated = [path for path in found if path in near]
        chosen = articulated if articulated else list(found)
        if wanted is not None:
            chosen = [p for p in found if wanted in (p, p.rpartition("/")[2])]
        if len(chosen) != 1:
            what = "articulations" if wanted is None else f'articulations "{wanted}"'
            raise ModelError(
                f"{self.values.source}: it has {len(chosen) or 'no'} {what}; say which: "
                f'model="...", one of {", ".join(list(found)[:12])}'
            )
        others = len(self.bodies) - len(found[chosen[0]][0])
        if others:
            self.values.remarks.append(f"{others} bodies are not of {chosen[0]}, and are left out")
        return (chosen[0], *found[chosen[0]])

    def _below(self, path: str) -> set[str]:
        """The bodies at a path and below."""
        return {b for b in self.bodies if b == path or b.startswith(f"{path}/")}

    # The tree.

    def _tree(self, names: dict[str, str], joints: Sequence[Between], root: str) -> Iterator[Joint]:
        """Joints from the root outwards, those that a stage excludes from the articulation last.
        Joints that are left over close loops."""
        called = last_words([str(joint.prim.GetPath()) for joint in joints])
        at: dict[str, list[Between]] = {}
        for joint in joints:
            for body in joint.bodies:
                at.setdefault(body, []).append(joint)
        reached, used = {root: None}, set[Between]()
        for excluded in (False, True):
            waiting = deque(reached)
            while waiting:
                body = waiting.popleft()
                for joint in at.get(body, ()):
                    other = joint.beyond(body)
                    out = bool(self.values.value(joint.prim, EXCLUDED))
                    if other not in reached and out <= excluded:
                        used.add(joint)
                        reached[other] = None
                        waiting.append(other)
                        yield from self._make_joints(joint, body, names, called)
        for joint in (j for j in joints if j not in used):
            path = joint.prim.GetPath()
            if not self.cut:
                raise self.values.refusal(
                    joint.prim, 'it closes a loop, and a robot must be a tree; loops="cut" opens it'
                )
            self.values.remarks.append(f"{path}: it closes a loop; it is left open")

    def _make_joints(
        self, joint: Between, parent: str, names: dict[str, str], called: dict[str, str]
    ) -> Iterator[Joint]:
        """The joint from `parent` outwards: one joint for each freedom, and a fixed one if the
        body's own frame is not on the last axis."""
        turned = joint.bodies[0] != parent
        X, Y = joint.frames[::-1] if turned else joint.frames
        name, child = called[str(joint.prim.GetPath())], names[joint.beyond(parent)]
        freedoms = list(self._freedoms(joint.prim, turned))
        rest = np.linalg.inv(Y)
        above = names[parent]
        if not freedoms:
            yield fixed_joint(name, above, child, X @ rest)
            return
        turns = freedoms[-1][1].kind.turns
        # If the axis passes through the child's origin, the child's own frame, turned, is the
        # joint's.
        direct = not turns or not Y[:3, 3].any()
        for k, (suffix, prototype) in enumerate(freedoms):
            last = k == len(freedoms) - 1
            label = name if len(freedoms) == 1 else f"{name}_{suffix}"
            below = child if last and direct else f"{label}_frame"
            at, axis = X if k == 0 else np.eye(4), np.array(prototype.axis)
            if last and direct:
                at = at @ rest
                axis = Y[:3, :3] @ axis
            made = replace(prototype, name=label, parent=above, child=below, pose=Pose.of(at))
            follows = self._mimic(joint.prim, called, turns) if len(freedoms) == 1 else None
            yield replace(made, axis=unit_vector(axis), mimic=follows)
            above = below
        if not direct:
            yield fixed_joint(f"{name}_to_{child}", above, child, rest)

    def _mimic(self, prim: Any, called: dict[str, str], turns: bool) -> Any:
        found = self.values.mimic(prim, turns)
        if found is None:
            return None
        path, mimic = found
        if str(path) not in called:
            raise self.values.refusal(prim, f"it mimics {path}, which is no joint of the robot")
        return replace(mimic, joint=called[str(path)])

    def _freedoms(self, prim: Any, turned: bool) -> Iterator[tuple[str, Joint]]:
        """A joint record for each freedom, without name and place yet. A joint that is traversed
        from its second body turns the other way."""
        values, physics = self.values, self.pxr.UsdPhysics
        if prim.IsA(physics.FixedJoint):
            return
        if prim.IsA(physics.SphericalJoint):
            yield "ball", self._ball(prim, turned)
            return
        sign = -1.0 if turned else 1.0
        simple = prim.IsA(physics.RevoluteJoint) or prim.IsA(physics.PrismaticJoint)
        if simple:
            turns = prim.IsA(physics.RevoluteJoint)
            axis = str(values.value(prim, "physics:axis") or "X")
            bounds = [values.value(prim, f"physics:{end}Limit") for end in ("lower", "upper")]
            free = [(("rot" if turns else "trans") + axis, *bounds)]
        elif prim.GetTypeName() == "PhysicsJoint":
            free = [each for f in FREEDOMS for each in self._range(prim, f)]
        else:
            raise values.refusal(prim, f"a {prim.GetTypeName()} is no joint of a robot here")
        turning = [f for f, *_ in free if f.startswith("rot")]
        bounds = [x for _, *ends in free for x in ends if x is not None]
        # Three unlimited rotations are a ball joint, which has no singular orientation.
        if len(turning) == len(free) == 3 and not np.isfinite(bounds).any():
            yield "ball", self._ball(prim, turned)
            return
        if turned and len(free) > 1:
            raise values.refusal(prim, SECOND)
        if len(turning) > 1:
            values.remarks.append(
                f"{prim.GetPath()}: it turns about several axes; taken one after the other, "
                f"{', '.join(turning)}, as Newton does"
            )
        for freedom, lower, upper in free:
            turns = freedom.startswith("rot")
            drive = ("angular" if turns else "linear") if simple else freedom
            limits = values.limits(prim, turns, lower, upper, drive)
            kind = KINDS["revolute" if turns else "prismatic"]
            if turns and limits.lower == -np.inf and limits.upper == np.inf:
                kind = KINDS["continuous"]
            x, y, z = AXES[freedom[-1]]
            made = Joint("", kind, "", "", axis=(sign * x, sign * y, sign * z), limits=limits)
            yield freedom, values.along(made, prim)

    def _range(self, prim: Any, freedom: str) -> Iterator[tuple[str, Any, Any]]:
        """A freedom of a generic joint with its range; nothing if the range locks it."""
        lower, upper = None, None
        if prim.HasAPI(self.pxr.UsdPhysics.LimitAPI, freedom):
            limit = self.pxr.UsdPhysics.LimitAPI(prim, freedom)
            lower, upper = limit.GetLowAttr().Get(), limit.GetHighAttr().Get()
        if lower is None or upper is None or lower <= upper:
            yield freedom, lower, upper

    def _ball(self, prim: Any, turned: bool) -> Joint:
        if turned:
            raise self.values.refusal(prim, SECOND)
        cones = (self.values.value(prim, f"physics:coneAngle{k}Limit") for k in (0, 1))
        if any(cone is not None and 0 <= cone < np.inf for cone in cones):
            self.values.remarks.append(f"{prim.GetPath()}: limits of a ball joint are left out")
        return Joint("", KINDS["ball"], "", "", limits=Limits())

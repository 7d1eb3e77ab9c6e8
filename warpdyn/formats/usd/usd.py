"""USD: a stage's UsdPhysics bodies and joints to Model, by the package usd-core.

`usd_values` reads numbers in SI units. This module chooses an articulation and arranges its joints
as a tree. `Model.assemble` then checks it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...algebra.spatial import Placement
from ...model import Model
from ...model.closed_loops.loop import Loop
from ...model.description import Joint, Link, fixed_joint
from ...model.joints import FLOATING
from ...model.named_configurations import Configuration
from ...model.names import ModelError
from ...model.poses_and_limits import Pose, unit_vector
from ...model.reference_frames import Reference
from ...model.remarks import unphysical, warn
from ...model.scene.free_bodies import drawn_at
from ...model.structure import QuaternionOrder
from ..registry import USD
from ..robot_source import LOOPS_KEPT, WITHOUT_FORCES, Loops, RobotSource, check_loops_option
from .usd_freedoms import Between, freedoms_of, loop_between
from .usd_groups import group_bodies, last_words
from .usd_layers import missing_parts, open_stage
from .usd_shapes import shapes_of
from .usd_values import UsdValues, library
from .usd_words import error_message

WORLD = "world"
"""The massless root link of a robot that is fixed to the world, or has several free bodies."""

EXCLUDED = "physics:excludeFromArticulation"


def load_usd(
    source: str | bytes | os.PathLike[str] | RobotSource,
    *,
    model: str | None = None,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    loops: Loops = "keep",
) -> Model:
    """Robot of a USD stage: its UsdPhysics bodies and joints, as Isaac Sim and Newton write them.

    source: a path (.usd, .usda, .usdc, .usdz), or the text of a .usda ("#usda 1.0 ..."). Layers
    that a file refers to are read too, so load only files that you trust.
    model: which articulation, by the path or the name of its root, if there is more than one;
    "world" for all bodies of the stage as one robot.
    floating_base: None follows the stage: a robot that no joint holds in the world moves freely.
    True: it must. False: fixed at its pose in the stage.
    quaternion: order of quaternions in q, "xyzw" or "wxyz".
    base_velocity: representation of a free base's velocity, "local", "local_world_aligned" or
    "world"; see `Model.with_base_velocity`.
    loops: a joint that closes a loop: "keep" it in `Model.loops` if it is fixed, revolute or a ball
        joint, which `step` and `wd.loops` close, and refuse other kinds; "cut": leave it open, with a
        remark; "refuse" the stage. Other functions are those of the tree.

    Units are SI whatever the stage's are, and the world's z axis is up. Links are named after their
    prims, or by their paths if names are not unique. A robot that is fixed to the world has the
    link "world" as root. So does a robot of several free bodies, each on a floating joint
    "world_to_<link>" whose coordinates are its pose in the world; "qpos0" has their poses in the
    stage.
    Raises ModelError for a stage that cannot be used, and if usd-core is not installed (extra
    `[usd]`). Suspicious parts that can be used are used as written. They are listed in a
    ModelWarning and in `Model.warnings`.
    """
    loops = check_loops_option(loops)
    text = RobotSource.of(source, USD.reader, USD.name)
    pxr = library()
    try:
        stage = open_stage(pxr, text)
        values = UsdValues(pxr, stage, text.name)
        values.remarks += missing_parts(stage)
        robot = UsdReader(values, stage, loops).model(model, floating_base)
    except (pxr.Tf.ErrorException, UnicodeDecodeError) as error:
        raise ModelError(f"{text.name}: usd-core cannot read it: {error_message(error)}") from error
    made = Model.assemble(
        robot.name,
        robot.links,
        robot.joints,
        source=text.name,
        floating_base=robot.free,
        named=robot.named,
        loops=robot.loops,
        quaternion=quaternion,
        warnings=[*robot.remarks, *unphysical(robot.links, robot.joints)],
    )
    return warn(text.name, made.with_base_velocity(base_velocity))


@dataclass(frozen=True)
class ArticulationParts:
    """The arguments of `Model.assemble`."""

    name: str
    links: list[Link]
    joints: list[Joint]
    free: bool
    named: tuple[Configuration, ...]
    remarks: list[str]
    loops: list[Loop]


class JointedBodies(NamedTuple):
    """Bodies that joints connect, by their paths, and the root among them."""

    members: list[str]
    root: str


class UsdReader:
    """One load."""

    def __init__(self, values: UsdValues, stage: Any, kept: Loops) -> None:
        self.values, self.stage, self.kept, self.pxr = values, stage, kept, values.pxr
        self.loops: list[Loop] = []
        physics = self.pxr.UsdPhysics
        self.left_out = 0
        prims = list(stage.Traverse(self.pxr.Usd.TraverseInstanceProxies()))
        self.bodies = {str(p.GetPath()): p for p in prims if values.is_moving_body(p)}
        self.roots = [str(p.GetPath()) for p in prims if p.HasAPI(physics.ArticulationRootAPI)]
        self.joints = [each for p in prims if p.IsA(physics.Joint) for each in self._between(p)]
        if not self.bodies:
            raise ModelError(
                f"{values.source}: no prim has PhysicsRigidBodyAPI and moves; a robot needs rigid bodies"
            )
        for prim in (p for p in prims if p.IsA(physics.Scene)):
            values.check(prim)
            self._gravity(physics.Scene(prim))

    def _gravity(self, scene: Any) -> None:
        units = self.values.units
        size = scene.GetGravityMagnitudeAttr().Get()
        along = np.array(scene.GetGravityDirectionAttr().Get() or (0, 0, 0), dtype=float)
        # UsdPhysics: a negative magnitude is the earth's gravity, a zero direction downwards.
        size = size * units.metre if size is not None and 0 <= size < np.inf else 9.81
        x, y, z = units.up[:3, :3] @ along / np.linalg.norm(along) if along.any() else (0, 0, -1)
        if abs(x) + abs(y) > 1e-3 or abs(size * z + 9.81) > 0.02:
            self.values.remarks.append(
                f"its gravity is ({x * size + 0.0:g}, {y * size + 0.0:g}, {z * size:g}); a model stores none; "
                "pass gravity=... to functions"
            )

    # Joints and their bodies.

    def _between(self, prim: Any) -> Iterator[Between]:
        """The joint if it connects two bodies, or one body and the world."""
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
                raise self.values.refusal(prim, "both of its ends are the same body; it needs two")
            return
        yield Between(prim, (a, b), (X, Y))

    def _end(self, joint: Any, target: Any, position: Any, turn: Any) -> tuple[str, np.ndarray]:
        """The body at an end of a joint, and the joint's frame in it."""
        values = self.values
        place = np.array(values.numbers(joint, "its place", position))
        if target is None:
            return "", values.units.up @ values.placement_at(joint, place, turn)
        prim = self.stage.GetPrimAtPath(target)
        if not (prim and values.is_part_of_scene(prim)):
            raise values.refusal(joint, f"there is no active prim {target}, which it joins")
        on, scale = values.in_stage(prim)
        X = on @ values.placement_at(joint, place * scale, turn)
        body = prim
        while body and str(body.GetPath()) not in self.bodies:
            body = body.GetParent()
        if not body:  # part of the scene, which does not move
            return "", values.units.up @ X
        if body == prim:
            return str(target), values.placement_at(joint, place * scale, turn)
        return str(body.GetPath()), np.linalg.inv(values.in_stage(body)[0]) @ X

    # The choice of a robot.

    def model(self, wanted: str | None, floating_base: bool | None) -> ArticulationParts:
        label, groups = self._choose(wanted)
        members = list(chain.from_iterable(group.members for group in groups))
        names = last_words(members)
        links = self._links(names)
        joints = self._joints_of(set(members))
        held = {end for j in joints if "" in j.bodies for end in j.bodies}
        if held and floating_base:
            at = next(j.prim for j in joints if "" in j.bodies)
            raise self.values.refusal(
                at, "it holds the robot in the world; leave floating_base out, or it"
            )
        loose = [group.root for group in groups if held.isdisjoint(group.members)]
        free = len(loose) == 1 and not held and floating_base is not False
        names[""] = WORLD
        made = list(self._tree(names, joints, loose if free else ["", *loose]))
        placed = {names[root]: self._place(root) for root in (() if free else loose)}
        made += _joints_of_loose(placed, fixed=floating_base is False)
        named = () if floating_base is False else drawn_at(_by_joint(placed))
        frames = [joint.child for joint in made if joint.child not in names.values()]
        whole = [*([] if free else [Link(WORLD)]), *links, *map(Link, frames)]
        name = label.rpartition("/")[2]
        return ArticulationParts(name, whole, made, free, named, self.values.remarks, self.loops)

    def _place(self, body: str) -> Placement:
        """The placement of a body in the stage, with z up."""
        T = self.values.units.up @ self.values.in_stage(self.bodies[body])[0]
        return Pose.of(T).placement

    def _joints_of(self, members: set[str]) -> list[Between]:
        return [j for j in self.joints if any(end in members for end in j.bodies)]

    def _links(self, names: Mapping[str, str]) -> list[Link]:
        """The bodies at these paths, under these names."""
        links = [self._link(self.bodies[path], name) for path, name in names.items()]
        if self.left_out:
            self.values.remarks.append(
                f"{self.left_out} shapes are meshes or of other kinds that are not read; what "
                "touches is boxes, balls, cylinders and capsules"
            )
        return links

    def _link(self, prim: Any, name: str) -> Link:
        shapes = shapes_of(self.values, prim)
        self.left_out += shapes.left_out
        link = self.values.link(prim, name)
        return replace(link, visuals=shapes.visuals, collisions=shapes.collisions)

    def _choose(self, wanted: str | None) -> tuple[str, list[JointedBodies]]:
        """Path of an articulation and its bodies, or the name of the stage and all bodies."""
        found = self._articulations()
        articulated = [path for path in found if path in self.roots]
        chosen = articulated if articulated else list(found)
        if wanted is not None:
            chosen = [p for p in found if wanted in (p, p.rpartition("/")[2])]
        if wanted == WORLD and not chosen:
            top = self.stage.GetDefaultPrim()
            return str(top.GetPath()) if top else WORLD, list(found.values())
        if len(chosen) != 1:
            what = "articulations" if wanted is None else f'articulations "{wanted}"'
            raise ModelError(
                f"{self.values.source}: it has {len(chosen) or 'no'} {what}; say which: "
                f'model="...", one of {", ".join(list(found)[:12])}; or model="world" for all as one '
                "robot"
            )
        others = len(self.bodies) - len(found[chosen[0]].members)
        if others:
            self.values.remarks.append(
                f'{others} bodies are not of {chosen[0]}, and are left out; model="world" reads all'
            )
        return chosen[0], [found[chosen[0]]]

    def _articulations(self) -> dict[str, JointedBodies]:
        """Groups of bodies that joints connect, by the path of the marked root, or of the first
        body."""
        groups = group_bodies(list(self.bodies), [j.bodies for j in self.joints])
        found: dict[str, JointedBodies] = {}
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
                if held.isdisjoint(members) or held.isdisjoint(found[path].members):
                    raise ModelError(
                        f"{self.values.source}: {path} is the root of several trees, of which one moves freely; "
                        "give each its own root, or hold all in the world"
                    )
                members, root = [*found[path].members, *members], found[path].root
            found[path] = JointedBodies(members, root)
        return found

    def _below(self, path: str) -> set[str]:
        return {b for b in self.bodies if b == path or b.startswith(f"{path}/")}

    # The tree.

    def _tree(
        self, names: dict[str, str], joints: Sequence[Between], roots: Sequence[str]
    ) -> Iterator[Joint]:
        """Joints from the roots outwards, those that a stage excludes from the articulation last.
        Joints that are left over close loops."""
        called = last_words([str(joint.prim.GetPath()) for joint in joints])
        at: dict[str, list[Between]] = {}
        for joint in joints:
            for body in joint.bodies:
                at.setdefault(body, []).append(joint)
        reached, used = dict.fromkeys(roots), set[Between]()
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
            self._close(joint, names, called[str(joint.prim.GetPath())])
        if self.loops:
            self.values.remarks.append(LOOPS_KEPT.format("; ".join(map(str, self.loops))))

    def _close(self, joint: Between, names: Mapping[str, str], name: str) -> None:
        """Keep a joint that closes a loop, leave it open, or raise."""
        path, loop = joint.prim.GetPath(), None
        if self.kept == "keep":
            loop = loop_between(self.values, self.pxr.UsdPhysics, joint, names, name)
        if loop is not None:
            self.loops.append(loop)
            self.values.remarks.append(f"{path}: {WITHOUT_FORCES}")
        elif self.kept == "cut":
            self.values.remarks.append(f"{path}: it closes a loop; it is left open")
        else:
            raise self.values.refusal(
                joint.prim, 'it closes a loop, but a robot must be a tree; loops="cut" opens it'
            )

    def _make_joints(
        self, joint: Between, parent: str, names: dict[str, str], called: dict[str, str]
    ) -> Iterator[Joint]:
        """The joint from `parent` outwards: one joint for each freedom, and a fixed one if the
        body's own frame is not on the last axis."""
        turned = joint.bodies[0] != parent
        X, Y = joint.frames[::-1] if turned else joint.frames
        name, child = called[str(joint.prim.GetPath())], names[joint.beyond(parent)]
        freedoms = list(freedoms_of(self.values, self.pxr.UsdPhysics, joint.prim, turned))
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
            raise self.values.refusal(prim, f"it mimics {path}, which is not a joint of the robot")
        return replace(mimic, joint=called[str(path)])


def _joints_of_loose(placed: Mapping[str, Placement], fixed: bool) -> Iterator[Joint]:
    """The joints of links that no joint of the stage holds: free, or fixed at their places."""
    for joint, (link, X) in zip(_by_joint(placed), placed.items(), strict=True):
        if fixed:
            yield fixed_joint(joint, WORLD, link, X)
        else:
            yield Joint(joint, FLOATING, WORLD, link)


def _by_joint(placed: Mapping[str, Placement]) -> dict[str, Placement]:
    """Placements of links by the names of their joints to the world."""
    return {f"{WORLD}_to_{link}": X for link, X in placed.items()}

"""SDF: text to Model.

`sdf_frames` computes poses from the file's frames, and `sdf_joints` makes a tree of its joints.
This module chooses the model to load and reads its links. `Model.assemble` then checks the tree.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...algebra.spatial import Placement, Symmetric
from ...model import Model
from ...model.description import Geometry, Joint, Link, fixed_joint
from ...model.joints import FLOATING
from ...model.names import ModelError
from ...model.poses_and_limits import Pose, matrix3, vector3
from ...model.reference_frames import Reference
from ...model.remarks import unphysical, warn
from ...model.scene.free_bodies import drawn_at
from ...model.structure import QuaternionOrder
from ..meshes.colors import Color, color_of
from ..registry import SDF
from ..robot_source import Loops, RobotSource, check_loops_option, tag_name
from .sdf_frames import SdfFrame, SdfFrames
from .sdf_joints import Joints
from .sdf_sensors import physics_of, sensors_of
from .sdf_values import Element, SdfValues, child, children

OLDEST, NEWEST = (1, 4), (1, 12)

WORLD = "world"
"""The massless root link of a robot that is fixed to the world, or has several free bodies."""


def load_sdf(
    source: str | bytes | os.PathLike[str] | RobotSource,
    *,
    model: str | None = None,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    loops: Loops = "keep",
) -> Model:
    """Robot of an SDF file, SDFormat 1.4 to 1.12, model or world.

    source: a path, or the XML itself (a str or bytes whose first character that is not blank is
    "<").
    model: which model, if the file has more than one that is not static; "outer::inner" for a
        nested one; "world" for all of them as one robot.
    floating_base: None follows the file: the base is free unless a joint to the world or <static>
        holds it. True: free, static or not. False: fixed at its pose in the file.
    quaternion: order of quaternions in q, "xyzw" or "wxyz".
    base_velocity: representation of a free base's velocity, "local", "local_world_aligned" or
    "world"; see `Model.with_base_velocity`.
    loops: a joint that closes a loop: "keep" it in `Model.loops` if it is fixed, revolute or a ball
        joint, which `step` and `wd.loops` close, and refuse other kinds; "cut": leave it open, with a
        remark; "refuse" the file. Other functions are those of the tree.

    Sensors and a world's <physics> are data, `Model.sensors` and `Model.physics`.
    Links, joints and frames of nested models are called "inner::name". A robot that is fixed to the
    world has the link "world" as root. So does a robot of several free links, each on its own
    floating joint.
    Raises ModelError for a description that cannot be used. Suspicious parts that can be used are
    used as written. They are listed in a ModelWarning and in `Model.warnings`. Nothing outside the
    text is read: no <include>, no mesh.
    """
    loops = check_loops_option(loops)
    text = RobotSource.of(source, SDF.reader, SDF.name)
    root = text.root_of(SDF)
    values = SdfValues(text.name, _version(text.name, root))
    values.folder = text.folder
    frames, top = _choose(values, root, model, movable=bool(floating_base))
    robot = SdfReader(values, frames, top).model(floating_base, quaternion, loops)
    return warn(text.name, robot.with_base_velocity(base_velocity))


def _version(name: str, root: Element) -> tuple[int, int]:
    text = root.get("version", "")
    match = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})\s*", text)
    version = (int(match[1]), int(match[2])) if match else None
    if version is None or not OLDEST <= version <= NEWEST:
        known = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        raise ModelError(
            f'{name}: <sdf> version is "{text}"; this reader knows {known}; convert the file (gz sdf -p prints it in '
            "the newest)"
        )
    return version


Placed = tuple[SdfFrames, SdfFrame]
"""A model, or the world, with the frames around it."""


def _refuse_includes(values: SdfValues, scene: SdfFrames, models: list[Placed]) -> None:
    """Refuse a world that includes a model, unless the caller named one of its own models."""
    for included in children(scene.world.element, "include"):
        uri = values.child_string(included, "uri")
        raise values.refusal(
            included,
            f'the world includes "{uri}", and nothing outside the file is read; write it in (gz sdf -p does), '
            f'or load the model that is written here alone: model="{models[0][1].name}"',
        )


def _choose(values: SdfValues, root: Element, wanted: str | None, movable: bool) -> Placed:
    """The model to load (or the world), and the frames around it."""
    worlds = children(root, "world") + ([root] if children(root, "model") else [])
    scenes = [SdfFrames(values, world, movable) for world in worlds]
    models = [
        (scene, model) for scene in scenes for model in scene.world.inside if model.kind == "model"
    ]
    candidates = _candidates(scenes, models, wanted)
    if len(candidates) == 1:
        scene, chosen = candidates[0]
        if wanted in (None, WORLD):
            _refuse_includes(values, scene, models)
        return scene, chosen
    included = any(children(world, "include") for world in worlds)
    raise _no_choice(values, models, candidates, wanted, included)


def _candidates(scenes: list[SdfFrames], models: list[Placed], wanted: str | None) -> list[Placed]:
    """The models, or worlds, that the caller may mean."""
    if wanted == WORLD:
        return [(scene, scene.world) for scene in scenes]
    if wanted is not None:
        named = [(scene, scene.find(scene.world, wanted, "model")) for scene in scenes]
        return [(scene, model) for scene, model in named if model is not None]
    # Worlds often hold a ground plane or furniture: without a name, the only model that is not
    # static is the robot.
    if len(models) == 1:
        return models
    return [(scene, model) for scene, model in models if not model.static]


def _no_choice(
    values: SdfValues,
    models: list[Placed],
    candidates: list[Placed],
    wanted: str | None,
    included: bool,
) -> ModelError:
    """The error if no unique choice is left: an empty file, a missing name or an ambiguous one.
    included: a world includes models."""
    shown = ", ".join(f'"{model.name}"' for _, model in models[:12])
    if not models or (included and not candidates):
        problem = (
            "it has no <model> of its own"
            if wanted is None
            else f'it has no model named "{wanted}"'
        )
        remedy = "a robot needs one"
        if included:
            remedy = "what comes by <include> is not read: write it into the file (gz sdf -p prints it whole)"
    elif wanted is None:
        problem = f"it holds {len(models)} models ({shown})"
        remedy = 'say which: model="..."; or model="world" for all as one robot'
    else:
        problem = f'it has {len(candidates) or "no"} models named "{wanted}"'
        remedy = f"give the name of one of its models ({shown})"
    return ModelError(f"{values.source}: {problem}; {remedy}")


class SdfReader:
    """One load: the chosen model, and the links for which the file gives no inertia."""

    def __init__(self, values: SdfValues, frames: SdfFrames, top: SdfFrame) -> None:
        self.values, self.frames, self.top = values, frames, top
        self.weightless: list[str] = []

    def model(self, floating_base: bool | None, quaternion: QuaternionOrder, loops: Loops) -> Model:
        self._look_over_world()
        for frame in (self.top, *self.top.walk("model")):
            self._look_over(frame)
        links = [self.link(frame) for frame in self.top.walk("link")]
        remarks: list[str] = []
        if self.weightless:
            shown = ", ".join(self.weightless[:5]) + (", ..." if len(self.weightless) > 5 else "")
            remarks.append(
                "links without <inertial>, which have SDF's default mass of 1 kg and inertia of "
                f"1 kg·m²: {shown}"
            )
        # The link "world" exists only if something hangs on it. Otherwise the one free link is the
        # root.
        joints, frames = Joints(self.frames, self.top, loops), self._frames()
        remarks += unphysical(links, joints.joints)
        anchored = any(joint.parent == WORLD for joint in (*joints.joints, *frames))
        roots = self._roots(joints, floating_base, anchored)
        anchored = anchored or bool(roots)
        at = {each.path(self.top): self._at(each, self.frames.world) for each in joints.free}
        sensors = list(sensors_of(self.values, self.frames, self.top))
        links = [
            *([Link(WORLD)] if anchored else []),
            *links,
            *joints.links,
            *(Link(f.child) for f in frames),
        ]
        return Model.assemble(
            self.top.element.get("name") or WORLD,
            links,
            [*roots, *joints.joints, *frames],
            source=self.values.source,
            floating_base=not anchored,
            quaternion=quaternion,
            loops=joints.loops,
            sensors=sensors,
            physics=physics_of(self.frames.world.element),
            named=drawn_at({j.name: at[j.child] for j in roots if j.kind is FLOATING}),
            warnings=[*self.values.ignored_lines(), *self.values.remarks, *remarks],
        )

    def _look_over(self, frame: SdfFrame) -> None:
        """Refuse includes and similar references; remark on parts that are left out."""
        included = child(frame.element, "include")
        if included is not None:
            uri = self.values.child_string(included, "uri")
            raise self.values.refusal(
                included,
                f'it includes "{uri}", and nothing outside the file is read; write it in (gz sdf -p does)',
            )
        if frame.kind == "model":
            self.values.look_over(frame.element)

    def _look_over_world(self) -> None:
        """Remark on settings of the surrounding world that affect motion but are not stored in a
        model."""
        world, values = self.frames.world.element, self.values
        if tag_name(world) == "world":
            values.look_over_children(world)
        for element in children(world, "state", "population"):
            values.ignore(f"element <{tag_name(element)}> of <{tag_name(world)}>", element)
        for holder in (world, *children(world, "physics")):  # before 1.6 gravity was in <physics>
            gravity = child(holder, "gravity")
            text = "" if gravity is None else (gravity.text or "").strip()
            if gravity is not None and text and tag_name(world) == "world":
                values.remark_gravity("world", *values.numbers(gravity, text, 3))

    # The root.

    def _roots(self, joints: Joints, floating_base: bool | None, anchored: bool) -> list[Joint]:
        """The joints that fix or free the links that no joint of the file carries; none for a
        single free body."""
        if floating_base and joints.held:
            raise ModelError(
                f'{self.values.source}: joint "{joints.held[0]}" fixes the robot to the world; leave floating_base '
                "out, or remove that joint"
            )
        fixed = [*joints.static, *(joints.free if floating_base is False else ())]
        free = [] if floating_base is False else joints.free
        if not fixed and not anchored and len(free) == 1:
            return []
        names = [(root, root.path(self.top)) for root in fixed]
        return [
            *(
                fixed_joint(f"world_to_{n}", WORLD, n, self._at(root, self.frames.world))
                for root, n in names
            ),
            *(
                Joint(f"world_to_{n}", FLOATING, WORLD, n)
                for n in (root.path(self.top) for root in free)
            ),
        ]

    def _frames(self) -> list[Joint]:
        """Each <frame> as a fixed joint to a massless link, both with the frame's name."""
        joints = []
        for frame in self.top.walk("frame"):
            self.values.look_over(frame.element)
            carrier = self.frames.carrier(frame)
            above = WORLD if carrier is self.frames.world else carrier.path(self.top)
            name = frame.path(self.top)
            joints.append(fixed_joint(name, above, name, self._at(frame, carrier)))
        return joints

    def _at(self, frame: SdfFrame, base: SdfFrame) -> Placement:
        return self.frames.relative(frame, base)

    # Links.

    def link(self, frame: SdfFrame) -> Link:
        element, values = frame.element, self.values
        values.look_over(element)
        link = Link(
            frame.path(self.top),
            visuals=tuple(self.shapes(frame, "visual")),
            collisions=tuple(self.shapes(frame, "collision")),
        )
        if values.flag(element, "gravity") is False:
            values.remarks.append(
                f'link "{link.name}": the file turns gravity off for it; here gravity acts on it'
            )
        # SDFormat gives a link without <inertial> the mass 1 kg. The loader remarks it, except for
        # static links, which do not move.
        inertial = child(element, "inertial")
        if inertial is None:
            if not frame.static:
                self.weightless.append(link.name)
            return replace(link, mass=1.0, inertia=matrix3(Symmetric.diagonal(1.0).rows))
        values.look_over(inertial)
        if values.truth(inertial, "auto", inertial.get("auto", "false")):
            raise values.refusal(
                inertial,
                '<inertial auto="true"> asks for an inertia computed from shapes, which is not supported; write '
                "<mass>, <pose> and <inertia>",
            )
        X, relative_to = values.pose(inertial)
        if relative_to not in ("", frame.name):
            raise values.refusal(
                inertial, f'its pose is given in "{relative_to}"; it must be in the link frame'
            )
        mass, moments = values.number(inertial, "mass", 1.0), child(inertial, "inertia")
        if moments is not None:
            values.look_over(moments)
        xx, yy, zz = (values.number(moments, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (values.number(moments, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
        J = X.R.symmetric_to_parent(Symmetric(xx, xy, xz, yy, yz, zz))
        return replace(link, mass=mass, com=vector3(X.p), inertia=matrix3(J.rows))

    # Shapes.

    def shapes(self, frame: SdfFrame, tag: str) -> Iterator[Geometry]:
        """Visuals or collisions of a link. No motion depends on them, so an error in one is only
        remarked."""
        for element in children(frame.element, tag):
            self.values.look_over_children(element)
            geometry = child(element, "geometry")
            for shape in () if geometry is None else geometry:
                try:
                    record = self._shape(frame, element, shape)
                except ModelError as error:
                    reason = str(error).removeprefix(f"{self.values.source}: ")
                    self.values.remarks.append(f"{reason}; this {tag} is left out")
                    continue
                if record is None:
                    self.values.ignore(f"shape <{tag_name(shape)}> of <{tag}>", shape)
                else:
                    self.values.look_over_children(shape)
                    yield record

    def _shape(self, frame: SdfFrame, element: Element, shape: Element) -> Geometry | None:
        kind, values = tag_name(shape), self.values
        X, relative_to = values.pose(element)
        # A shape's pose may be given in any frame of the model, but `Geometry` stores it in the
        # link's.
        if relative_to:
            base = self.frames.find_named(frame, "relative_to", relative_to)
            X = self._at(base, frame).compose(X).as_matrix()
        size: Sequence[float]
        if kind in ("box", "mesh"):
            tag = "size" if kind == "box" else "scale"
            text = values.child_string(shape, tag) or "1 1 1"
            size = values.numbers(shape, text, 3)
        elif kind in ("cylinder", "capsule"):
            size = (values.number(shape, "radius", 1.0), values.number(shape, "length", 1.0))
        elif kind == "sphere":
            size = (values.number(shape, "radius", 1.0),)
        elif kind == "ellipsoid" and tag_name(element) == "visual":
            size = values.numbers(shape, values.child_string(shape, "radii") or "1 1 1", 3)
        elif kind == "plane":
            size = values.numbers(shape, values.child_string(shape, "size") or "1 1", 2)
            normal = values.numbers(shape, values.child_string(shape, "normal") or "0 0 1", 3)
            X = _facing(Pose.of(X), normal)
            if tag_name(element) == "collision":
                values.remarks.append(
                    f'collision "{element.get("name", "")}" of link "{frame.path(self.top)}" is a plane, which '
                    "has no contacts; a simulation's ground is level at height 0 unless terrain= "
                    "is another"
                )
        else:
            return None
        uri = values.child_string(shape, "uri") if kind == "mesh" else None
        return Geometry(
            shape=kind,
            size=tuple(size),
            filename=uri,
            pose=Pose.of(X),
            name=element.get("name"),
            folder=values.folder,
            color=_color(element),
        )


def _facing(pose: Pose, normal: Sequence[float]) -> Placement:
    """A pose turned so that z lies along `normal`, a direction in the pose's own axes."""
    x, y, z = normal
    turn = Pose.at((0.0, 0.0, 0.0), (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x)))
    return pose.placement.compose(turn.placement)


def _color(visual: Element) -> Color | None:
    """The diffuse colour of a <visual>'s material."""
    material = child(visual, "material")
    diffuse = None if material is None else child(material, "diffuse")
    return None if diffuse is None else color_of(diffuse.text)

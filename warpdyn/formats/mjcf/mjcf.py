"""MJCF, MuJoCo's format: text to Model.

Bodies become links, several joints of one body become a chain of massless links, and sites become
massless links. Numbers, orientations, default classes and compiler settings are read by
`mjcf_values`, inertias by `mjcf_inertia`, shapes by `mjcf_shapes`, equality constraints by
`mjcf_equality`. `Model.assemble` then checks the tree.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

from ...algebra.spatial import HERE, IDENTITY, ZERO, Placement, Vector
from ...model import Model
from ...model.description import Joint, Link, fixed_joint
from ...model.joints import FLOATING
from ...model.poses_and_limits import Effects, Pose
from ...model.reference_frames import Reference
from ...model.remarks import unphysical, warn
from ...model.restructure import at_rest
from ...model.scene.free_bodies import free_coordinates
from ...model.structure import QuaternionOrder, name_of_base_joint
from ..registry import MJCF
from ..robot_source import GRAVITY, Loops, RobotSource, check_loops_option, tag_name
from . import mjcf_inertia
from .mjcf_actuators import moving_actuators, read_actuators, with_effort_limits
from .mjcf_attach import mjcf_document
from .mjcf_bodies import (
    WORLD,
    BodyElement,
    align_to_principal_axes,
    base_of,
    bodies_at_rest,
    check_free,
    children,
    free_rest,
    refuse_fused,
)
from .mjcf_contacts import MjcfContacts
from .mjcf_equality import couple_joints
from .mjcf_files import Includes
from .mjcf_joints import read_joint
from .mjcf_keyframes import Place, configurations
from .mjcf_loops import MjcfLoops
from .mjcf_meshes import MjcfMeshes
from .mjcf_rotors import NO_ROTOR, read_rotors, with_rotors
from .mjcf_sensors import physics_of, read_sensors
from .mjcf_shapes import MjcfShapes
from .mjcf_tendons import moving_tendons, read_tendons
from .mjcf_values import Attributes, Element, MjcfValues
from .mjcf_vocabulary import check_words

WITHOUT_DYNAMICS = ("camera", "light", "plugin")


def load_mjcf(
    source: str | bytes | os.PathLike[str] | RobotSource,
    *,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    loops: Loops = "keep",
    includes: Includes = True,
) -> Model:
    """Robot of an MJCF file.

    source: a path, or the XML itself (a str or bytes whose first character that is not blank is
    "<").
    floating_base: None follows the file: a single body in the world with a free joint is the base.
        True: the single body in the world is free, even without a joint. False: free joints
        hold their bodies at their poses in the file.
    quaternion: order of quaternions in q, "xyzw" or "wxyz"; MuJoCo's own is wxyz.
    base_velocity: representation of a free base's velocity, "local", "local_world_aligned" or
    "world"; see `Model.with_base_velocity`.
    loops: constraints that a tree cannot hold (connect, weld, a joint coupled by more than a
        line): "keep" them in `Model.loops`, which `step` and `wd.loops` close; "cut": leave them out,
        with a remark; "refuse" the file. Other functions are those of the tree.
    includes: True reads the files that <include> and <attach> name, in the folder of the file and
        below; a folder: in it and below; False: refuses them. With a text, which has no folder,
        True refuses them too.

    The root is the link "world", unless the base is free. A body with several joints hangs on
    massless links "<body>:<joint>". A site is a massless link. A joint of <equality> that follows
    another linearly is a mimic joint; fixed tendons are `Model.tendons`. Bodies without <inertial>
    take the inertia of their geoms, which the package mujoco computes. Keyframes are
    `Model.configurations`, and "qpos0" is the configuration in which the file draws the robot. For
    a joint without a force limit, the ranges of its actuators make one, with a remark. Geoms become
    visual and collision shapes, depending on their groups and contact masks. Height fields are left
    out; ellipsoids and planes have no contact points. `Model.sensors` and `Model.physics` are
    <sensor> and <option>, as data. Passive forces and contact parameters are data that act in a
    `Simulation`; a remark lists those that do not. Nothing outside the text is read except for
    includes and for meshes whose inertia is needed.
    Raises ModelError for a description that cannot be used. Suspicious parts that can be used are
    used as written. They are listed in a ModelWarning and in `Model.warnings`.
    """
    loops = check_loops_option(loops)
    text = RobotSource.of(source, MJCF.reader, MJCF.name)
    values, root = mjcf_document(text, includes)
    check_words(values, root)
    meshes = MjcfMeshes(values, root, text, includes)
    model = MjcfReader(values, root, text.folder, meshes).model(floating_base, quaternion, loops)
    return warn(text.name, model.with_base_velocity(base_velocity))


class MjcfReader:
    """State of one load: its bodies in the order of the file, and the joints made so far."""

    def __init__(
        self, values: MjcfValues, root: Element, folder: Path | None, meshes: MjcfMeshes
    ) -> None:
        self.root, self.values, self.meshes = root, values, meshes
        self.contacts = MjcfContacts(values, root)
        self.shapes = MjcfShapes(values, root, folder, self.contacts)
        self.bodies: dict[str, BodyElement] = {}
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.joint_names, self.link_names = set[str](), set[str]()
        self.zeros: dict[str, float] = {}
        """Position of each single joint in the file's drawing (ref)."""
        self.places: list[Place] = []
        """The joints in the order of MuJoCo's qpos."""
        self.site_links: dict[str, str] = {}
        """The link of each site."""
        self.rotors = read_rotors(values, root)
        self.base_armature = 0.0
        self.base_springs: tuple[Effects, ...] = ()
        self.mocap: set[str] = set()
        """Bodies that the user moves and that pull other bodies."""
        self.numbers = itertools.count()
        self.names_in_use = {str(e.get("name")) for e in root.iter("body", "joint", "freejoint")}

    def model(self, floating_base: bool | None, quaternion: QuaternionOrder, kept: Loops) -> Model:
        world = BodyElement(WORLD, "", HERE)
        self.bodies[WORLD] = world
        for element in self.root.findall("worldbody"):
            self.walk(element, world, HERE, None)
        for element in self.root.iterfind("deformable/flex"):
            self.values.ignore("<flex>: a deformable body between others", element)
        for place in ("asset/skin", "deformable/skin"):
            for element in self.root.iterfind(place):
                self.values.ignore("<skin>: a surface that is drawn over bodies", element)
        self._look_over()
        self._drop_gravcomp()
        # The base is chosen before bodies are weighed, because bodies that nothing moves may lack
        # an inertia.
        free = base_of(self.values, self.bodies, floating_base)
        self.contacts.look_at(self.bodies, has_world=not free)
        self._add_links(free, floating_base)
        base = name_of_base_joint({str(x.get("name")) for x in self.root.iter("joint")})
        self._add_joints(free, base, floating_base)
        self.joints = with_rotors(self.joints, self.rotors.joints)
        actuators = read_actuators(self.values, self.root, self.joints)
        joints = with_effort_limits(self.values, self.root, self.joints)
        tendons = with_rotors(read_tendons(self.values, self.root, joints), self.rotors.tendons)
        # Constraints come after actuators and tendons: they lock joints, whose positions actuators
        # and tendons then treat as constants.
        reader = MjcfLoops(self.values, self.bodies)
        joints, held, loops = couple_joints(
            self.values, self.root, joints, self.zeros, kept, reader, tendons, self.mocap
        )
        moving = {joint.name for joint in joints if joint.kind.nv and joint.mimic is None}
        moving |= {base} if free else set()
        still = {j.name: held.get(j.name, 0.0) for j in joints if not j.kind.nv}
        here, there = {link.name for link in self.links}, {joint.name for joint in joints}
        named = configurations(self.values, self.root, self.places, moving)
        # Their remarks are among the warnings below.
        sensors = list(read_sensors(self.values, self.root, here, there, self.site_links))
        return Model.assemble(
            self.root.get("model", "") or "MuJoCo Model",
            self.links,
            joints,
            source=self.values.source,
            floating_base=bool(free),
            quaternion=quaternion,
            warnings=[
                *self.values.ignored_lines(),
                *self.values.remarks,
                *self.shapes.remarks(),
                *self.contacts.remarks(),
                *unphysical(self.links, joints),
            ],
            base_armature=self.base_armature,
            base_springs=self.base_springs,
            tendons=moving_tendons(tendons, still),
            loops=loops,
            actuators=moving_actuators(actuators, still),
            sensors=sensors,
            physics=physics_of(self.values, self.root),
            named=named,
            excluded_pairs=[p for p in self.contacts.excluded_pairs() if here.issuperset(p)],
            touching_pairs=self.contacts.touching_pairs(),
            is_simulated=True,
        )

    def _add_links(self, free: str, floating_base: bool | None) -> None:
        """Add a link with its shapes for each body, and for the world if nothing is `free`."""
        matter = {name: body.matter for name, body in self.bodies.items() if name != WORLD}
        still = bodies_at_rest(self.bodies, free, floating_base)
        weighed = mjcf_inertia.links(self.values, matter, self.meshes, still)
        refuse_fused(self.values, self.bodies, weighed, still)
        bare = [*([] if free else [Link(WORLD)]), *weighed]
        for link in (
            align_to_principal_axes(self.values, self.bodies[link.name], link) for link in bare
        ):
            seen, touch = self.shapes.of(link.name, self.bodies[link.name].matter.geoms)
            borne = self.bodies[link.name].gravcomp
            self.links.append(replace(link, visuals=seen, collisions=touch, gravcomp=borne))
        if free:
            self.shapes.leave_out_grounds(self.bodies[WORLD].matter.geoms)

    def _add_joints(self, free: str, base: str, floating_base: bool | None) -> None:
        """Add the joints and sites of each body, in MuJoCo's order of qpos, as `places` needs
        them."""
        for body in self.bodies.values():
            if body.name == free:
                self.places.append(
                    Place(base, FLOATING, free_coordinates(body.X), bool(body.joints))
                )
                self._of_base(body)
            elif body.name != WORLD:
                self.body(body, floating_base is not False)
            if free and body.name == WORLD and body.sites:
                self.values.remarks.append(
                    "sites of <worldbody> are left out: the base is free, so no link is the world"
                )
            elif not (free and body.name == WORLD):
                self.sites(body)

    # Children of a body.

    def walk(
        self, element: Element, body: BodyElement, X: Placement, childclass: str | None
    ) -> None:
        """Gather the children of a <body> that is placed by `X`."""
        values = self.values
        kept = {"joint": body.joints, "geom": body.matter.geoms, "site": body.sites}
        for child, inherited, frame in children(values, element, X, childclass):
            tag = tag_name(child)
            if tag in kept:
                kept[tag].append((child, values.attributes(child, tag, inherited), frame))
            elif tag == "freejoint":
                body.joints.append(
                    (child, {**values.attributes(child, tag, None), "type": "free"}, frame)
                )
            elif tag == "inertial":
                if body.matter.inertial is not None:
                    raise values.refusal(child, "a body has one <inertial>; remove the others")
                body.matter.inertial = child, frame
            elif tag == "body":
                self._inner(child, body, frame, inherited)
            elif tag == "flexcomp":
                values.ignore("<flexcomp>: a deformable body, and its mass", child)
            elif tag not in WITHOUT_DYNAMICS:
                values.ignore(f"element <{tag}> of <{tag_name(child.getparent())}>", child)

    def _inner(
        self, element: Element, parent: BodyElement, X: Placement, childclass: str | None
    ) -> None:
        name = element.get("name") or self._unused_name("body", len(self.bodies))
        if name in self.bodies:
            raise self.values.refusal(
                element, f'two bodies are named "{name}"; give each its own name'
            )
        written = {str(key): str(value) for key, value in element.attrib.items()}
        written_pose = self.values.placement(element, written)
        pose = X.compose(written_pose).as_matrix()
        body = self.bodies[name] = BodyElement(name, parent.name, pose)
        parent.carries = True
        body.matter.pose = written_pose.as_matrix()
        body.matter.compiler = self.values.compiler_of(element)
        if self.values.boolean(element, "mocap", written, False):
            self.mocap.add(name)
        body.gravcomp = self.values.number(element, "gravcomp", written, 0.0)
        self.walk(element, body, HERE, childclass)
        if name in self.mocap and (parent.name != WORLD or body.joints):
            raise self.values.refusal(
                element, "a mocap body must be a child of <worldbody>, and have no joint"
            )

    def _unused_name(self, what: str, number: int) -> str:
        """An unused name for an element without one."""
        name = f"{what}{number}"
        while name in self.names_in_use:
            name += "_"
        self.names_in_use.add(name)
        return name

    def _look_over(self) -> None:
        """Remark on settings of the file that affect motion but are not stored in a model."""
        if self.bodies[WORLD].joints:
            raise self.values.refusal(
                self.bodies[WORLD].joints[0][0],
                "the world cannot have a joint; put the joint in a body",
            )
        for option in self.root.findall("option"):
            written = {str(key): str(value) for key, value in option.attrib.items()}
            gravity = self.values.vector(option, "gravity", written, (0.0, 0.0, GRAVITY))
            off = any(flag.get("gravity") == "disable" for flag in option.findall("flag"))
            self.values.remark_gravity("option", *(ZERO if off else gravity))

    def _drop_gravcomp(self) -> None:
        """Leave out gravcomp if no body has a positive one, or if springs and dampers are disabled:
        MuJoCo then applies none at all."""
        borne = [body for body in self.bodies.values() if body.gravcomp]
        why = ""
        if all(body.gravcomp < 0 for body in borne):
            why = "applies a negative gravcomp only where another body has a positive one"
        if self.values.flags.disabled.issuperset(("spring", "damper")):
            why = 'applies none with <flag spring="disable" damper="disable">'
        if borne and why:
            self.values.remarks.append(
                f'gravcomp of body "{borne[0].name}" and others like it is left out: MuJoCo {why}'
            )
            for body in borne:
                body.gravcomp = 0.0

    # Joints.

    def _of_base(self, body: BodyElement) -> None:
        """Read the armature and the spring of a free base's joint in the file."""
        for element, written, X in body.joints:
            joint = read_joint(self.values, "", body.name, element, written, X).joint
            rotor = self.rotors.joints.get(element.get("name", ""), NO_ROTOR)
            self.base_armature = joint.armature + rotor.armature
            if joint.spring:
                rest = free_rest(body.X)
                self.base_springs = tuple(Effects(spring=joint.spring, rest=x) for x in rest)
            if rotor.damping or any(x.strip("0.") for x in written.get("damping", "").split()):
                self.values.ignore("damping of a free base", element)

    def body(self, body: BodyElement, free: bool) -> None:
        """Make the joints between a body and its parent, with massless links between several
        joints."""
        parent, X = body.parent, body.X
        for k, (element, written, X_frame) in enumerate(body.joints):
            joint, p = self.joint(body, element, written, X_frame)
            drawn = joint.kind.neutral
            if joint.kind.single:
                drawn = (self.zeros[joint.name],)
            elif joint.kind is FLOATING:
                drawn = free_coordinates(body.X)
            self.places.append(Place(joint.name, joint.kind, drawn))
            if joint.kind is FLOATING:
                check_free(self.values, body)
                if not free:
                    break
                rest = free_rest(body.X) if joint.spring else 0.0
                self.joints.append(replace(joint, parent=parent, child=body.name, rest=rest))
                return
            # The child of the last joint is the body itself if the joint is at the body's origin.
            # Otherwise a massless link stands there, and a fixed joint leads back to the body's
            # frame.
            last = k == len(body.joints) - 1 and tuple(p) == (0.0, 0.0, 0.0)
            child = body.name if last else f"{body.name}:{joint.name}"
            pose = Pose.of(X.compose(Placement(IDENTITY, p)))
            joint = replace(joint, parent=parent, child=child, pose=pose)
            zero = self.zeros.get(joint.name, 0.0)
            self.joints.append(replace(joint, pose=at_rest(joint, [-zero]).pose) if zero else joint)
            if not last:
                self.links.append(Link(child))
                self.link_names.add(child)
            parent, X = child, Placement(IDENTITY, -p)
        if parent != body.name:
            name = f"{body.parent}_to_{body.name}"
            self.joints.append(fixed_joint(name, parent, body.name, X))

    def joint(
        self, body: BodyElement, element: Element, written: Attributes, X: Placement
    ) -> tuple[Joint, Vector]:
        """A joint whose parent and child are not set yet, and its position in the body."""
        number = next(self.numbers)
        name = element.get("name") or self._unused_name("joint", number)
        if name in self.joint_names:
            raise self.values.refusal(
                element, f'two joints are named "{name}"; give each its own name'
            )
        self.joint_names.add(name)
        joint, p, zero = read_joint(self.values, name, body.name, element, written, X)
        if joint.kind.single:
            self.zeros[name] = zero
        return joint, p

    # Frames.

    def sites(self, body: BodyElement) -> None:
        """Each named site as a massless link on a fixed joint."""
        for element, written, X in body.sites:
            if not (name := element.get("name")):
                continue
            link = f"{name}_site" if name in self.bodies or name in self.link_names else name
            self.link_names.add(link)
            self.site_links[name] = link
            place = self.values.shape_placement(element, written)
            self.links.append(Link(link))
            self.joints.append(fixed_joint(f"{link}_joint", body.name, link, X.compose(place)))

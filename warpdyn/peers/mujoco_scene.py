"""A robot on the ground in MuJoCo C: its drives, its points and pairs, a plane or a map of heights.

Elliptic cones, `implicitfast`, `impratio` 100; contacts and stops of MuJoCo's own softness (solref
0.02 1, solimp 0.9 0.95 0.001), contacts with another time constant if one is given. Joints have
the model's armature, friction and limits, drives its efforts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from lxml import etree

from ..model import Model
from ..model.scene.free_bodies import free_joints, internal_joints
from ..model.writers.to_urdf import urdf_text
from .mujoco import for_mujoco, urdf_spec
from .mujoco_pairs import PairOfGeoms, add_pairs, links_of
from .peer import refuse_mimic_joints

IMPRATIO = 100.0
"""The ratio impratio. At 1, MuJoCo's default, feet glide and legs spread."""

GRAVITY = (0.0, 0.0, -9.81)

ROUGH = 0.8
"""Default coefficient of friction."""

BEYOND = 24.0
"""Length by which a map of heights continues level beyond its edge [m]: a robot that starts inside
walks 20 m in 20 s at 1 m/s. In warpdyn the ground has no end."""

THICK = 0.5
"""Thickness of a map of heights below its lowest point [m]."""

UNREACHED = 1e9
"""A force limit that has no effect."""

LIGHT, LIGHT_SIZE = 1e-6, 0.01
"""Mass of all links without mass together, as a share of the robot's, and their radius of gyration
[m]."""

FLOOR = "floor"


class Touching(Protocol):
    """A sphere of a link that touches the ground: its centre in the link's frame, its radius [m]."""

    @property
    def link(self) -> str: ...
    @property
    def centre(self) -> Sequence[float]: ...
    @property
    def radius(self) -> float: ...


class Drives(NamedTuple):
    """Stiffness, damping and largest force of each joint (joints,), as a position actuator's."""

    kp: Any
    kd: Any
    effort: Any


class Slope(NamedTuple):
    """The plane z = level + rise · (x, y)."""

    rise: Sequence[float] = (0.0, 0.0)
    level: float = 0.0


class Heights(NamedTuple):
    """Heights of the ground (rows, columns): [i, j] is at x = origin[0] + i cell and
    y = origin[1] + j cell [m]. MuJoCo cuts each cell into two triangles."""

    heights: np.ndarray
    cell: float
    origin: Sequence[float]


Ground = Slope | Heights


def mujoco_scene(
    model: Model,
    dt: float,
    *,
    points: Sequence[Touching] = (),
    friction: float = ROUGH,
    drives: Drives | None = None,
    gravity: Sequence[float] = GRAVITY,
    ground: Ground | None = None,
    contact_time: float | None = None,
    fused: bool = False,
    pairs: Sequence[PairOfGeoms] = (),
) -> Any:
    """MuJoCo's specification of the robot; contact points are named point0, point1, ...

    Without points and pairs nothing touches. contact_time: the time constant of contacts [s], which
    MuJoCo keeps to at least two steps; None: its own, 0.02. `fused`: links on fixed joints are
    merged into one body; free bodies need it. pairs: shapes that touch each other (`add_pairs`).
    """
    import mujoco

    refuse_mimic_joints(model)
    if fused:
        # MuJoCo would do it too, but only after it has refused the inertia of a single part.
        model = model.collapse(keep=[*(point.link for point in points), *links_of(pairs)])
    model = _with_light_links(model)
    free = [joint.name for joint in free_joints(model)] if fused else []
    spec = urdf_spec(mujoco, _rubbing(model, fused), model, free)
    for joint in model.joints:
        if joint.kind.nv:
            spec.joint(joint.name).armature = joint.armature
            spec.joint(joint.name).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
            for effects in joint.effects:  # URDF has no word for a spring
                if effects.spring:
                    _set_spring(spec.joint(joint.name), effects.spring, effects.rest)
    rough = [friction, 0, 0]
    if points:
        _add_ground(mujoco, spec, Slope() if ground is None else ground, rough)
    for k, point in enumerate(points):
        spec.body(point.link).add_geom(
            name=f"point{k}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            pos=point.centre,
            size=[max(point.radius, 1e-6), 0, 0],
            friction=rough,
            contype=2,
            conaffinity=1,
            mass=0,
            condim=3,
        )
    add_pairs(mujoco, spec, pairs, friction, contact_time)
    if contact_time is not None:
        for geom in spec.geoms:
            geom.solref = [contact_time, 1.0]
    if drives is not None:
        _add_drives(mujoco, spec, model, drives)
    option = spec.option
    option.timestep, option.cone = dt, mujoco.mjtCone.mjCONE_ELLIPTIC
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.impratio, option.gravity = IMPRATIO, gravity
    if not points and not pairs:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return spec


def _with_light_links(model: Model) -> Model:
    """The model with a very small mass for links without mass that carry others, such as those
    between the slides of a planar robot, which MuJoCo refuses.

    The sum of these masses is at most a millionth of the robot's: less than float32 resolves.
    """
    below = {joint.parent for joint in model.joints}
    light = [link for link in model.links[1:] if link.mass == 0.0 and link.name in below]
    if not light or not model.total_mass:
        return model
    mass = LIGHT * model.total_mass / len(light)
    moment = mass * LIGHT_SIZE**2
    inertia = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment))
    names = {link.name for link in light}
    return replace(
        model,
        links=tuple(
            replace(link, mass=mass, inertia=inertia) if link.name in names else link
            for link in model.links
        ),
    )


def _rubbing(model: Model, fused: bool) -> etree._Element:
    """The robot's URDF for MuJoCo: without shapes, and with the friction of the model."""
    joints = (replace(joint, armature=0.0, effects=()) for joint in model.joints)
    root = for_mujoco(urdf_text(replace(model, joints=tuple(joints))), fused)
    for joint in model.joints:
        for effects in joint.effects:
            element = root.find(f"joint[@name='{joint.name}']")
            if element is not None:
                words = {"damping": repr(effects.viscous), "friction": repr(effects.coulomb)}
                etree.SubElement(element, "dynamics", words)
    return root


def _add_ground(mujoco: Any, spec: Any, ground: Ground, rough: Sequence[float]) -> None:
    if isinstance(ground, Slope):
        x, y = map(float, ground.rise)
        spec.worldbody.add_geom(
            name=FLOOR,
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            pos=[0, 0, ground.level],
            quat=_tilt(x, y),
            size=[0, 0, 1],
            friction=rough,
        )
        return
    more = round(BEYOND / ground.cell)
    heights = np.pad(np.asarray(ground.heights, float), more, mode="edge")
    lowest, highest = heights.min(), heights.max()
    span = max(highest - lowest, 1e-6)
    half = [0.5 * ground.cell * (n - 1) for n in heights.shape]
    spec.add_hfield(
        name=FLOOR,
        nrow=heights.shape[1],  # there rows are along y
        ncol=heights.shape[0],
        size=[*half, span, THICK],
        userdata=((heights.T - lowest) / span).ravel(),
    )
    centre = [x - more * ground.cell + h for x, h in zip(ground.origin, half, strict=True)]
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_HFIELD,
        hfieldname=FLOOR,
        pos=[*centre, lowest],
        friction=rough,
    )


def _tilt(x: float, y: float) -> list[float]:
    """The quaternion (w, x, y, z) that turns the z axis to a plane's normal (-x, -y, 1)."""
    normal = np.array([-x, -y, 1.0]) / np.sqrt(1.0 + x * x + y * y)
    w = np.sqrt(0.5 * (1.0 + normal[2]))
    return [w, -normal[1] / (2 * w), normal[0] / (2 * w), 0.0]


def _set_spring(joint: Any, stiffness: float, rest: float) -> None:
    """Give a joint a linear spring; from version 4 on MuJoCo's stiffness is a polynomial."""
    if np.ndim(joint.stiffness):
        joint.stiffness = [stiffness, *np.zeros(np.size(joint.stiffness) - 1)]
    else:
        joint.stiffness = stiffness
    joint.springref = rest


def _add_drives(mujoco: Any, spec: Any, model: Model, drives: Drives) -> None:
    joints = [joint.name for joint in internal_joints(model)]
    numbers = (np.broadcast_to(x, len(joints)) for x in drives)
    for joint, kp, kd, effort in zip(joints, *numbers, strict=True):
        drive = spec.add_actuator(name=joint, target=joint)
        drive.trntype = mujoco.mjtTrn.mjTRN_JOINT
        drive.set_to_position(kp=kp, kv=kd)
        most = min(effort, UNREACHED)
        drive.forcerange, drive.forcelimited = [-most, most], True

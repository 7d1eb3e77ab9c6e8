"""Scenes on the ground in MuJoCo C: elliptic cones, `implicitfast`, `impratio` 100, its own softness."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from lxml import etree

from warpdyn.peers.peer import bare

from . import Motion, OnGround, collected

NAME, PACKAGES = "MuJoCo C", ("mujoco",)
SAYS = (
    "Newton; elliptic cones; `implicitfast`; `impratio` 100; solref (0.02, 1), solimp (0.9, 0.95, "
    "0.001), its defaults; float64"
)
IMPRATIO = 100.0
"""At 1, MuJoCo's default, feet glide and legs spread."""


def described(scene: OnGround, dt: float) -> Any:
    """MuJoCo's specification of a scene: its plane, spheres, drives and options."""
    spec = mujoco.MjSpec.from_string(text(scene.urdf))
    rough = [scene.friction, 0, 0]
    if scene.free:
        spec.worldbody.first_body().add_freejoint()
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=rough)
    for point in scene.points:
        spec.body(point.link).add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            pos=point.centre,
            size=[point.radius, 0, 0],
            friction=rough,
            **{"contype": 2, "conaffinity": 1, "mass": 0, "condim": 3},
        )
    if scene.gains:
        model = scene.model
        kp, kd = scene.gains
        for joint, effort in zip(
            model.joint_names, model.effort_limit[6 * scene.free :], strict=True
        ):
            drive = spec.add_actuator(name=joint, target=joint)
            drive.trntype = mujoco.mjtTrn.mjTRN_JOINT
            drive.set_to_position(kp=kp, kv=kd)
            drive.forcerange, drive.forcelimited = [-effort, effort], True
            spec.joint(joint).armature = scene.armature
    option = spec.option
    option.timestep, option.cone = dt, mujoco.mjtCone.mjCONE_ELLIPTIC
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.impratio, option.gravity = IMPRATIO, scene.gravity
    if not scene.free:
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return spec


def built(scene: OnGround, dt: float) -> tuple[Any, Any]:
    """MuJoCo's model of a scene, and its state at the start."""
    robot = described(scene, dt).compile()
    data = mujoco.MjData(robot)
    data.qpos[:] = positions(scene)
    if scene.free:
        data.qvel[:3] = scene.speed
    if scene.gains:
        data.ctrl[:] = scene.start[7 * scene.free :]
    return robot, data


def positions(scene: OnGround) -> list[float]:
    """Where a scene starts, in MuJoCo's order: the quaternion's w first."""
    if not scene.free:
        return [*scene.start]
    x, y, z, w = scene.start[3:7]
    return [*scene.start[:3], w, x, y, z, *scene.start[7:]]


def text(urdf: str) -> str:
    """The robot's URDF as MuJoCo is to read it: no shapes, every link a body."""
    root = bare(urdf)
    options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    for name in ("fusestatic", "balanceinertia", "inertiafromgeom"):
        options.set(name, "false")
    return etree.tostring(root, encoding="unicode")


def carried(robot: Any, data: Any) -> np.ndarray:
    """The sum of its contacts' forces on the robot, in the world [N]."""
    total, force = np.zeros(3), np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(robot, data, k, force)
        total += data.contact[k].frame.reshape(3, 3).T @ force[:3]
    return total


def roll_out(scene: OnGround, dt: float) -> Motion:
    robot, data = built(scene, dt)
    rows = []
    for _ in range(round(scene.seconds / dt)):
        mujoco.mj_step(robot, data)
        rows.append((data.qpos[:3].copy(), data.qvel[:3].copy(), carried(robot, data)))
    return collected(dt, rows)

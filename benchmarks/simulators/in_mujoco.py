"""Scenes on the ground in MuJoCo C: elliptic cones, `implicitfast`, `impratio` 100, default softness."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from warpdyn.peers.mujoco_scene import Drives, mujoco_scene

from . import Motion, OnGround, collect

NAME, PACKAGES = "MuJoCo C", ("mujoco",)
SAYS = (
    "Newton; elliptic cones; `implicitfast`; `impratio` 100; solref (0.02, 1), solimp (0.9, 0.95, "
    "0.001), its defaults; float64"
)


def scene_spec(scene: OnGround, dt: float) -> Any:
    """MuJoCo's specification of a scene: plane, spheres, drives and options."""
    model = scene.model
    effort = model.effort_limit[6 * scene.free :]
    return mujoco_scene(
        model,
        dt,
        points=scene.points if scene.free else (),
        friction=scene.friction,
        drives=Drives(*scene.gains, effort) if scene.gains else None,
        gravity=scene.gravity,
    )


def build(scene: OnGround, dt: float) -> tuple[Any, Any]:
    """MuJoCo's model of a scene, and its state at the start."""
    robot = scene_spec(scene, dt).compile()
    data = mujoco.MjData(robot)
    data.qpos[:] = positions(scene)
    if scene.free:
        data.qvel[:3] = scene.speed
    if scene.gains:
        data.ctrl[:] = scene.start[7 * scene.free :]
    return robot, data


def positions(scene: OnGround) -> list[float]:
    """Start of a scene in MuJoCo's order, with quaternions wxyz."""
    if not scene.free:
        return [*scene.start]
    x, y, z, w = scene.start[3:7]
    return [*scene.start[:3], w, x, y, z, *scene.start[7:]]


def contact_force(robot: Any, data: Any) -> np.ndarray:
    """Sum of the contact forces on the robot, in the world [N]."""
    total, force = np.zeros(3), np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(robot, data, k, force)
        total += data.contact[k].frame.reshape(3, 3).T @ force[:3]
    return total


def roll_out(scene: OnGround, dt: float) -> Motion:
    robot, data = build(scene, dt)
    rows = []
    for _ in range(round(scene.seconds / dt)):
        mujoco.mj_step(robot, data)
        rows.append((data.qpos[:3].copy(), data.qvel[:3].copy(), contact_force(robot, data)))
    return collect(dt, rows)

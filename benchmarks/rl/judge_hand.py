"""A hand that turns a cube in MuJoCo, for `benchmarks.rl.judge`.

It uses the manufacturer's description, NumPy and MuJoCo only.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import mujoco
import numpy as np

from benchmarks.rl.judge_policy import TIMESTEP, RecordedPolicy, Robots, add_drives

DESCRIPTION = (
    "cmeel.prefix/share/example-robot-data/robots/allegro_hand_description/urdf/"
    "allegro_right_hand.urdf"
)
"""The hand in the package example-robot-data. Its shapes are boxes, and balls at the fingertips."""

HEIGHT, SLOPE = 0.5, 0.2
"""Height of the palm's origin [m], and the angle by which the fingers point down [rad]."""

PLACE = (0.05, 0.0, -0.012)
"""First place of the cube in the palm's axes [m]."""

CURLED = (*(0.0, 0.7, 0.7, 0.7) * 3, 0.8, 0.5, 0.6, 0.6)
"""First angles of the joints [rad]."""

SIDE, MASS, FRICTION = 0.065, 0.08, 0.9
"""Side [m], mass [kg] and friction of the cube."""

TOLERANCE = 0.1
"""Largest angle between a cube at its goal and the goal [rad]."""


def hand_with_cube(names: list[str]) -> tuple[mujoco.MjSpec, np.ndarray]:
    """The scene, with joints of these names, and the palm's rotation (3, 3)."""
    text = Path(
        str(metadata.distribution("example-robot-data").locate_file(DESCRIPTION))
    ).read_text()
    hand = mujoco.MjSpec.from_string(re.sub(r"<visual>.*?</visual>", "", text, flags=re.DOTALL))
    hand.compiler.balanceinertia = True  # some of its inertias are not physical
    for geom in hand.geoms:
        geom.contype, geom.conaffinity = 1, 0
    c, s = np.cos(SLOPE), np.sin(SLOPE)
    palm = np.array([[s, 0.0, c], [0.0, -1.0, 0.0], [c, 0.0, -s]])
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, palm.ravel())
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.cone = TIMESTEP, mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator, spec.option.impratio = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 10
    spec.attach(
        hand, frame=spec.worldbody.add_frame(pos=[0, 0, HEIGHT], quat=quaternion), prefix="hand_"
    )
    for joint, name in zip(spec.joints, names, strict=True):
        joint.name = name
    place = palm @ PLACE + [0, 0, HEIGHT]
    body = spec.worldbody.add_body(name="cube", pos=place, quat=quaternion)
    body.add_freejoint()
    cube = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[SIDE / 2] * 3, mass=MASS)
    cube.contype, cube.conaffinity = 0, 1
    for geom in spec.geoms:
        geom.friction[0], geom.solref[0] = FRICTION, 2 * TIMESTEP
    return spec, palm


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of quaternions x, y, z, w (n, 4)."""
    u, v, s, t = a[:, :3], b[:, :3], a[:, 3:], b[:, 3:]
    across = np.cross(u, v) + s * v + t * u
    return np.concatenate([across, s * t - np.sum(u * v, axis=1, keepdims=True)], axis=1)


def turning_a_cube(path: Path, robots: int) -> dict[str, float]:
    """Mean number of goals in 50 s or until the cube falls, and the share of cubes that fall.

    Each goal is a rotation of the cube by 0.6 to 3.1 rad about a random axis.
    """
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    record = policy.record
    spec, palm = hand_with_cube(record["joints"]["names"])
    add_drives(spec, record["joints"])
    group = Robots(spec.compile(), record, robots)
    for world in group.worlds:
        world.qpos[group.places] = CURLED + rng.uniform(-0.1, 0.1, 16)
        mujoco.mj_forward(group.model, world)
    centre = palm @ PLACE + [0, 0, HEIGHT]

    def next_goals(turn: np.ndarray) -> np.ndarray:
        axis = rng.normal(size=(robots, 3))
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
        half = rng.uniform(0.3, 1.55, (robots, 1))
        return product(np.concatenate([np.sin(half) * axis, np.cos(half)], axis=1), turn)

    alive, count = np.ones(robots, bool), np.zeros(robots)
    q, v = group.state()
    goal = next_goals(q[:, 19:])
    for _ in range(round(50.0 / record["period"])):
        group.advance(policy.step(q, v, goal), alive)
        q, v = group.state()
        away = q[:, 16:19] - centre
        alive &= (away[:, 2] > -0.06) & (np.linalg.norm(away, axis=1) < 0.12)
        between = product(goal, q[:, 19:] * [-1, -1, -1, 1])
        angle = 2 * np.arctan2(np.linalg.norm(between[:, :3], axis=1), np.abs(between[:, 3]))
        reached = alive & (angle < TOLERANCE)
        count += reached
        goal = np.where(reached[:, None], next_goals(q[:, 19:]), goal)
    return {"goals": float(count.mean()), "fell": float(1.0 - alive.mean())}

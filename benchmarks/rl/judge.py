"""Judge the policies of the package in MuJoCo, without `warpdyn.rl`.

    python -m benchmarks.rl.judge [TASK ...] [--policy FILE] [--robots 100] [--no-store]

NumPy and onnxruntime run each policy from its file's metadata (`judge_policy`). This module draws starts,
commands, targets and objects, and counts falls and successes. The table goes to
benchmarks/rl/results/judge.json.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from benchmarks.rl.judge_hand import turning_a_cube
from benchmarks.rl.judge_policy import (
    POLICIES,
    TIMESTEP,
    RecordedPolicy,
    Robots,
    add_drives,
    scene,
)

RESULTS = Path(__file__).with_name("results") / "judge.json"

FRICTION, BUMPS = 0.8, 0.02
"""Friction of the ground, and height of the bumps of uneven ground [m]."""

PUSH, PUSH_SECONDS = 0.5, 4.0
"""Speed that a push adds in a random horizontal direction [m/s], and the time between two [s]."""

SPEEDS = (1.0, 0.6, 1.0)
"""Largest commands where a record has no limits: forward, sideways [m/s] and turning [rad/s]."""

TOOL = 0.2104
"""Distance of the panda's tool point from its last link, along that link's z axis [m]."""

REACHED = 0.02
"""Distance at which a hand or an object is at its goal [m]."""

HOME = (0.0, -np.pi / 4, 0.0, -0.75 * np.pi, 0.0, np.pi / 2, np.pi / 4)
OVER_THE_TABLE = (0.0, 0.0, 0.0, -2.3, 0.0, 2.3, np.pi / 4)
AT_THE_TABLE = (0.0, 0.2483, 0.0, -2.836, 0.0, 3.0843, np.pi / 4)

Found = dict[str, float]


def walking(path: Path, robots: int, *, bumps: float = 0.0, pushes: bool = False) -> Found:
    """Falls in 20 s, and speed errors. Commands are uniform within the record's limits and change every 10 s."""
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    record = policy.record
    spec = scene(record["robot"], True, FRICTION, bumps)
    add_drives(spec, record["joints"])
    group = Robots(spec.compile(), record, robots)
    height = _stand(group, np.array(record["joints"]["stance"]), rng)
    period, alive = record["period"], np.ones(robots, bool)
    asked = record["command"] or {"size": 0, "lowest": [], "highest": [], "rate": []}
    usual = np.array(SPEEDS[: asked["size"]])
    lowest, highest = (np.array(asked[end], dtype=float) for end in ("lowest", "highest"))
    lowest = np.where(np.isnan(lowest), -usual, lowest)
    highest = np.where(np.isnan(highest), usual, highest)
    most = np.array([np.inf if x is None else x for x in asked["rate"]]) * period
    command = wanted = np.zeros((robots, asked["size"]))
    off, turned, count = np.zeros(robots), np.zeros(robots), np.zeros(robots)
    for step in range(round(20.0 / period)):
        if step % round(10.0 / period) == 0:
            wanted = rng.uniform(lowest, highest, command.shape)
        command = command + np.clip(wanted - command, -most, most)
        if pushes and step and step % round(PUSH_SECONDS / period) == 0:
            for world, angle in zip(group.worlds, rng.uniform(0, 2 * np.pi, robots), strict=True):
                world.qvel[:2] += PUSH * np.array([np.cos(angle), np.sin(angle)])
        group.advance(policy.step(*group.state(), command), alive)
        q, v = group.state()
        up = 1.0 - 2.0 * (q[:, 3] ** 2 + q[:, 4] ** 2)
        alive &= (up > 0.5) & (q[:, 2] > 0.55 * height)
        if asked["size"] and step * period >= 1.0:
            off += np.where(alive, np.hypot(*(command[:, :2] - v[:, :2]).T), 0.0)
            turned += np.where(alive, np.abs(command[:, 2] - v[:, 5]), 0.0)
            count += alive
    found = {"fell": float(1.0 - alive.mean())}
    if asked["size"]:
        found["speed error"] = float(off.sum() / count.sum())
        found["turning error"] = float(turned.sum() / count.sum())
    return found


def _stand(group: Robots, stance: np.ndarray, rng: np.random.Generator) -> float:
    """Put robots on the ground in their stance and return the height of the base [m]."""
    model, world = group.model, group.worlds[0]
    world.qpos[group.places] = stance
    height = 1.5
    while height > 0.0:
        world.qpos[2] = height
        mujoco.mj_forward(model, world)
        if world.ncon:
            break
        height -= 0.002
    for world in group.worlds:
        world.qpos[2], world.qpos[group.places] = height + 0.01, stance
        angle = rng.uniform(-np.pi, np.pi)
        world.qpos[3:7] = np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)
        world.qpos[group.places] += rng.uniform(-0.05, 0.05, len(group.places))
        mujoco.mj_forward(model, world)
    return height


def getting_up(path: Path, robots: int) -> Found:
    """Share of robots that stand 5 s after a fall in a random orientation with random joint angles.

    All collision shapes touch each other except pairs that touch in the stance.
    """
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    record = policy.record
    spec = scene(record["robot"], True, FRICTION)
    for geom in spec.geoms:
        geom.contype = 1
    add_drives(spec, record["joints"])
    stance = np.array(record["joints"]["stance"])
    alone = Robots(spec.compile(), record, 1)
    alone.worlds[0].qpos[2], alone.worlds[0].qpos[alone.places] = 1.0, stance
    mujoco.mj_forward(alone.model, alone.worlds[0])
    for contact in alone.worlds[0].contact:
        one, two = (alone.model.body(alone.model.geom_bodyid[k]).name for k in contact.geom)
        spec.add_exclude(bodyname1=one, bodyname2=two)
    group = Robots(spec.compile(), record, robots)
    height = _stand(group, stance, rng)
    low, high = group.model.jnt_range[1:].T
    for world in group.worlds:
        turn = rng.normal(size=4)
        world.qpos[2], world.qpos[3:7] = 0.6, turn / np.linalg.norm(turn)
        world.qpos[group.places] = rng.uniform(low, high)
        mujoco.mj_forward(group.model, world)
    everyone = np.ones(robots, bool)
    for _ in range(round(5.0 / record["period"])):
        group.advance(policy.step(*group.state()), everyone)
    q, v = group.state()
    up = 1.0 - 2.0 * (q[:, 3] ** 2 + q[:, 4] ** 2)
    still = np.linalg.norm(v[:, :3], axis=1) < 0.5
    stands = (up > 0.95) & (np.abs(q[:, 2] / height - 1.0) < 0.2) & still
    return {"stands": float(stands.mean()), "upright": float((up > 0.95).mean())}


def swinging_up(path: Path, robots: int) -> Found:
    """Share of poles within 10 degrees of upright for the last 3 of 10 s."""
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    group = Robots(scene("cartpole", False, 1.0).compile(), policy.record, robots)
    for world in group.worlds:
        world.qpos[:] = rng.uniform([-0.05, np.pi - 0.05], [0.05, np.pi + 0.05])
    upright = np.ones(robots, bool)
    for step in range(round(10.0 / policy.record["period"])):
        group.advance(policy.step(*group.state()), upright | True)
        if step * policy.record["period"] > 7.0:
            upright &= np.cos(group.state()[0][:, 1]) > np.cos(np.radians(10.0))
    return {"reached": float(upright.mean())}


def reaching(path: Path, robots: int, *, spheres: bool = False) -> Found:
    """Share of targets that the hand reaches in 3 s without a contact of the arm."""
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    record = policy.record
    spec = scene("panda", False, 1.0)
    add_drives(spec, record["joints"])
    obstacles = ("first", "second") if spheres else ()
    for name in obstacles:
        ball = spec.worldbody.add_body(name=name, mocap=True)
        ball.add_geom(name=name, size=[0.001, 0, 0], contype=1, conaffinity=0)
    _hold_fingers(spec, record)
    group = Robots(spec.compile(), record, robots)
    start, goal, targets, drawn = [], [], [], []
    for k, world in enumerate(group.worlds):
        first, last, target = _way(group, world, rng)
        balls = []
        if spheres:
            group.models[k] = copy.copy(group.model)
            balls = _balls(group.models[k], world, group.places, first, last, target, rng)
        start.append(first)
        goal.append(last)
        targets.append(target)
        drawn.append(balls)
        world.qpos[group.places] = first
        mujoco.mj_forward(group.models[k], world)
    policy.remember(wanted=np.array(start), target=np.array(targets))
    if spheres:
        policy.remember(spheres=np.array(drawn))
    free = np.ones(robots, bool)
    for _ in range(round(record["simulation"]["seconds"] / record["period"]) - 1):
        group.advance(policy.step(*group.state()), free)
        free &= ~group.has_contact("ground", *obstacles)
    away = np.linalg.norm(
        [_tool(w) - x for w, x in zip(group.worlds, targets, strict=True)], axis=1
    )
    return {"reached": float((free & (away < REACHED)).mean()), "touched": float(1 - free.mean())}


def _hold_fingers(spec: mujoco.MjSpec, record: dict) -> None:
    """Add drives for joints that the record lacks. Both fingers are open by 4 cm."""
    for joint in spec.joints:
        if joint.name not in record["joints"]["names"]:
            drive = spec.add_actuator(name=joint.name, target=joint.name)
            drive.trntype, drive.biastype = mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtBias.mjBIAS_AFFINE
            drive.gainprm[0], drive.biasprm[0:3] = 0.0, [0.04 * 1000.0, -1000.0, -100.0]
            joint.armature = 0.1


def _tool(world: mujoco.MjData) -> np.ndarray:
    """Position of the panda's tool point [m]."""
    link = world.body("panda_link7")
    return link.xpos + TOOL * link.xmat.reshape(3, 3)[:, 2]


def _way(
    group: Robots, world: mujoco.MjData, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start joints, goal joints clear of the table, and the goal of the hand."""
    model = group.model
    low, high = model.jnt_range[:7].T
    middle, half = (low + high) / 2, 0.9 * (high - low) / 2
    table = model.geom("ground").id
    arm = [k for k in range(model.ngeom) if model.geom_bodyid[k] > 0 and model.geom_conaffinity[k]]
    while True:
        last = middle + half * rng.uniform(-1.0, 1.0, 7)
        world.qpos[group.places] = last
        mujoco.mj_kinematics(model, world)
        hand = _tool(world)
        if hand[2] < 0.03 or np.hypot(*hand[:2]) < 0.25:
            continue
        near = [k for k in arm if world.geom_xpos[k][2] < model.geom_rbound[k] + 0.03]
        if all(mujoco.mj_geomDistance(model, world, table, k, 1.0, None) > 0.03 for k in near):
            return np.array(HOME) + rng.uniform(-0.2, 0.2, 7), last, hand.copy()


def _balls(
    model: mujoco.MjModel,
    world: mujoco.MjData,
    places: list[int],
    first: np.ndarray,
    last: np.ndarray,
    target: np.ndarray,
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Two spheres (x, y, z, radius) on the path, 5 cm from the arm at both ends of it."""
    arm = [k for k in range(model.ngeom) if model.geom_bodyid[k] > 0 and model.geom_conaffinity[k]]
    world.qpos[places] = first
    mujoco.mj_kinematics(model, world)
    hand, found = _tool(world), []
    for k, name in enumerate(("first", "second")):
        best, ball = np.array([0.0, 0.0, -1.0 - k, 0.03]), model.geom(name).id
        for _ in range(6):
            centre = hand + rng.uniform(0.3, 0.7) * (target - hand) + rng.uniform(-0.1, 0.1, 3)
            world.mocap_pos[k], room = centre, rng.uniform(0.05, 0.1)
            for pose in (first, last):
                world.qpos[places] = pose
                mujoco.mj_kinematics(model, world)
                gaps = [mujoco.mj_geomDistance(model, world, ball, a, 1.0, None) for a in arm]
                room = min(room, min(gaps) - 0.05)
            if room > best[3]:
                best = np.array([*centre, room])
        found.append(best)
    for k, name in enumerate(("first", "second")):
        ball = model.geom(name).id
        world.mocap_pos[k] = found[k][:3]
        model.geom_size[ball, 0] = model.geom_rbound[ball] = found[k][3]
    return found


def moving_an_object(path: Path, robots: int, *, lift: bool) -> Found:
    """Share of objects at their goal at the end: a lifted cube or a pushed box.

    Friction is 0.9 for the cube and 0.55 for the box.
    """
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    record, friction = policy.record, 0.9 if lift else 0.55
    sides, mass = ((0.04, 0.04, 0.04), 0.1) if lift else ((0.06, 0.06, 0.05), 0.2)
    spec = scene("panda", False, friction)
    for geom in spec.geoms:
        geom.conaffinity = 0
    # Only the finger pads and the object have contacts, and contacts are stiff.
    for name, side in (("panda_leftfinger", 1.0), ("panda_rightfinger", -1.0)):
        pad = spec.body(name).add_geom(pos=[0.0, 0.004 * side, 0.045], size=[0.01, 0.004, 0.01])
        pad.type, pad.contype, pad.conaffinity = mujoco.mjtGeom.mjGEOM_BOX, 1, 0
        pad.friction[0], pad.mass = friction, 0.0
    body = spec.worldbody.add_body(name="object", pos=[0.5, 0.0, sides[2] / 2])
    body.add_freejoint()
    box = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=np.array(sides) / 2, mass=mass)
    box.contype, box.conaffinity, box.friction[0] = 2, 1, friction
    ground = spec.geom("ground")
    ground.contype, ground.conaffinity = 1, 2
    for geom in spec.geoms:
        geom.solref[0] = 2 * TIMESTEP
    add_drives(spec, record["joints"])
    group = Robots(spec.compile(), record, robots)
    ready, spread, opening = (OVER_THE_TABLE, 0.05, 0.04) if lift else (AT_THE_TABLE, 0.02, 0.0)
    start, goals = [], []
    for world in group.worlds:
        arm = np.array(ready) + rng.uniform(-spread, spread, 7)
        x, y, angle = rng.uniform([0.4, -0.2, -0.78], [0.6, 0.2, 0.78])
        if not lift:
            x, y = 0.5 + 0.5 * (x - 0.5), 0.5 * y
        far, aside = rng.uniform(0.1, 0.2), rng.uniform(-np.pi, np.pi)
        goal = rng.uniform([0.4, -0.2, 0.1], [0.6, 0.2, 0.35])
        goals.append(goal if lift else np.array([x + far * np.cos(aside), y + far * np.sin(aside)]))
        start.append([*arm, opening, opening])
        world.qpos[group.places] = start[-1]
        place = group.free[0][0]
        world.qpos[place : place + 3] = x, y, sides[2] / 2
        world.qpos[place + 3 : place + 7] = np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)
        mujoco.mj_forward(group.model, world)
    policy.remember(wanted=np.array(start), goal=np.array(goals))
    for _ in range(round(record["simulation"]["seconds"] / record["period"]) - 1):
        group.advance(policy.step(*group.state()), np.ones(robots, bool))
    at = [world.body("object").xpos for world in group.worlds]
    away = [np.linalg.norm(x[: len(goal)] - goal) for x, goal in zip(at, goals, strict=True)]
    return {"reached": float((np.array(away) < REACHED).mean())}


def following_a_clip(path: Path, robots: int) -> Found:
    """Falls in 10 s from the beginning of the clip, and the mean error of the joints [rad]."""
    rng, policy = np.random.default_rng(7), RecordedPolicy(path, robots)
    record = policy.record
    spec = scene(record["robot"], True, FRICTION)
    add_drives(spec, record["joints"])
    group = Robots(spec.compile(), record, robots)
    begin = policy.tables["motion"][0]
    for world in group.worlds:
        (x, y, z, w), joints = begin[3:7], len(group.places)
        world.qpos[:3], world.qpos[3:7] = begin[:3], (w, x, y, z)
        world.qpos[group.places] = begin[7 : 7 + joints] + rng.uniform(-0.05, 0.05, joints)
        mujoco.mj_forward(group.model, world)
    alive, error, count = np.ones(robots, bool), 0.0, 0
    for _ in range(round(10.0 / record["period"])):
        asked = policy.step(*group.state())
        group.advance(asked, alive)
        q, _ = group.state()
        alive &= 1.0 - 2.0 * (q[:, 3] ** 2 + q[:, 4] ** 2) > 0.5
        wanted = policy.tables["motion"][policy.memory["memory_frame"][:, 0].astype(int)]
        error += np.sqrt(np.mean((q[alive, 7:] - wanted[alive, 7 : q.shape[1]]) ** 2, axis=1)).sum()
        count += int(alive.sum())
    return {"fell": float(1.0 - alive.mean()), "joint error": float(error / max(count, 1))}


def on_both_grounds(path: Path, robots: int, **options: bool) -> Found:
    """Level and uneven ground."""
    level = walking(path, robots, **options)
    return {**level, "fell on bumps": walking(path, robots, bumps=BUMPS, **options)["fell"]}


JUDGES: dict[str, Callable[[Path, int], Found]] = {
    "cartpole_swing_up": swinging_up,
    "panda_reach": reaching,
    "panda_reach_obstacles": lambda path, n: reaching(path, n, spheres=True),
    "hand_reorient": turning_a_cube,
    "panda_lift": lambda path, n: moving_an_object(path, n, lift=True),
    "panda_push": lambda path, n: moving_an_object(path, n, lift=False),
    "humanoid_stand": lambda path, n: on_both_grounds(path, n, pushes=True),
    "humanoid_velocity": on_both_grounds,
    "motion_tracking": following_a_clip,
    "quadruped_getup": getting_up,
    "quadruped_velocity": on_both_grounds,
    "quadruped_rough": on_both_grounds,
}
"""The judge of each task; one with onboard sensors has that of its task."""


def main() -> None:
    """Judge the policies, print the table and store it."""
    parser = argparse.ArgumentParser(description=__doc__)
    there = sorted(path.stem for path in POLICIES.glob("*.onnx"))
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(there)}")
    parser.add_argument("--policy", type=Path, help="a file in place of the task's")
    parser.add_argument("--robots", type=int, default=100)
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for task in args.tasks or there:
        path = args.policy or POLICIES / f"{task}.onnx"
        result = JUDGES[task.removesuffix("_onboard")](path, args.robots)
        found[task] = {"robots": args.robots, **{n: round(x, 3) for n, x in result.items()}}
        print(task, found[task], flush=True)
        if not args.no_store:
            RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

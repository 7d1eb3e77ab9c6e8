"""A policy's ONNX file and a robot in MuJoCo, for `benchmarks.rl.judge`.

The module uses NumPy, onnxruntime and MuJoCo only. The file's metadata has the programs that compute
observations and targets, and the joints with their gains (docs/rl_deployment.md). Nothing here imports
warpdyn; its folder only contains the files.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import onnxruntime

PACKAGE = Path(find_spec("warpdyn").submodule_search_locations[0])  # type: ignore[union-attr,index]
POLICIES = PACKAGE / "rl" / "policies"

TIMESTEP = 0.002
"""MuJoCo's step [s]."""


def look(table: np.ndarray, row: Any, column: Any) -> np.ndarray:
    """Entries of a table. Indices beyond the table use its first or last row or column."""
    places = (
        np.clip(np.asarray(x), 0, size - 1).astype(int)
        for x, size in zip((row, column), table.shape, strict=True)
    )
    return table[tuple(places)]


OPERATIONS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "floor": np.floor,
    "look": look,
    "where_less": lambda a, b, x, y: np.where(a < b, x, y),
    "where_less_equal": lambda a, b, x, y: np.where(a <= b, x, y),
}


def run(
    program: dict[str, Any],
    inputs: dict[str, np.ndarray],
    tables: dict[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Results of a program for many robots, from inputs of shape (robots, size)."""
    values: dict[Any, Any] = dict(tables or {})
    values |= {f"{name}[{k}]": x[:, k] for name, x in inputs.items() for k in range(x.shape[1])}
    count = len(inputs["action"])
    for name, operation, *operands in program["steps"]:
        values[name] = OPERATIONS[operation](*(values.get(x, x) for x in operands))
    return {
        name: np.stack([np.broadcast_to(values.get(x, x), count) for x in entries], axis=1)
        for name, entries in program["results"].items()
    }


class RecordedPolicy:
    """Network and programs of a file, with the memory of many robots."""

    def __init__(self, path: Path, robots: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options)
        self.record = json.loads(self.session.get_modelmeta().custom_metadata_map["deployment"])
        self.robots = robots
        self.tables = {n: np.array(x) for n, x in self.record.get("tables", {}).items()}
        self.memory = {
            f"memory_{name}": np.tile(np.array(each["start"], dtype=float), (robots, 1))
            for name, each in self.record["memory"].items()
        }
        self.action = np.zeros((robots, self.record["action"]["size"]))
        self.first = np.ones((robots, 1))

    def remember(self, **arrays: np.ndarray) -> None:
        """Set arrays of the memory (robots, size), for example targets, before the first step."""
        for name, x in arrays.items():
            self.memory[f"memory_{name}"] = np.reshape(x, (self.robots, -1))

    def step(
        self, q: np.ndarray, v: np.ndarray, command: np.ndarray | None = None
    ) -> dict[str, Any]:
        """`targets` (robots, joints) and `tau` (robots, nv) for states in the record's order."""
        given = {"q": q, "v": v, "action": self.action, "first": self.first, **self.memory}
        if command is not None:
            given["command"] = command
        seen = run(self.record["programs"]["observe"], given, self.tables)
        self.memory |= {f"memory_{n}": x for n, x in seen.items() if f"memory_{n}" in self.memory}
        row = seen["observation"].astype(np.float32)
        largest = self.record["action"]["largest"]
        self.action = np.clip(self.session.run(None, {"observation": row})[0], -largest, largest)
        self.first = np.zeros((self.robots, 1))
        given = {"action": self.action, **self.memory}
        return run(self.record["programs"]["act"], given, self.tables)


def scene(robot: str, free: bool, friction: float, bumps: float = 0.0) -> mujoco.MjSpec:
    """Scene with a robot's URDF above level ground. Its geoms touch the ground and objects but not each other.

    bumps: largest height of random bumps at distances of 10 cm [m].
    """
    spec = mujoco.MjSpec.from_file(str(PACKAGE / "robots" / f"{robot}.urdf"))
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, 1
    if free:
        spec.worldbody.first_body().add_freejoint()
    floor = spec.worldbody.add_geom(name="ground", size=[50, 50, 0.1], friction=[friction, 0, 0])
    floor.type = mujoco.mjtGeom.mjGEOM_PLANE
    if bumps:
        heights = np.random.default_rng(1).uniform(0.0, 1.0, 501 * 501)
        spec.add_hfield(
            name="bumps", size=[25, 25, bumps, 0.1], nrow=501, ncol=501, userdata=heights
        )
        floor.type, floor.hfieldname = mujoco.mjtGeom.mjGEOM_HFIELD, "bumps"
        floor.pos = [0.0, 0.0, -bumps]
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return spec


def add_drives(spec: mujoco.MjSpec, joints: dict[str, Any]) -> None:
    """The record's drives: kp (target - q) - kd v, within the effort."""
    for name, kp, kd, effort in zip(
        joints["names"], joints["kp"], joints["kd"], joints["effort"], strict=True
    ):
        drive = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        drive.gainprm[0], drive.biastype = kp, mujoco.mjtBias.mjBIAS_AFFINE
        drive.biasprm[1], drive.biasprm[2] = -kp, -kd
        drive.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
        if effort is not None:
            drive.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
            drive.forcerange = [-effort, effort]


class Robots:
    """Robots of one model, each in its own world, with states in the order and axes of the record.

    bases: names of the free bodies, in the record's order. The root of a legged robot precedes its joints,
    and an object follows them.
    """

    def __init__(self, model: mujoco.MjModel, record: dict[str, Any], count: int):
        self.model, self.record = model, record
        joints = record["joints"]
        self.places = [model.joint(n).qposadr[0] for n in joints["names"]]
        self.speeds = [model.joint(n).dofadr[0] for n in joints["names"]]
        for name in ("armature", "damping", "frictionloss"):
            known = joints["friction" if name == "frictionloss" else name]
            getattr(model, f"dof_{name}")[self.speeds] = known
        free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
        self.bodies = [int(model.jnt_bodyid[k]) for k in free]
        self.free = [(int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])) for k in free]
        self.first = bool(joints["q"]) and joints["q"][0] == 7
        self.worlds = [mujoco.MjData(model) for _ in range(count)]
        self.models = [model] * count
        """A model for each world, where they differ."""

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """q (robots, nq) and v (robots, nv)."""
        qs, vs = [], []
        for world in self.worlds:
            q, v = world.qpos[self.places], world.qvel[self.speeds]
            for body, (place, speed) in zip(self.bodies, self.free, strict=True):
                w, x, y, z = world.qpos[place + 3 : place + 7]
                pose = [*world.qpos[place : place + 3], x, y, z, w]
                R = world.xmat[body].reshape(3, 3)
                moving = [
                    *(R.T @ world.qvel[speed : speed + 3]),
                    *world.qvel[speed + 3 : speed + 6],
                ]
                parts = [(pose, q), (moving, v)] if self.first else [(q, pose), (v, moving)]
                q, v = (np.concatenate(part) for part in parts)
            qs.append(q)
            vs.append(v)
        return np.array(qs), np.array(vs)

    def advance(self, asked: dict[str, np.ndarray], alive: np.ndarray) -> None:
        """Simulate one period. Robots that are not alive do not move."""
        steps = round(self.record["period"] / TIMESTEP)
        for k in np.flatnonzero(alive):
            world = self.worlds[k]
            if "targets" in asked:
                world.ctrl[: len(self.places)] = asked["targets"][k]
            if "tau" in asked:
                columns = self.record["joints"]["v"]
                world.qfrc_applied[self.speeds] = asked["tau"][k][columns]
            mujoco.mj_step(self.models[k], world, nstep=steps)
            mujoco.mj_kinematics(self.models[k], world)

    def has_contact(self, *names: str) -> np.ndarray:
        """Array with true for each robot that has a contact with one of these geoms."""
        ids = {self.model.geom(n).id for n in names}
        return np.array(
            [any(ids & set(c.geom.tolist()) for c in world.contact) for world in self.worlds]
        )

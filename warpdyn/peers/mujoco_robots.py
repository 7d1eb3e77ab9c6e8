"""Several robots of one kind in MuJoCo C, each with its own state and numbers, in warpdyn's
coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..model import Model
from ..model.scene.free_bodies import free_joints, internal_joints
from .mujoco_pairs import PairOfGeoms, pair_forces, pair_geoms, pair_numbers
from .mujoco_scene import FLOOR, UNREACHED, Drives, Ground, Touching, mujoco_scene
from .peer import NotComparable, first_line, xyzw_columns

Numbers = Mapping[str, Any]
"""Numbers in which a robot differs: `friction` of its points, `pair_friction` of its pairs, `kp`, `kd` and `effort` of
its drives (a number or one each), `gravity` (3,). `moments` of points go with `torsional_friction` and
`rolling_friction`, one each: the number of friction moments, 0, 1 or 3. `pair_moments` likewise."""

CONDIM = {0: 3, 1: 4, 3: 6}
"""MuJoCo's number of contact dimensions, by the number of friction moments."""


class StateAfterSteps(NamedTuple):
    """The state of a robot after some steps."""

    q: np.ndarray
    v: np.ndarray
    forces: np.ndarray
    """(points, 3) forces of the ground on the points in the last step, in the world's axes [N]."""
    torques: np.ndarray
    """(joints,) torques of drives and tau, mean over the steps [N·m, N]."""
    pair_forces: np.ndarray
    """(pairs, 3) forces of the first shapes of the pairs on the second ones in the last step, in
    the world's axes [N]."""
    mean_forces: np.ndarray
    """(points, 3) mean of the forces on the points over the steps; those of the last step unless
    `every_step`."""
    peak_forces: np.ndarray
    """(points,) largest size of these forces in any step [N]; as above."""


class FreePlaces(NamedTuple):
    """Where the coordinates of a free body begin, in warpdyn's q and v and in MuJoCo's."""

    q: int
    v: int
    qpos: int
    qvel: int


class MujocoRobots:
    """A set of `envs` robots, each with its own state: `put` places one, `advance` steps it.

    The common model is compiled once. The `numbers` of `advance` are written before its steps;
    another model (with other masses, for example) is compiled by `remodel`. A state that is not
    finite stays so.
    """

    def __init__(
        self,
        model: Model,
        envs: int,
        dt: float,
        *,
        points: Sequence[Touching] = (),
        drives: Drives | None = None,
        ground: Ground | None = None,
        contact_time: float | None = None,
        pairs: Sequence[PairOfGeoms] = (),
    ):
        import mujoco

        if model.floating_base and model.base_velocity != "local":
            raise NotComparable(
                "a free base's velocity must be in its own axes: with_base_velocity('local')"
            )
        self.mujoco, self.model, self.points, self.pairs = mujoco, model, points, pairs
        self._options: dict[str, Any] = {"points": points, "drives": drives, "ground": ground}
        self._options |= {"contact_time": contact_time, "pairs": pairs}
        self._dt = dt
        shared = self._compile(model)
        self._robots = [shared] * envs
        self._data = [mujoco.MjData(shared) for _ in range(envs)]
        self._places(shared)

    def remodel(self, env: int, model: Model) -> None:
        """Replace a robot's model by another one that differs only in numbers; its state is
        lost."""
        robot = self._compile(model)
        self._robots[env], self._data[env] = robot, self.mujoco.MjData(robot)

    def put(
        self, env: int, q: np.ndarray, v: np.ndarray, origin: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        """Restart at a state. origin: the position of the robot's own origin in the scene [m]."""
        robot, data = self._robots[env], self._data[env]
        self.mujoco.mj_resetData(robot, data)
        data.qpos[self._q] = q[self.model.joint_position_columns]
        data.qvel[self._v] = v[self.model.joint_columns]
        for at in self._free:
            pose, twist = q[at.q : at.q + 7], v[at.v : at.v + 6]
            x, y, z, w = (pose[k] for k in self._xyzw)
            data.qpos[at.qpos : at.qpos + 7] = (*(pose[:3] + np.asarray(origin)), w, x, y, z)
            linear = _matrix((x, y, z, w)) @ twist[:3]
            data.qvel[at.qvel : at.qvel + 6] = (*linear, *twist[3:])

    def advance(
        self,
        env: int,
        targets: Sequence[np.ndarray] | None,
        tau: np.ndarray | None,
        steps: int,
        *,
        numbers: Numbers | None = None,
        origin: Sequence[float] = (0.0, 0.0, 0.0),
        every_step: bool = False,
    ) -> StateAfterSteps:
        """The state of a robot after `steps` steps.

        targets: (joints,) of the drives, one for each step. tau: (nv,) in addition to them,
        constant. every_step: also read the contact forces of all steps but the last.
        """
        robot, data = self._robots[env], self._data[env]
        self._write(robot, numbers or {})
        quadratic = (numbers or {}).get("quadratic_friction")
        viscous = robot.dof_damping[self._v].copy()
        if tau is not None:
            data.qfrc_applied[self._v] = tau[self.model.joint_columns]
            for at in self._free:
                R = _matrix(data.qpos[at.qpos + 3 : at.qpos + 7][[1, 2, 3, 0]])
                wrench = tau[at.v : at.v + 6]
                data.qfrc_applied[at.qvel : at.qvel + 6] = (*(R @ wrench[:3]), *wrench[3:])
        torques, forces = np.zeros(len(self._v)), []
        for step in range(steps):
            if targets is not None:
                data.ctrl[:] = targets[step]
            if quadratic is not None:
                robot.dof_damping[self._v] = viscous + quadratic * np.abs(data.qvel[self._v])
            self.mujoco.mj_step(robot, data)
            torques += data.qfrc_actuator[self._v] + data.qfrc_applied[self._v]
            if every_step or step == steps - 1:
                forces.append(self._forces(robot, data))
        robot.dof_damping[self._v] = viscous
        return StateAfterSteps(
            *self._state(data, origin),
            forces[-1],
            torques / steps,
            pair_forces(self.mujoco, robot, data, self._pair_geoms),
            np.mean(forces, axis=0),
            np.linalg.norm(forces, axis=2).max(axis=0, initial=0.0),
        )

    def _state(self, data: Any, origin: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """q and v in warpdyn's order and axes."""
        q, v = np.empty(self.model.nq), np.empty(self.model.nv)
        q[self.model.joint_position_columns] = data.qpos[self._q]
        v[self.model.joint_columns] = data.qvel[self._v]
        for at in self._free:
            w, *xyz = data.qpos[at.qpos + 3 : at.qpos + 7]
            pose, twist = q[at.q : at.q + 7], v[at.v : at.v + 6]
            pose[self._xyzw] = (*xyz, w)
            pose[:3] = data.qpos[at.qpos : at.qpos + 3] - np.asarray(origin)
            twist[:3] = _matrix((*xyz, w)).T @ data.qvel[at.qvel : at.qvel + 3]
            twist[3:] = data.qvel[at.qvel + 3 : at.qvel + 6]
        return q, v

    def _forces(self, robot: Any, data: Any) -> np.ndarray:
        """Forces of the ground on the points, in the world (points, 3) [N]."""
        forces, force = np.zeros((len(self.points), 3)), np.zeros(6)
        for k in range(data.ncon):
            contact = data.contact[k]
            if contact.geom2 not in self._point_of:
                continue
            point = self._point_of[contact.geom2]
            self.mujoco.mj_contactForce(robot, data, k, force)
            forces[point] += contact.frame.reshape(3, 3).T @ force[:3]
        return forces

    def _write(self, robot: Any, numbers: Numbers) -> None:
        """Write numbers that need no compilation."""
        if "friction" in numbers:
            robot.geom_friction[self._geoms, 0] = numbers["friction"]
        if "pair_friction" in numbers:
            friction = np.reshape(numbers["pair_friction"], (-1, 1))
            robot.pair_friction[self._pair_numbers, :2] = friction
        if "moments" in numbers:
            robot.geom_condim[self._geoms] = [CONDIM[n] for n in numbers["moments"]]
            robot.geom_friction[self._geoms, 1] = numbers["torsional_friction"]
            robot.geom_friction[self._geoms, 2] = numbers["rolling_friction"]
        if "pair_moments" in numbers:
            robot.pair_dim[self._pair_numbers] = [CONDIM[n] for n in numbers["pair_moments"]]
            robot.pair_friction[self._pair_numbers, 2] = numbers["pair_torsional_friction"]
            rolling = np.reshape(numbers["pair_rolling_friction"], (-1, 1))
            robot.pair_friction[self._pair_numbers, 3:] = rolling
        if "gravity" in numbers:
            robot.opt.gravity[:] = numbers["gravity"]
        if "kp" in numbers:
            robot.actuator_gainprm[:, 0] = numbers["kp"]
            robot.actuator_biasprm[:, 1] = -np.asarray(numbers["kp"])
        if "kd" in numbers:
            robot.actuator_biasprm[:, 2] = -np.asarray(numbers["kd"])
        if "effort" in numbers:
            effort = np.minimum(numbers["effort"], UNREACHED) * np.ones(robot.nu)
            robot.actuator_forcerange[:] = np.stack([-effort, effort], 1)

    def _compile(self, model: Model) -> Any:
        try:
            spec = mujoco_scene(model, self._dt, fused=True, **self._options)
            robot = spec.compile()
        except NotComparable:
            raise
        except Exception as error:
            raise NotComparable(f"MuJoCo does not read it: {first_line(error)}") from error
        robot.opt.disableflags |= int(self.mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        if self.points:  # MuJoCo uses the larger of a contact's two coefficients
            robot.geom(FLOOR).friction[0] = 0.0
        return robot

    def _places(self, robot: Any) -> None:
        """Find the places of joints and points in MuJoCo's arrays."""
        self._xyzw = list(xyzw_columns(self.model))
        self._free = []
        for body in free_joints(self.model):
            at, there = self.model.coordinates[body.name], robot.joint(body.name)
            self._free.append(FreePlaces(at.q.start, at.v.start, there.qposadr[0], there.dofadr[0]))
        joints = [robot.joint(joint.name) for joint in internal_joints(self.model)]
        self._q = np.array([j.qposadr[0] for j in joints], int)
        self._v = np.array([j.dofadr[0] for j in joints], int)
        self._pair_numbers = pair_numbers(robot, self.pairs)
        self._pair_geoms = pair_geoms(robot, self.pairs)
        self._geoms = [robot.geom(f"point{k}").id for k in range(len(self.points))]
        self._point_of = {geom: k for k, geom in enumerate(self._geoms)}


def _matrix(xyzw: Sequence[float]) -> np.ndarray:
    """The rotation matrix of a quaternion."""
    return np.array([[*row] for row in quaternion_rotation(list(xyzw)).matrix.rows], float)

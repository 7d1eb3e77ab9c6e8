"""Several robots of one kind in MuJoCo C, each with its own state and numbers, in warpdyn's
coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..model import Model
from .mujoco_scene import FLOOR, UNREACHED, Drives, Ground, Touching, mujoco_scene
from .peer import NotComparable, first_line, xyzw_columns

Numbers = Mapping[str, Any]
"""Numbers in which a robot differs: `friction` of its points, `kp`, `kd` and `effort` of its drives
(a number or one each), `gravity` (3,)."""


class StateAfterSteps(NamedTuple):
    """The state of a robot after some steps."""

    q: np.ndarray
    v: np.ndarray
    forces: np.ndarray
    """(points, 3) forces of the ground on the points in the last step, in the world's axes [N]."""
    torques: np.ndarray
    """(joints,) torques of drives and tau, mean over the steps [N·m, N]."""


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
    ):
        import mujoco

        if model.floating_base and model.base_velocity != "local":
            raise NotComparable(
                "a free base's velocity must be in its own axes: with_base_velocity('local')"
            )
        self.mujoco, self.model, self.points = mujoco, model, points
        self._options: dict[str, Any] = {"points": points, "drives": drives, "ground": ground}
        self._options["contact_time"] = contact_time
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
        robot, data, mine = self._robots[env], self._data[env], self._base
        self.mujoco.mj_resetData(robot, data)
        data.qpos[self._q] = q[7 * mine :]
        data.qvel[self._v] = v[6 * mine :]
        if mine:
            x, y, z, w = (q[k] for k in xyzw_columns(self.model))
            data.qpos[:7] = (*(q[:3] + np.asarray(origin)), w, x, y, z)
            data.qvel[:3], data.qvel[3:6] = _matrix((x, y, z, w)) @ v[:3], v[3:6]

    def advance(
        self,
        env: int,
        targets: Sequence[np.ndarray] | None,
        tau: np.ndarray | None,
        steps: int,
        *,
        numbers: Numbers | None = None,
        origin: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> StateAfterSteps:
        """The state of a robot after `steps` steps.

        targets: (joints,) of the drives, one for each step. tau: (nv,) in addition to them,
        constant.
        """
        robot, data = self._robots[env], self._data[env]
        self._write(robot, numbers or {})
        if tau is not None:
            data.qfrc_applied[self._v] = tau[6 * self._base :]
            if self._base:
                R = data.qpos[3:7][[1, 2, 3, 0]]
                data.qfrc_applied[:6] = (*(_matrix(R) @ tau[:3]), *tau[3:6])
        torques = np.zeros(len(self._v))
        for step in range(steps):
            if targets is not None:
                data.ctrl[:] = targets[step]
            self.mujoco.mj_step(robot, data)
            torques += data.qfrc_actuator[self._v] + data.qfrc_applied[self._v]
        return StateAfterSteps(
            *self._state(data, origin), self._forces(robot, data), torques / steps
        )

    def _state(self, data: Any, origin: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """q and v in warpdyn's order and axes."""
        q, v = data.qpos[self._q], data.qvel[self._v]
        if not self._base:
            return q, v
        w, *xyz = data.qpos[3:7]
        quaternion = np.empty(7)
        quaternion[list(xyzw_columns(self.model))] = (*xyz, w)
        quaternion[:3] = data.qpos[:3] - np.asarray(origin)
        linear = _matrix((*xyz, w)).T @ data.qvel[:3]
        return np.concatenate([quaternion, q]), np.concatenate([linear, data.qvel[3:6], v])

    def _forces(self, robot: Any, data: Any) -> np.ndarray:
        """Forces of the ground on the points, in the world (points, 3) [N]."""
        forces, force = np.zeros((len(self.points), 3)), np.zeros(6)
        for k in range(data.ncon):
            contact = data.contact[k]
            point = self._point_of[contact.geom2]
            self.mujoco.mj_contactForce(robot, data, k, force)
            forces[point] += contact.frame.reshape(3, 3).T @ force[:3]
        return forces

    def _write(self, robot: Any, numbers: Numbers) -> None:
        """Write numbers that need no compilation."""
        if "friction" in numbers:
            robot.geom_friction[self._geoms, 0] = numbers["friction"]
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
        self._base = int(self.model.floating_base)
        joints = [robot.joint(name) for name in self.model.joint_names]
        self._q = np.array([j.qposadr[0] for j in joints], int)
        self._v = np.array([j.dofadr[0] for j in joints], int)
        self._geoms = [robot.geom(f"point{k}").id for k in range(len(self.points))]
        self._point_of = {geom: k for k, geom in enumerate(self._geoms)}


def _matrix(xyzw: Sequence[float]) -> np.ndarray:
    """The rotation matrix of a quaternion."""
    return np.array([[*row] for row in quaternion_rotation(list(xyzw)).matrix.rows], float)

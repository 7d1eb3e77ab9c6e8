"""MuJoCo, called from Python for one state after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mujoco as mj
import numpy as np

import warpdyn as wd
from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..robots import Robot
from . import CannotDo, PreparedRun
from .in_mujoco import InMuJoCo

NAME, PACKAGES, DTYPE = "MuJoCo", ("mujoco",), "float64"
STATES = 256


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    if ALGORITHMS[algorithm].gradient or algorithm.endswith("_derivatives"):
        raise CannotDo("derivatives by finite differences only")
    if algorithm in ("coriolis_matrix", "centroidal_momentum_matrix"):
        raise CannotDo("no such function")
    few = {name: values[:STATES] for name, values in states.items()}
    own = InMuJoCo(robot, algorithm, few)
    m, d, nv = own.robot, mj.MjData(own.robot), own.robot.nv
    frame = furthest_link(robot.model)
    body = own.body(frame)
    force, square, J, one = np.zeros(nv), np.zeros((nv, nv)), np.zeros((2, 3, nv)), np.eye(nv)

    def place(e: int) -> None:
        d.qpos = own.qpos[e]
        mj.mj_kinematics(m, d)

    def inertia(e: int) -> None:
        place(e)
        mj.mj_comPos(m, d)
        mj.mj_makeM(m, d)

    def jacobian(e: int) -> None:
        place(e)
        mj.mj_comPos(m, d)
        mj.mj_jacBody(m, d, J[0], J[1], body)

    def jacobian_derivative(e: int) -> None:
        place(e)
        d.qvel = own.qvel[e]
        mj.mj_comPos(m, d)
        mj.mj_comVel(m, d)
        mj.mj_jacDot(m, d, J[0], J[1], d.xpos[body], body)

    def newton_euler(e: int, acceleration: int) -> None:
        place(e)
        d.qvel, d.qacc = own.qvel[e], own.qacc[e]
        mj.mj_comPos(m, d)
        mj.mj_comVel(m, d)
        mj.mj_rne(m, d, acceleration, force)

    def gravity(e: int) -> None:
        place(e)
        d.qvel = 0.0
        mj.mj_comPos(m, d)
        mj.mj_comVel(m, d)
        mj.mj_rne(m, d, 0, force)

    def forward(e: int) -> None:
        d.qpos, d.qvel, d.qfrc_applied = own.qpos[e], own.qvel[e], own.force[e]
        mj.mj_forward(m, d)

    def inverse(e: int) -> None:
        inertia(e)
        mj.mj_factorM(m, d)
        mj.mj_solveM(m, d, square, one)

    def full() -> np.ndarray:
        mj.mj_fullM(m, d, square)
        return square.copy()

    def poses(names: list[str]) -> np.ndarray:
        return own.poses(d.xpos[None], d.xmat[None], names)[0]

    def derivative(found: np.ndarray) -> np.ndarray:
        """Derivative of J T; T turns a free base's linear velocity: dT/dt = T (w ×)."""
        found = own.columns(found)
        if robot.floating:
            q, v = few["q"][: len(found)], few["v"][: len(found)]
            turning = wd.jacobian(robot.model, q, frame=frame)[:, :, :3]
            found[:, :, :3] += np.cross(turning, v[:, None, 3:6], axis=2)
        return found

    chain: dict[
        str,
        tuple[
            Callable[[int], None], Callable[[], np.ndarray], Callable[[np.ndarray], np.ndarray], str
        ],
    ] = {
        "fk_frame": (
            place,
            lambda: poses([frame])[0],
            lambda x: x,
            "mj_kinematics, of the whole tree",
        ),
        "fk": (place, lambda: poses(list(robot.model.link_names)), lambda x: x, "mj_kinematics"),
        "jacobian": (
            jacobian,
            lambda: J.reshape(6, nv).copy(),
            own.columns,
            "mj_kinematics, mj_comPos, mj_jacBody",
        ),
        "jacobian_derivative": (
            jacobian_derivative,
            lambda: J.reshape(6, nv).copy(),
            derivative,
            "mj_kinematics, mj_comPos, mj_comVel, mj_jacDot",
        ),
        "rnea": (
            lambda e: newton_euler(e, 1),
            force.copy,
            own.forces,
            "mj_kinematics, mj_comPos, mj_comVel, mj_rne",
        ),
        "gravity_torques": (gravity, force.copy, own.forces, "the same with v = 0"),
        "crba": (inertia, full, own.square, "mj_kinematics, mj_comPos, mj_makeM (sparse)"),
        "aba": (forward, lambda: d.qacc.copy(), own.accelerations, "mj_forward, constraints off"),
        "mass_matrix_inverse": (
            inverse,
            square.copy,
            own.square,
            "mj_makeM, mj_factorM, mj_solveM of unit vectors",
        ),
    }
    call, read, convert, form = chain[algorithm]
    rows = range(len(few["q"]))

    def run() -> None:
        for e in rows:
            call(e)

    def answers() -> list[np.ndarray]:
        found = []
        for e in rows[:16]:
            call(e)
            found.append(read())
        return [convert(np.array(found))]

    return PreparedRun(run, len(rows), answers, form + "; one state at a time")

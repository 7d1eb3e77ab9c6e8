"""MuJoCo Warp: its public stages on all worlds at once; on CUDA captured as a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mujoco_warp as mjw
import numpy as np
import warp as wp

from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..cuda_graph import Graph
from ..robots import Robot
from . import CannotDo, PreparedRun
from .in_mujoco import InMuJoCo

NAME, PACKAGES, DTYPE = "MuJoCo Warp", ("mujoco-warp",), "float32"

NEAR_OF_SOLVES = 5e-5
"""Error of forward dynamics: the mass matrix's condition number, 8,200 for talos_reduced, times float32's
rounding of 6e-8 is 5e-4. Measured 3.9e-5; inverse dynamics of these accelerations gives the forces
back to 1e-5 of the largest."""


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    if ALGORITHMS[algorithm].gradient or algorithm.endswith("derivatives"):
        raise CannotDo("no derivatives: its kernels have no adjoints")
    own = InMuJoCo(robot, algorithm, states)
    count, nv = len(states["q"]), own.robot.nv
    frame = furthest_link(robot.model)
    with wp.ScopedDevice(device):
        m = mjw.put_model(own.robot)
        d = mjw.make_data(own.robot, nworld=count)
        d.qpos.assign(own.qpos.astype(np.float32))
        d.qvel.assign(
            (own.qvel if algorithm != "gravity_torques" else 0 * own.qvel).astype(np.float32)
        )
        d.qacc.assign(own.qacc.astype(np.float32))
        if algorithm == "aba":
            d.qfrc_applied.assign(own.force.astype(np.float32))
        J = [wp.zeros((count, 3, nv), dtype=float) for _ in range(2)]
        body = wp.full(count, own.body(frame), dtype=int)
        point = wp.zeros(count, dtype=wp.vec3)

    def place() -> None:
        mjw.kinematics(m, d)

    def jacobian() -> None:
        place()
        mjw.com_pos(m, d)
        mjw.jac(m, d, J[0], J[1], point, body)

    def newton_euler() -> None:
        place()
        mjw.com_pos(m, d)
        mjw.com_vel(m, d)
        mjw.rne(m, d, flg_acc=algorithm == "rnea")

    def inertia() -> None:
        place()
        mjw.com_pos(m, d)
        mjw.crb(m, d)

    def poses(names: list[str]) -> np.ndarray:
        return own.poses(d.xpos.numpy()[:16], d.xmat.numpy()[:16], names)

    def full() -> np.ndarray:
        return own.square(_dense(own.robot, d.M.numpy()[:16]))

    chain: dict[str, tuple[Callable[[], Any], Callable[[], np.ndarray], str]] = {
        "fk_frame": (place, lambda: poses([frame])[:, 0], "kinematics, of the whole tree"),
        "fk": (place, lambda: poses(list(robot.model.link_names)), "kinematics"),
        "jacobian": (
            jacobian,
            lambda: own.columns(np.concatenate([x.numpy()[:16] for x in J], axis=1)),
            "kinematics, com_pos, jac",
        ),
        "rnea": (
            newton_euler,
            lambda: own.forces(d.qfrc_bias.numpy()[:16]),
            "kinematics, com_pos, com_vel, rne",
        ),
        "gravity_torques": (
            newton_euler,
            lambda: own.forces(d.qfrc_bias.numpy()[:16]),
            "the same with v = 0",
        ),
        "crba": (inertia, full, "kinematics, com_pos, crb (sparse)"),
        "aba": (
            lambda: mjw.forward(m, d),
            lambda: own.accelerations(d.qacc.numpy()[:16]),
            "forward, constraints off",
        ),
    }
    if algorithm not in chain:
        raise CannotDo("no such function")
    call, read, form = chain[algorithm]
    if algorithm == "jacobian":
        place()
        point.assign(d.xpos.numpy()[:, own.body(frame)])
        form += " (of the link's origin, given)"
    near = NEAR_OF_SOLVES if algorithm == "aba" else 0.0
    if device != "cpu":
        graph = Graph(call, device)
        return PreparedRun(graph, count, lambda: [read()], form + "; graph", near, launches=True)
    return PreparedRun(call, count, lambda: [read()], form, near)


def _dense(robot: Any, M: np.ndarray) -> np.ndarray:
    """Mass matrix as (B, nv, nv). MuJoCo Warp stores it sparsely for large robots."""
    nv = robot.nv
    if M.ndim == 3 and M.shape[1] >= nv:
        return M[:, :nv, :nv].astype(float)
    values = M.reshape(len(M), -1)
    found = np.zeros((len(M), nv, nv))
    for i in range(nv):
        for k in range(robot.M_rownnz[i]):
            j = robot.M_colind[robot.M_rowadr[i] + k]
            found[:, i, j] = found[:, j, i] = values[:, robot.M_rowadr[i] + k]
    return found

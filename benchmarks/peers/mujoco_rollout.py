"""MuJoCo's rollout, with its batch and thread pool: one Euler step of every state."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco as mj
import numpy as np
from mujoco import rollout

from ..interleave import CORES
from ..robots import Robot
from . import CannotDo, PreparedRun
from .in_mujoco import InMuJoCo

NAME, PACKAGES, DTYPE = "MuJoCo rollout", ("mujoco",), "float64"


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> list[PreparedRun]:
    if algorithm != "aba":
        raise CannotDo("its batch has whole steps only")
    own = InMuJoCo(robot, algorithm, states)
    m, count = own.robot, len(states["q"])
    m.opt.integrator = mj.mjtIntegrator.mjINT_EULER
    full, applied = int(mj.mjtState.mjSTATE_FULLPHYSICS), int(mj.mjtState.mjSTATE_QFRC_APPLIED)
    start = np.zeros((count, mj.mj_stateSize(m, full)))
    first = 1  # after the time
    start[:, first : first + m.nq] = own.qpos
    start[:, first + m.nq : first + m.nq + m.nv] = own.qvel
    control = own.force[:, None, :].copy()

    def of(threads: int) -> PreparedRun:
        pool = rollout.Rollout(nthread=threads)
        data = [mj.MjData(m) for _ in range(threads)]
        state = np.zeros((count, 1, start.shape[1]))
        sensors = np.zeros((count, 1, m.nsensordata))

        def run() -> None:
            pool.rollout(
                m,
                data,
                start,
                control,
                control_spec=applied,
                nstep=1,
                state=state,
                sensordata=sensors,
            )

        def answers() -> list[np.ndarray]:
            after = state[:16, 0, first + m.nq : first + m.nq + m.nv]
            return [own.accelerations((after - own.qvel[:16]) / m.opt.timestep)]

        form = f"one Euler step, {threads} thread{'s' if threads > 1 else ''}"
        return PreparedRun(run, count, answers, form, near=1e-6, threads=threads)

    return [of(threads) for threads in dict.fromkeys((1, len(CORES)))]

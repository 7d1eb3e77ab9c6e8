"""Robots of a scene in MuJoCo C: its rollout, with its batch and thread pool."""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import rollout

from .running import Running, SettledScene

NAME, PACKAGES = "MuJoCo C", ("mujoco",)
STEPS = 4
MOST = 512
"""Environments, which it steps one after another."""


def running(start: SettledScene, envs: int, threads: int) -> list[Running]:
    robot, count = start.robot, min(envs, MOST)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(robot, full))
    mujoco.mj_getState(robot, start.data, state, full)
    states = np.tile(state, (count, STEPS, 1))
    controls = np.tile(start.data.ctrl, (count, STEPS, 1))
    sensors = np.zeros((count, STEPS, robot.nsensordata))
    warm = np.tile(start.data.qacc_warmstart, (count, 1))
    pool, data = rollout.Rollout(nthread=threads), [mujoco.MjData(robot) for _ in range(threads)]

    def advance() -> None:
        begin = states[:, -1].copy()
        pool.rollout(
            robot, data, begin, controls, initial_warmstart=warm, state=states, sensordata=sensors
        )

    form = f"float64, rollout of {STEPS} steps, Newton, elliptic cones, {threads} thread{'s' * (threads > 1)}"
    return [Running(form, count, advance, lambda: states[:, -1, 3], STEPS)]

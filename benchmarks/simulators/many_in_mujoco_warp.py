"""Robots of a scene in MuJoCo Warp, whose CPU kernels run on one thread."""

from __future__ import annotations

import mujoco_warp as mjw
import numpy as np
import warp as wp

from .running import Running, Settled

NAME, PACKAGES = "MuJoCo Warp", ("mujoco-warp",)
MOST = 1024
"""Environments, so that a step of all ends in a second or two."""


def running(start: Settled, envs: int, threads: int) -> list[Running]:
    return [_running(start, min(envs, MOST), *each) for each in ((100, 50), (10, 10))]


def _running(start: Settled, envs: int, iterations: int, searches: int) -> Running:
    with wp.ScopedDevice("cpu"):
        model = mjw.put_model(start.robot)
        model.opt.iterations, model.opt.ls_iterations = iterations, searches
        data = mjw.put_data(start.robot, start.data, nworld=envs, nconmax=8, njmax=64)

    def advance() -> None:
        with wp.ScopedDevice("cpu"):
            mjw.step(model, data)

    form = (
        f"float32, Newton, at most {iterations} iterations of {searches} searches, elliptic cones"
    )
    return Running(form, envs, advance, lambda: data.qpos.numpy()[:, 2].astype(np.float64))

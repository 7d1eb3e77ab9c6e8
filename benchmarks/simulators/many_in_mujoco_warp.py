"""Robots of a scene in MuJoCo Warp. CPU kernels run on one thread; on CUDA the step is a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco_warp as mjw
import numpy as np
import warp as wp

from ..cuda_graph import Graph
from .running import Running, SettledScene, room

NAME, PACKAGES = "MuJoCo Warp", ("mujoco-warp",)
MOST = 1024
"""Environments on a CPU, so that a step of all ends in a second or two."""

LIMITS = ((100, 50), (10, 10))
"""Iterations of the solver, and searches of each, at most."""

STATE = ("qpos", "qvel", "qacc_warmstart")


def running(
    start: SettledScene, envs: int, threads: int, device: str = "cpu", *, moving: bool = False
) -> list[Running]:
    """Yield batches. `moving`: each robot has different targets and speeds."""
    count = min(envs, MOST) if device == "cpu" else envs
    motion = start.disturbances(count) if moving else ()
    return [stepping(start.robot, start.data, count, limits, device, motion) for limits in LIMITS]


def stepping(
    robot: Any,
    state: Any,
    envs: int,
    limits: tuple[int, int],
    device: str,
    motion: Sequence[np.ndarray] = (),
) -> Running:
    """Worlds that all begin in a MuJoCo state. `motion` has targets and speeds of each."""
    with wp.ScopedDevice(device):
        model = mjw.put_model(robot)
        model.opt.iterations, model.opt.ls_iterations = limits
        data = mjw.put_data(robot, state, nworld=envs, **room(state))
        for array, values in zip((data.ctrl, data.qvel), motion, strict=False):
            array.assign(values.astype(np.float32))
        begin = {name: wp.clone(getattr(data, name)) for name in STATE}

    def advance() -> None:
        with wp.ScopedDevice(device):
            mjw.step(model, data)

    def restart() -> None:
        for name, values in begin.items():
            wp.copy(getattr(data, name), values)

    form = (
        f"float32, Newton, at most {limits[0]} iterations of {limits[1]} searches, elliptic cones"
    )
    made = Running(form, envs, advance, lambda: data.qpos.numpy()[:, 2].astype(np.float64))
    if device != "cpu":
        made.form, made.advance = f"{form}, graph", Graph(advance, device)
        made.launches, made.restart = True, restart
        made.about = lambda: {
            "solver_iterations": float(data.solver_niter.numpy().mean()),
            "speed": float(np.abs(data.qvel.numpy()).max()),
        }
    return made

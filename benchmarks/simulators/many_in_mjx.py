"""Robots of a scene in MJX: jit of vmap of its step."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np

from ..peers.in_jax import jax, jnp, on
from .running import Running, SettledScene

from mujoco import mjx  # isort: skip  (after the flags of in_jax)

NAME, PACKAGES = "MJX", ("mujoco-mjx", "jax")
MOST = 256
"""Environments on a CPU, so that a step of all ends in a second or two."""


def running(start: SettledScene, envs: int, threads: int, device: str = "cpu") -> list[Running]:
    count = min(envs, MOST) if device == "cpu" else envs
    made = []
    for iterations, searches, cone in (
        (100, 50, mujoco.mjtCone.mjCONE_ELLIPTIC),
        (4, 8, mujoco.mjtCone.mjCONE_PYRAMIDAL),
    ):
        robot = copy.copy(start.robot)
        robot.opt.iterations, robot.opt.ls_iterations, robot.opt.cone = iterations, searches, cone
        if cone == mujoco.mjtCone.mjCONE_PYRAMIDAL:
            robot.opt.impratio = 1.0  # at 100, so few iterations give NaN
        made.append(_running(start, robot, count, device))
    return made


def _running(start: SettledScene, robot: mujoco.MjModel, count: int, device: str) -> Running:
    data = mujoco.MjData(robot)
    data.qpos[:], data.ctrl[:] = start.data.qpos, start.data.ctrl
    model = mjx.put_model(robot, impl="jax")
    one = mjx.put_data(robot, data, impl="jax")
    begin = jax.tree.map(lambda x: jnp.repeat(jnp.asarray(x)[None], count, axis=0), one)
    state = [on(device, begin)]
    step = jax.jit(jax.vmap(lambda d: mjx.step(model, d)))

    def advance() -> None:
        state[0] = jax.block_until_ready(step(state[0]))

    def start_step() -> Any:
        state[0] = step(state[0])
        return state[0].qpos

    def restart() -> None:
        state[0] = on(device, begin)

    o = robot.opt
    cone = "elliptic" if o.cone == mujoco.mjtCone.mjCONE_ELLIPTIC else "pyramidal"
    form = f"float32, Newton, at most {o.iterations} iterations of {o.ls_iterations} searches, {cone} cones"
    made = Running(form, count, advance, lambda: np.asarray(state[0].qpos[:, 2], float))
    if device != "cpu":
        made.advance, made.finish, made.restart = start_step, jax.block_until_ready, restart
    return made

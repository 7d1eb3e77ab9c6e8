"""Robots of a scene in brax: jit of vmap of its pipelines' steps."""

from __future__ import annotations

import copy
from importlib import import_module

import mujoco
import numpy as np

from ..peers.in_jax import jax, jnp
from .running import Running, Settled

from brax.io import mjcf  # isort: skip  (after the flags of in_jax)

NAME, PACKAGES = "brax", ("brax", "jax")
MOST = 256
"""Environments, so that a step of all ends in a second or two."""


def running(start: Settled, envs: int, threads: int) -> list[Running]:
    return [_running(start, min(envs, MOST), name) for name in ("generalized", "positional")]


def _running(start: Settled, count: int, name: str) -> Running:
    pipeline, robot = import_module(f"brax.{name}.pipeline"), copy.copy(start.robot)
    robot.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER  # it refuses others, and other cones
    robot.opt.cone, robot.opt.impratio = mujoco.mjtCone.mjCONE_PYRAMIDAL, 1.0
    system = mjcf.load_model(robot)
    q = jnp.tile(jnp.asarray(start.data.qpos, jnp.float32), (count, 1))
    act = jnp.tile(jnp.asarray(start.data.ctrl, jnp.float32), (count, 1))
    begin = jax.jit(jax.vmap(lambda q: pipeline.init(system, q, jnp.zeros(system.qd_size()))))
    step = jax.jit(jax.vmap(lambda state, act: pipeline.step(system, state, act)))
    state = [begin(q)]

    def advance() -> None:
        state[0] = jax.block_until_ready(step(state[0], act))

    return Running(
        f"float32, {name} pipeline, pyramidal cones",
        count,
        advance,
        lambda: np.asarray(state[0].q[:, 2], float),
    )

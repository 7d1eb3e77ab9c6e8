"""Robots of a scene in brax: jit of vmap of its pipelines' steps."""

from __future__ import annotations

from importlib import import_module

import mujoco
import numpy as np

from ..peers.in_jax import jax, jnp
from . import in_mujoco
from .running import Running, SettledScene

from brax.io import mjcf  # isort: skip  (after the flags of in_jax)

NAME, PACKAGES = "brax", ("brax", "jax")
MOST = 256
"""Environments, so that a step of all ends in a second or two."""


def running(start: SettledScene, envs: int, threads: int) -> list[Running]:
    return [_running(start, min(envs, MOST), name) for name in ("generalized", "positional")]


def _running(start: SettledScene, count: int, name: str) -> Running:
    pipeline = import_module(f"brax.{name}.pipeline")
    spec = in_mujoco.scene_spec(start.scene, start.dt)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER  # it refuses others, and other cones
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_PYRAMIDAL, 1.0
    spec.compiler.fusestatic = True  # it knows no links on fixed joints
    system = mjcf.load_model(spec.compile())
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

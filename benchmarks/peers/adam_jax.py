"""adam in JAX: jit on whole batches (vmap fails with jax 0.10); gradients by jax.vjp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algorithms import ALGORITHMS
from ..robots import Robot
from ..workload import cotangents
from . import PreparedRun
from .in_adam import GRAVITY, convert, function_of, inputs_of, joints_of
from .in_jax import jax, jit_call, jnp

import adam  # isort: skip  (after the flags of in_jax)
from adam.jax import KinDynComputations  # isort: skip

NAME, PACKAGES, DTYPE = "adam (JAX)", ("adam-robotics", "jax"), "float32"


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    K = KinDynComputations(robot.bare, joints_of(robot), gravity=jnp.asarray(GRAVITY, jnp.float32))
    K.set_frame_velocity_representation(
        adam.Representations.BODY_FIXED_REPRESENTATION
        if robot.floating
        else adam.Representations.MIXED_REPRESENTATION
    )
    function, names, form = function_of(robot, algorithm, K, jnp, jnp.linalg.solve)
    arrays, count = inputs_of(robot, states), len(states["q"])
    given = [arrays[name] for name in names]
    if ALGORITHMS[algorithm].gradient:
        wrt = [k for k, name in enumerate(names) if name in ("q", "v", "a", "tau")]
        shape = jax.eval_shape(
            function, *(jax.ShapeDtypeStruct(x.shape, jnp.float32) for x in given)
        ).shape[1:]

        def gradient(weights: Any, *arrays: Any) -> Any:
            def of(*varied: Any) -> Any:
                full = list(arrays)
                for k, x in zip(wrt, varied, strict=True):
                    full[k] = x
                return function(*full)

            return jax.vjp(of, *(arrays[k] for k in wrt))[1](weights)

        run = jit_call(gradient, cotangents(shape, count), *given, batched=False)
        form = f"jit of jax.vjp of {form}"
    else:
        run = jit_call(lambda *x: (function(*x),), *given, batched=False)
        form = f"jit of {form}"

    def answers() -> list[np.ndarray]:
        return [convert(robot, algorithm, states, np.asarray(x[:16], float)) for x in run()]

    return PreparedRun(run, count, answers, form)

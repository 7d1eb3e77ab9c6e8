"""The next step of one environment on plain numbers: an oracle of the launch, and a way to debug
tasks."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from ...execution.batched import describe_call
from ...execution.oracle import oracle
from ..vec_env import VecEnv


def plain_step(env: VecEnv, action: Any, environment: int) -> dict[str, np.ndarray]:
    """Results of the next step for one environment, from the task's functions on plain float64
    numbers.

    action: (actions,) of this environment. Returns by name the carried arrays after the step,
    "reward", "terminated", "truncated", the observations by group, and all other results of a step.
    The task's functions run in Python, with the random numbers of this environment and step, so
    that `print` and a debugger show their values. `env` does not change.
    """
    env.check_begun()
    kernels = env.kernels
    row = slice(environment, environment + 1)
    carried = [x[row].cpu().numpy().astype(float) for x in env.carried.values()]
    if not len(carried[0]):
        raise IndexError(f"there are environments 0 to {env.num_envs - 1}, got {environment}")
    given = {n: x.cpu().numpy().astype(float) for n, x in {**env.numbers, **env.tables}.items()}
    given["seed"] = given["seed"] + np.array([0.0, environment])
    chosen = np.asarray(action, float).reshape(1, -1)
    arrays = (env.task.model, *carried, chosen, *given.values())
    with contextlib.redirect_stdout(io.StringIO()):  # prints of symbols, from recording
        describe_call(kernels.step, arrays, {})
    found = oracle(kernels.step, *arrays)
    return {name: x[0] for name, x in found._asdict().items()}

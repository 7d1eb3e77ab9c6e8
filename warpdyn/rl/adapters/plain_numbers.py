"""The next step of a few environments on plain numbers: the oracle of the launch, to look into texts."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from ...execution.batched import described
from ...execution.oracle import oracle
from ..vec_env import VecEnv


def plain_step(env: VecEnv, action: Any, environment: int) -> dict[str, np.ndarray]:
    """What the next step would make of one environment: the task's texts on plain float64 numbers.

    action: (actions,) of this environment. Gives by name what it carries after the step, "reward",
    "terminated", "truncated", what is observed by group, and all else that a step gives. Texts run in
    Python, with the random numbers of this environment and step, so that `print` and a debugger show
    what they compute; `env` stays as it is.
    """
    text = env.text
    row = slice(environment, environment + 1)
    carried = [x[row].cpu().numpy().astype(float) for x in env.carried.values()]
    if not len(carried[0]):
        raise IndexError(f"there are environments 0 to {env.num_envs - 1}, got {environment}")
    given = {n: x.cpu().numpy().astype(float) for n, x in {**env.numbers, **env.tables}.items()}
    given["seed"] = given["seed"] + np.array([0.0, environment])
    chosen = np.asarray(action, float).reshape(1, -1)
    arrays = (env.task.model, *carried, chosen, *given.values())
    with contextlib.redirect_stdout(io.StringIO()):  # what texts print of symbols, as they are read
        described(text.step, arrays, {})
    found = oracle(text.step, *arrays)
    return {name: x[0] for name, x in found._asdict().items()}

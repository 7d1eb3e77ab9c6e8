"""Where the time of a PPO iteration goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import warpdyn as wd
from warpdyn import rl

PARTS = {
    "act": "policy and value of what is observed",
    "step": "environments",
    "process_env_step": "keeping the steps",
    "compute_returns": "returns",
    "update": "update of the networks",
}
"""Calls of an iteration, and what they do."""


def shares(task: rl.Task, cores: int, iterations: int = 4) -> dict[str, Any]:
    """CPU seconds of each part in an iteration of a task's recipe, the first one left out."""
    torch.set_num_threads(cores)
    wd.runtime.set_num_threads(cores)
    trainer = rl.Trainer(task, seed=0)
    spent = dict.fromkeys(PARTS, 0.0)
    for name in PARTS:
        owner = trainer.env if name == "step" else trainer.algorithm
        setattr(owner, name, _timed(getattr(owner, name), spent, name))
    runs = trainer.run(minutes=1e9, iterations=iterations)
    next(runs)
    spent.update(dict.fromkeys(PARTS, 0.0))
    start = time.process_time()
    for _ in runs:
        pass
    whole = time.process_time() - start
    steps = (iterations - 1) * trainer.recipe.steps * trainer.recipe.envs
    parts = {PARTS[name]: seconds / whole for name, seconds in spent.items()}
    parts["the rest"] = 1.0 - sum(parts.values())
    about = {"cores": cores, "us_of_cpu_a_step": 1e6 * whole / steps}
    return {**about, "share": parts["environments"], "shares": parts}


def _timed(call: Callable[..., Any], spent: dict[str, float], name: str) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        found = call(*args, **kwargs)
        spent[name] += time.process_time() - start
        return found

    return timed

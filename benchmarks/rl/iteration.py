"""Time of a PPO iteration by part, and with each learner.

    python -m benchmarks.rl.iteration [--task quadruped_velocity] [--rounds 5]

The command compares the learners on one core: CPU time of an iteration, learners in turns, medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

import warpdyn as wd
from warpdyn import rl

PARTS = {
    "act": "the policy's actions",
    "step": "environments",
    "record": "storing the steps",
    "update": "returns, and update of the networks",
}
"""Calls of an iteration, and what they do."""


LEARNERS = {
    "rsl_rl, ELU, float32": {"learner": "rsl_rl", "activation": "elu", "precision": "float32"},
    "warpdyn, ELU, float32": {"activation": "elu", "precision": "float32"},
    "warpdyn, ReLU, float32": {"activation": "relu", "precision": "float32"},
    "warpdyn, ELU, bfloat16": {"activation": "elu", "precision": "bfloat16"},
    "warpdyn, SiLU, bfloat16": {"activation": "silu", "precision": "bfloat16"},
    "warpdyn, ReLU, bfloat16": {"activation": "relu", "precision": "bfloat16"},
}
"""Recipes that are compared, by name."""


def times(task: rl.Task, rounds: int) -> dict[str, float]:
    """CPU seconds of an iteration by learner: medians of rounds in which each learner has one iteration."""
    torch.set_num_threads(1)
    wd.runtime.set_num_threads(1)
    trainers = {
        name: rl.Trainer(task, recipe=replace(task.recipe, **changes), seed=0)
        for name, changes in LEARNERS.items()
    }
    runs = {name: trainer.run(minutes=1e9) for name, trainer in trainers.items()}
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for each in range(rounds + 1):  # the first round compiles
        for name, run in runs.items():
            start = time.process_time()
            next(run)
            if each:
                spent[name].append(time.process_time() - start)
    return {name: statistics.median(x) for name, x in spent.items()}


def shares(task: rl.Task, cores: int, iterations: int = 4) -> dict[str, Any]:
    """CPU seconds of each part of an iteration with the task's recipe, without the first iteration."""
    torch.set_num_threads(cores)
    wd.runtime.set_num_threads(cores)
    trainer = rl.Trainer(task, seed=0)
    spent = dict.fromkeys(PARTS, 0.0)
    for name in PARTS:
        owner = trainer.env if name == "step" else trainer.learner
        setattr(owner, name, _time(getattr(owner, name), spent, name))
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


def _time(call: Callable[..., Any], spent: dict[str, float], name: str) -> Callable[..., Any]:
    def run_and_time(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        found = call(*args, **kwargs)
        spent[name] += time.process_time() - start
        return found

    return run_and_time


def main() -> None:
    """Print the time of an iteration with each learner."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="quadruped_velocity")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    task = rl.make(arguments.task)
    found = times(task, arguments.rounds)
    first, *_ = found.values()
    print(f"{arguments.task}: CPU time of an iteration, one core")
    for name, seconds in found.items():
        print(f"{name:24} {1e3 * seconds:8.1f} ms {seconds / first:6.2f}")


if __name__ == "__main__":
    main()

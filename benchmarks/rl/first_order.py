"""Compare SHAC with PPO: the return of a policy over the CPU seconds of its training.

    python -m benchmarks.rl.first_order [TASK ...] [--seconds 36] [--seeds 0 1 2]

Both train the task with the same domain randomisation on one thread, after their kernels are compiled.
Every 3 CPU seconds the policy is evaluated without exploration: rewards per second of 256 episodes.
The evaluation time does not count. Results go to benchmarks/rl/results/first_order.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import warpdyn as wd
from warpdyn import rl

from ..__main__ import describe_run

RESULTS = Path(__file__).with_name("results") / "first_order.json"

TASKS = ("panda_reach", "panda_reach_obstacles", "cartpole_swing_up", "quadruped_velocity")

EVERY = 3.0
"""CPU seconds between two evaluations."""

NUMBERS: dict[str, dict[str, Any]] = {
    "shac": {
        "learner": "shac",
        "envs": 128,
        "steps": 16,
        "learning_rate": 1e-3,
        "epochs": 4,
        "batches": 4,
        "deviation": 0.3,
        "activation": "elu",
    },
    "ppo": {
        "learner": "warpdyn",
        "envs": 1024,
        "steps": 16,
        "learning_rate": 1e-3,
        "epochs": 5,
        "batches": 4,
        "deviation": 0.8,
        "activation": "relu",
    },
}
"""Numbers of each learner, in place of those of the task's recipe."""

SHAC_OF_TASK: dict[str, dict[str, Any]] = {
    "QuadrupedVelocity": {"envs": 256, "steps": 24, "learning_rate": 3e-4},
}
"""Other numbers of SHAC for a task, by its name."""


def curve(task: rl.Task, learner: str, seed: int, seconds: float) -> Iterator[tuple[float, float]]:
    """Yield pairs of CPU seconds of the training and the policy's return."""
    numbers = NUMBERS[learner]
    if learner == "shac":
        numbers = {**numbers, **SHAC_OF_TASK.get(task.name, {})}
    if learner == "ppo" and task.recipe.learner == "warpdyn":
        numbers = {}  # the task's own are for PPO
    list(rl.Trainer(task, recipe=replace(task.recipe, **numbers)).run(iterations=1))
    begun = time.process_time()
    trainer = rl.Trainer(task, recipe=replace(task.recipe, **numbers), seed=seed)
    apart, due = 0.0, EVERY
    for _ in trainer.run(minutes=np.inf):
        used = time.process_time() - begun - apart
        if used < due:
            continue
        due = used + EVERY
        yield round(used, 1), round(evaluate(trainer), 4)
        apart = time.process_time() - begun - used
        if used > seconds:
            return


def evaluate(trainer: rl.Trainer) -> float:
    """Rewards per second of the current policy."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.onnx"
        rl.export(trainer, path)
        return rl.evaluate(trainer.task, path, seed=991).returned


def first_above(points: Sequence[tuple[float, float]], level: float) -> float | None:
    """CPU seconds after which the return stays above a level; None if it does not."""
    below = [seconds for seconds, found in points if found < level]
    after = [seconds for seconds, _ in points if not below or seconds > below[-1]]
    return after[0] if after else None


def table(records: Sequence[dict[str, Any]]) -> str:
    """Lines of a table with a row for each task and learner, and a number for each seed.

    The columns are the return after a third of the time, the return at the end, and the time after which
    the return stays above PPO's median at the end.
    """
    lines = [
        "| task | learner | after a third | at the end | CPU s to PPO's end |",
        "|---|---|---|---|---|",
    ]
    for task in dict.fromkeys(record["task"] for record in records):
        of_task = [record for record in records if record["task"] == task]
        level = np.median([r["curve"][-1][1] for r in of_task if r["learner"] == "ppo"])
        for learner in NUMBERS:
            curves = [r["curve"] for r in of_task if r["learner"] == learner]
            third = ", ".join(f"{c[len(c) // 3][1]:.3f}" for c in curves)
            end = ", ".join(f"{c[-1][1]:.3f}" for c in curves)
            reached = [first_above(c, float(level)) for c in curves]
            times = ", ".join("-" if x is None else f"{x:.0f}" for x in reached)
            lines.append(f"| {task} | {learner} | {third} | {end} | {times} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--seconds", type=float, default=36.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--json", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    wd.runtime.set_num_threads(1)
    wd.config.compile = "wait"
    kept = json.loads(given.json.read_text())["curves"] if given.json.exists() else []
    records = [record for record in kept if record["task"] not in given.tasks]
    for task in given.tasks:
        for seed in given.seeds:
            for learner in NUMBERS:
                found = list(curve(rl.make(task), learner, seed, given.seconds))
                records.append({"task": task, "learner": learner, "seed": seed, "curve": found})
                print(records[-1], flush=True)
                text = json.dumps({"about": describe_run("cpu", ()), "curves": records})
                given.json.write_text(text + "\n")
    print(table(records))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

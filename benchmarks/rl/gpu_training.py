"""Trainings on a GPU: environment steps per second with and without CUDA graphs, and the return over time.

    python -m benchmarks.rl.gpu_training [TASK ...] [--envs 1024 4096] [--seconds 60]

Each task trains for some iterations with and without graphs, with equal random numbers. Then the first
task trains for `--seconds` seconds with graphs. Results go to benchmarks/results/gpu_training.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn import rl
from warpdyn.cli.hardware import processor
from warpdyn.rl.graph_replay import GraphReplay

from ..__main__ import describe_run

RESULT = Path(__file__).parents[1] / "results/gpu_training.json"
TASKS = ("quadruped_velocity", "humanoid_velocity", "cartpole_swing_up")
WARM, ITERATIONS = 4, 20
"""Iterations before the clock starts, and those whose median counts."""

POINTS = 40
"""Points of a curve."""


def run_plainly(replay: GraphReplay[Any]) -> Any:
    """Run the function of a graph in Python."""
    return replay._function()


def trainer_of(task: str, envs: int, device: str) -> rl.Trainer:
    """PPO trainer with the task's recipe."""
    made = rl.make(task)
    recipe = replace(made.recipe, envs=envs, learner="warpdyn")
    return rl.Trainer(made, recipe=recipe, seed=0, device=device)


def measure(task: str, envs: int, graphs: bool, device: str) -> dict[str, Any]:
    """Steps per second of a training, and its reward after the last iteration."""
    trainer = trainer_of(task, envs, device)
    way = nullcontext() if graphs else patch.object(GraphReplay, "__call__", run_plainly)
    with way:
        rates = [x.steps_per_second for x in trainer.run(iterations=WARM + ITERATIONS)]
    return {
        "task": task,
        "envs": envs,
        "graphs": graphs,
        "steps_per_second": round(median(rates[WARM:])),
        "reward": trainer.curve[-1].reward,
    }


def curve(task: str, envs: int, seconds: float, device: str) -> dict[str, Any]:
    """Rewards during a training of some seconds."""
    trainer = trainer_of(task, envs, device)
    points = [
        [round(x.seconds, 1), x.steps, round(x.reward, 3), round(x.falls, 3)]
        for x in trainer.run(wall_minutes=seconds / 60)
    ]
    return {"task": task, "envs": envs, "points": points[:: max(1, len(points) // POINTS)]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, print and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS, metavar="TASK")
    parser.add_argument("--envs", type=int, nargs="+", default=(1024, 4096))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args(arguments)
    wp.config.quiet, wd.config.compile_messages = True, False
    cases = [(t, n, way) for t in given.tasks for n in given.envs for way in (False, True)]
    records = []
    for case in tqdm(cases, file=sys.stderr):
        records.append(measure(*case, given.device))
        print(json.dumps(records[-1]), flush=True)
    long = curve(given.tasks[0], max(given.envs), given.seconds, given.device)
    about = describe_run(given.device, ()) | {"processor": processor()}
    about["versions"]["torch"] = torch.__version__
    results = {"about": about, "records": records, "curve": long}
    given.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

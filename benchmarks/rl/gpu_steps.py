"""Time steps of learning environments on a GPU with random actions: plain, and two in a CUDA graph.

    python -m benchmarks.rl.gpu_steps [TASK ...] [--batches 4096 16384 65536]

Results go to benchmarks/results/gpu_environment_steps.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn import rl
from warpdyn.cli.hardware import processor

from ..__main__ import describe_run

RESULT = Path(__file__).parents[1] / "results/gpu_environment_steps.json"
TASKS = (
    "cartpole_swing_up",
    "panda_reach",
    "quadruped_velocity",
    "humanoid_velocity",
    "panda_lift",
    "panda_push",
)
BATCHES = (4096, 16384, 65536)
WARM, STEPS = 30, 100
"""Steps before the clock starts, and steps that are timed."""


def wait(device: str) -> None:
    """Wait for the device."""
    if device != "cpu":
        torch.cuda.synchronize()


def seconds(step: Callable[[int], Any], steps: int, device: str) -> tuple[float, float]:
    """Seconds per step until the host has started it, and until the device has finished it."""
    wait(device)
    begun = time.perf_counter()
    for k in range(steps):
        step(k)
    host = time.perf_counter() - begun
    wait(device)
    return host / steps, (time.perf_counter() - begun) / steps


def measure(task: str, envs: int, device: str) -> dict[str, Any]:
    """Times of a task with this number of environments [us]."""
    env = rl.VecEnv(rl.make(task), envs, device=device)
    env.reset()
    actions = [2 * torch.rand(env.action_space.shape, device=device) - 1 for _ in range(8)]

    def step(k: int) -> None:
        env.step(actions[k % len(actions)])

    seconds(step, WARM, device)
    host, whole = seconds(step, STEPS, device)
    found = {"task": task, "envs": envs, "host_us": 1e6 * host, "us": 1e6 * whole}
    if device != "cpu":
        graph = capture(step)
        found["graph_us"] = 1e6 * seconds(lambda _: graph.replay(), STEPS // 2, device)[1] / 2
    env.check_rewards()
    observations = env.observations.values()
    found["finite"] = all(bool(torch.isfinite(x).all()) for x in observations)
    env.close()
    return {key: round(x, 1) if isinstance(x, float) else x for key, x in found.items()}


def capture(step: Callable[[int], Any]) -> torch.cuda.CUDAGraph:
    """Two steps as a graph; results alternate between two sets of arrays."""

    def both() -> None:
        with torch.no_grad():
            step(0)
            step(1)

    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        both()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=side):
        both()
    graph.replay()
    return graph


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS, metavar="TASK")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args(arguments)
    wp.config.quiet, wd.config.compile_messages = True, False
    cases = [(task, envs) for task in given.tasks for envs in given.batches]
    records = []
    for case in tqdm(cases, file=sys.stderr):
        records.append(measure(*case, given.device))
        print(json.dumps(records[-1]), flush=True)
    about = describe_run(given.device, ()) | {"processor": processor()}
    about["versions"]["torch"] = torch.__version__
    given.output.write_text(json.dumps({"about": about, "records": records}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Figures of trained humanoids: how many stand 20 s of pushes, and the errors of walking at 0.5 m/s.

    warpdyn train humanoid_stand --folder runs/humanoid_stand-0
    python -m benchmarks.rl.humanoid runs/humanoid_stand-0 runs/humanoid_velocity-0

Policies act without exploration in 256 environments. Figures go to `results/humanoid.json`. Every fifth
line of each curve is stored in the same folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from warpdyn import rl

RESULTS = Path(__file__).parent / "results"
ENVS, SEED, EVERY = 256, 77, 5
PUSHES = (0.2, 0.3, 0.4, 0.5, 0.6)
"""Speeds of pushes, all of a run alike, every four seconds in a random level direction [m/s]."""

COMMANDS = ((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.5, 0.0, 0.0), (0.7, 0.0, 0.0), (0.4, 0.0, 0.4))
"""Speeds that are asked for, forward, sideways [m/s] and turning [rad/s], for 20 s."""


def measure_standing(task: rl.Task, policy: rl.Policy, pushes: float | None) -> dict[str, float]:
    """Figures of standing. pushes: speed of each push [m/s]; None for those of the task."""
    if pushes is None:
        return _episodes(rl.VecEnv(task, ENVS, seed=SEED), policy, lambda env, k: None)
    task.push = None
    directions, every = torch.Generator().manual_seed(SEED), round(4.0 / task.step_seconds)

    def push(env: rl.VecEnv, k: int) -> None:
        if k > 0 and k % every == 0:
            angle = 2 * np.pi * torch.rand(ENVS, generator=directions)
            env.carried["v"][:, 0] += pushes * torch.cos(angle)
            env.carried["v"][:, 1] += pushes * torch.sin(angle)

    return _episodes(rl.VecEnv(task, ENVS, seed=SEED), policy, push)


def measure_walking(
    task: rl.Task, policy: rl.Policy, command: tuple[float, float, float] | None
) -> dict[str, float]:
    """Figures of walking. command: the same for all environments; None for those of the task."""

    def tell(env: rl.VecEnv, k: int) -> None:
        if command is not None:
            env.carried["command"][:] = torch.tensor(command)

    return _episodes(rl.VecEnv(task, ENVS, seed=SEED), policy, tell)


def _episodes(
    env: rl.VecEnv, policy: rl.Policy, before: Callable[[rl.VecEnv, int], None]
) -> dict[str, float]:
    """Figures of first episodes of 20 s.

    They are the share that does not fall, the return per second of the whole time, means from the second
    second until a fall, and the final distances [m] of robots that do not fall.
    """
    env.reset()
    up, earned = torch.ones(ENVS, dtype=torch.bool), torch.zeros(ENVS)
    sums: dict[str, float] = {}
    count = 0
    for k in range(env.kernels.length - 1):
        before(env, k)
        seen = torch.from_numpy(policy(env.observations["policy"]))
        _, reward, fell, _, _ = env.step(seen)
        up &= ~fell
        earned += torch.where(up, reward, 0.0)
        if k == 49:
            start = env.carried["q"][:, :2].clone()
        if k >= 50:
            count += int(up.sum())
            for name, x in env.measures().items():
                sums[name] = sums.get(name, 0.0) + float(x[up].sum())
    moved = (env.carried["q"][:, :2] - start).norm(dim=1)[up]
    found = {name: x / max(count, 1) for name, x in sums.items()}
    found |= {"up": float(up.float().mean()), "return": float(earned.mean()) / env.task.seconds}
    found["moved"] = float(moved.mean()) if len(moved) else 0.0
    return {name: round(x, 4) for name, x in found.items()}


def main() -> None:
    """Measure the policies in the folders and store their curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    folders = parser.parse_args().folders
    file = RESULTS / "humanoid.json"
    results: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    for folder in folders:
        policy = rl.Policy(folder / "policy.onnx")
        lines = (folder / "curve.jsonl").read_text().splitlines()
        name = next(x for x, task in rl.TASKS.items() if task.__name__ == policy.about["task"])
        standing = name.startswith("humanoid_stand")
        found: dict[str, Any] = {"policy": policy.about, "envs": ENVS}
        found["cpu_seconds"] = round(json.loads(lines[-1])["cpu_seconds"])
        cases: tuple[Any, ...] = (None, *PUSHES) if standing else (None, *COMMANDS)
        for case in cases:
            judge = measure_standing if standing else measure_walking
            measured = judge(rl.make(name), policy, case)
            key = "the task's" if case is None else str(case)
            found[key] = measured
            sys.stdout.write(f"{name} {key}: {measured}\n")
        seed = policy.about["seed"]
        results[f"{name}-{seed}"] = found
        kept = [*lines[:-1:EVERY], lines[-1]]
        (RESULTS / f"{name}-{seed}.jsonl").write_text("\n".join(kept) + "\n")
    file.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()

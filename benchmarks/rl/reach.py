"""Number of random targets that a panda's hand reaches, and its contacts on the way.

    python -m benchmarks.rl.reach [TASK] [--policy FILE] [--targets 1000] [--seed 1000] [--no-store]

Each target is an episode that begins near "ready", up to the last step before its end. A target is
reached if the hand is then within 2 cm and has not touched the table or a sphere. With `--blind` a
policy of panda_reach, which does not observe spheres, runs in panda_reach_obstacles. Results go to
benchmarks/rl/results/TASK.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from warpdyn import rl
from warpdyn.rl.training import training_task

RESULTS = Path(__file__).with_name("results")


def measure(task: rl.Task, policy: rl.Policy, targets: int, seed: int) -> dict[str, Any]:
    """Shares of targets, and final distances of the hand."""
    env = rl.VecEnv(task, targets, seed=seed)
    seen, _ = env.reset()
    touched = np.zeros(targets, bool)
    for _ in range(env.kernels.length - 1):  # the step after begins new episodes
        seen, _, terminated, _, _ = env.step(policy(seen.numpy()[:, : policy.width]))
        touched |= terminated.numpy()
    end = {name: x.numpy() for name, x in env.measures().items()}
    free = ~touched
    distances = end["distance"][free]
    return {
        "task": task.name,
        "targets": targets,
        "seed": seed,
        "reached": float((free & (end["reached"] > 0.5)).mean()),
        "touched": float(touched.mean()),
        "missed": float((free & (end["reached"] < 0.5)).mean()),
        "millimetres": {
            f"{share} %": float(np.percentile(distances, share) * 1e3) for share in (50, 90, 95, 99)
        },
    }


def main() -> None:
    """Run the policy, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", nargs="?", default="panda_reach")
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1000, help="not the training's")
    parser.add_argument("--blind", action="store_true")
    parser.add_argument("--varied", action="store_true", help="with the recipe's randomisation")
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    trained = "panda_reach" if args.blind else args.task
    path = args.policy or Path(rl.__file__).with_name("policies") / f"{trained}.onnx"
    policy = rl.Policy(path)
    task = rl.make(args.task)
    if args.varied:
        task = training_task(task, task.recipe)
    result = measure(task, policy, args.targets, args.seed)
    result |= {"policy": {n: policy.about[n] for n in ("task", "seed", "iterations", "command")}}
    print(json.dumps(result, indent=1))
    if not args.no_store:
        name = f"{args.task}{'-blind' if args.blind else ''}{'-varied' if args.varied else ''}.json"
        (RESULTS / name).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

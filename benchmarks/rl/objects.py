"""Share of episodes that end with the object at its goal, in warpdyn and in MuJoCo.

    python -m benchmarks.rl.objects TASK [--policy FILE] [--starts 1000] [--seed 1000] [--mujoco N] [--no-store]

Each start is an episode up to the last step before its end. The goal is reached if the object is then
within 2 cm of it. `--mujoco N` also simulates the first N starts in MuJoCo C and compares the returns.
Results go to benchmarks/rl/results/TASK.json.
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


def judge(env: rl.VecEnv, policy: rl.Policy) -> dict[str, Any]:
    """Share of starts whose object is at its goal at the end, and the final distances."""
    env.reset()
    ended = np.zeros(env.num_envs, bool)
    for _ in range(env.kernels.length - 1):  # the step after begins new episodes
        _, _, terminated, _, _ = env.step(policy(policy_observations(env)))
        ended |= terminated.numpy()
    found = {name: x.numpy() for name, x in env.measures().items()}
    distances = found["distance"][~ended]
    return {
        "task": env.task.name,
        "starts": env.num_envs,
        "reached": float((~ended & (found["reached"] > 0.5)).mean()),
        "ended early": float(ended.mean()),
        "millimetres": {
            f"{share} %": float(np.percentile(distances, share) * 1e3) for share in (50, 90, 95, 99)
        },
    }


def policy_observations(env: rl.VecEnv) -> np.ndarray:
    """Observations of the policy's group."""
    seen: np.ndarray = env.observations[env.kernels.observation.policy].numpy()
    return seen


def main() -> None:
    """Judge the policy, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", nargs="?", default="panda_lift")
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1000, help="not the training's")
    parser.add_argument("--mujoco", type=int, metavar="N", default=0)
    parser.add_argument("--varied", action="store_true", help="with the recipe's randomisation")
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    task, policy = rl.make(args.task), rl.Policy(args.policy or rl.bundled_policy(args.task))
    if args.varied:
        task = training_task(task, task.recipe)
    result = judge(rl.VecEnv(task, args.starts, seed=args.seed), policy) | {"seed": args.seed}
    if args.mujoco:
        there = rl.MujocoEnv(task, args.mujoco, seed=args.seed)
        both = rl.sim2sim(task, policy, envs=args.mujoco, seed=args.seed)
        result["in MuJoCo"] = judge(there, policy) | {"dt": there.dt, "kept": both.return_ratio}
    result |= {"policy": {n: policy.about[n] for n in ("task", "seed", "iterations", "command")}}
    print(json.dumps(result, indent=1))
    if not args.no_store:
        name = f"{args.task}{'-varied' if args.varied else ''}.json"
        (RESULTS / name).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

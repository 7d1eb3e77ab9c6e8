"""Mean number of goals per episode that a hand reaches with its cube, in warpdyn and in MuJoCo.

    python -m benchmarks.rl.reorient [--policy FILE] [--episodes 1000] [--seed 1000] [--mujoco N] [--varied]
                                     [--no-store]

An episode lasts 50 s, or until the cube falls. Goals count as in MuJoCo Playground's LeapCubeReorient: a
goal is reached when the cube's orientation is within 0.1 rad of it. `--mujoco N` also simulates N
episodes in MuJoCo C. Results go to benchmarks/rl/results/hand_reorient.json.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from warpdyn import rl
from warpdyn.rl.training import training_task

from .objects import policy_observations

RESULTS = Path(__file__).with_name("results")
TASK = "hand_reorient"


def goals_reached(env: rl.VecEnv, policy: rl.Policy) -> dict[str, Any]:
    """Goals in the first episode of each environment, and the number of episodes that end early."""
    env.reset()
    alive = np.ones(env.num_envs, bool)
    goals = np.zeros(env.num_envs)
    seconds = np.full(env.num_envs, env.task.seconds)
    for step in range(env.kernels.length - 1):  # the step after begins new episodes
        _, _, terminated, _, _ = env.step(policy(policy_observations(env)))
        ended = alive & terminated.numpy()
        seconds[ended] = (step + 1) * env.task.step_seconds
        alive &= ~ended
        goals[alive] = env.carried["count"].numpy()[alive]
    return {
        "episodes": env.num_envs,
        "goals": float(goals.mean()),
        "goals, median": float(np.median(goals)),
        "goals in 10 s": float(10.0 * goals.sum() / seconds.sum()),
        "cube fell": float(1.0 - alive.mean()),
    }


def main() -> None:
    """Judge the policy, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1000, help="not the training's")
    parser.add_argument("--mujoco", type=int, metavar="N", default=0)
    parser.add_argument("--varied", action="store_true", help="with the recipe's randomisation")
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    task, policy = rl.make(TASK), rl.Policy(args.policy or rl.bundled_policy(TASK))
    result: dict[str, Any] = {"tolerance": task.tolerance, "seconds": task.seconds}
    result |= goals_reached(rl.VecEnv(task, args.episodes, seed=args.seed), policy)
    if args.varied:
        varied = training_task(task, replace(task.recipe, practice={}))
        result["varied"] = goals_reached(rl.VecEnv(varied, args.episodes, seed=args.seed), policy)
    if args.mujoco:
        there = rl.MujocoEnv(task, args.mujoco, seed=args.seed)
        result["in MuJoCo"] = goals_reached(there, policy) | {"dt": there.dt}
    result |= {"policy": {n: policy.about[n] for n in ("task", "seed", "iterations", "command")}}
    print(json.dumps(result, indent=1))
    if not args.no_store:
        (RESULTS / f"{TASK}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

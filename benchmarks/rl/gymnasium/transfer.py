"""Returns of policies in warpdyn, in which they are trained, and in Gymnasium's own environments.

    python -m benchmarks.rl.gymnasium.transfer TASK [--seed 0] [--minutes M] [--episodes 30] [--no-store]

TASK is a name in `task_list.TASKS`. A policy is trained on one thread. Both simulators then run its
episodes, and episodes of random actions, from the same states. Actions are clipped to Gymnasium's
bounds and have no exploration noise. Results go to benchmarks/rl/results/gymnasium.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch

from warpdyn import rl

from .gymnasium_task import GymnasiumTask
from .task_list import TASKS

RESULTS = Path(__file__).parents[1] / "results" / "gymnasium.json"

FIRST_SEED = 1000
"""Seed of the first episode of a comparison; the training's are others."""

Act = Callable[[np.ndarray], np.ndarray]
"""Actions for observations."""


def first_environments(task: GymnasiumTask, episodes: int) -> rl.VecEnv:
    """Environments at the beginning of the compared episodes."""
    env = rl.VecEnv(task, episodes, seed=FIRST_SEED)
    env.reset()
    return env


def returns_here(task: GymnasiumTask, act: Act, episodes: int) -> np.ndarray:
    """Return of each episode in warpdyn (episodes,)."""
    env = first_environments(task, episodes)
    seen = env.observations["policy"]
    total, alive = np.zeros(episodes), np.ones(episodes, bool)
    while alive.any():
        seen, reward, failed, late, _ = env.step(act(seen.numpy()))
        total += np.where(alive, reward.numpy(), 0.0)
        alive &= ~(failed | late).numpy()
    return total


def returns_there(task: GymnasiumTask, act: Act, episodes: int) -> np.ndarray:
    """Return of each episode in Gymnasium (episodes,), from the same states."""
    first = first_environments(task, episodes)
    q, v = (first.carried[name].numpy().astype(float) for name in ("q", "v"))
    env = gymnasium.make(task.environment)
    totals = []
    for number in range(episodes):
        env.reset(seed=FIRST_SEED + number)
        robot: Any = env.unwrapped
        robot.set_state(*task.mujoco_state(q[number], v[number]))
        seen, total, over = robot._get_obs(), 0.0, False
        while not over:
            action = act(np.asarray(seen, np.float32)[None])[0]
            action = np.clip(action, -task.largest_action, task.largest_action)
            seen, reward, failed, late, _ = env.step(action)
            total, over = total + float(reward), failed or late
        totals.append(total)
    env.close()
    return np.array(totals)


def random_actions(task: GymnasiumTask, seed: int) -> Act:
    """Actions that are uniform within their bounds."""
    rng, most = np.random.default_rng(seed), task.largest_action
    return lambda seen: rng.uniform(-most, most, (len(seen), task.actions)).astype(np.float32)


def figures(returns: np.ndarray) -> dict[str, float]:
    """Mean, standard deviation and minimum of returns."""
    found = {"mean": returns.mean(), "deviation": returns.std(), "least": returns.min()}
    return {name: round(float(x), 2) for name, x in found.items()}


def compare(task: GymnasiumTask, act: Act, episodes: int) -> dict[str, Any]:
    """Returns of the same actions in both simulators, and the share that is kept in Gymnasium."""
    here = figures(returns_here(task, act, episodes))
    there = figures(returns_there(task, act, episodes))
    return {"here": here, "there": there, "kept": kept_share(here["mean"], there["mean"])}


def kept_share(here: float, there: float) -> float:
    """Share of a return that is kept; its inverse for a negative return, which is a cost."""
    return round(there / here if here > 0 else here / there, 4)


def train(task: GymnasiumTask, seed: int, minutes: float | None) -> tuple[Act, dict[str, Any]]:
    """Train a policy and return its mean actions, with seed, CPU minutes and steps."""
    trainer = rl.Trainer(task, seed=seed)
    shown = time.perf_counter()
    for progress in trainer.run(minutes=minutes):
        if time.perf_counter() - shown > 20.0:
            shown = time.perf_counter()
            print(
                f"{progress.cpu_seconds / 60:.1f} CPU min, {progress.steps} steps, "
                f"reward a step {progress.reward * task.step_seconds:.3f}, length {progress.length:.1f} s",
                flush=True,
            )
    last, policy = trainer.curve[-1], trainer.policy()

    def act(seen: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            actions: np.ndarray = policy(torch.from_numpy(np.asarray(seen))).numpy()
        return actions

    about = {"seed": seed, "CPU minutes": round(last.cpu_seconds / 60, 2), "steps": last.steps}
    return act, about


def main() -> None:
    """Train, compare, print, store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    task = TASKS[args.task]()
    act, about = train(task, args.seed, args.minutes)
    found: dict[str, Any] = {"environment": task.environment, **about, "episodes": args.episodes}
    found["policy"] = compare(task, act, args.episodes)
    found["random actions"] = compare(task, random_actions(task, args.seed), args.episodes)
    del found["random actions"]["kept"]  # returns near zero have no meaningful ratio
    print(json.dumps(found, indent=1))
    if not args.no_store:
        stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**stored, args.task: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Figures of trained quadrupeds: speed errors, falls and return of policies, and their curves.

    warpdyn train quadruped_velocity --iterations 850 --seed 0
    python -m benchmarks.rl.quadruped runs/quadruped_velocity-0 runs/quadruped_velocity-1

Each folder becomes an entry of `results/quadruped_velocity.json` and a curve. Other robots need the
options of the training: `--name solo12 --robot solo12.urdf --stance ...`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from warpdyn import rl
from warpdyn.cli.learning.task_from_options import add_quadruped, task_from_options

RESULTS = Path(__file__).parent / "results"
EVERY = 5
"""Lines of a curve that are kept: one in so many."""


def measure(env: rl.VecEnv, policy: rl.Policy, at_once: bool) -> dict[str, Any]:
    """Means over first episodes without exploration: errors until a fall, return per second, and falls.

    at_once: the first command has its full size when an episode begins; in the task it grows from zero.
    """
    env.reset()
    if at_once:
        env.carried["command"].copy_(env.carried["wanted"])
    envs, steps = env.num_envs, env.kernels.length
    alive, earned = torch.ones(envs, dtype=torch.bool), torch.zeros(envs)
    sums: dict[str, float] = {}
    count = 0.0
    for k in range(steps):
        _, reward, fell, _, _ = env.step(torch.from_numpy(policy(env.observations["policy"])))
        earned += torch.where(alive, reward, 0.0)
        alive &= ~fell
        if k == steps - 1:  # all environments have been reset
            break
        for name, x in env.measures().items():
            sums[name] = sums.get(name, 0.0) + float(x[alive].sum())
        count += float(alive.sum())
    found: dict[str, Any] = {name: round(x / count, 4) for name, x in sums.items()}
    return found | {
        "return": round(float(earned.mean()) / env.task.seconds, 4),
        "falls": int((~alive).sum()),
        "envs": envs,
    }


def in_mujoco(task: rl.Task, policy: rl.Policy) -> dict[str, Any]:
    """Share of the return that is kept in MuJoCo C, and falls in both, for 48 robots and 10 s."""
    found = rl.sim2sim(task, policy, seconds=10.0)
    falls = {name: round(x.falls * x.envs) for name, x in vars(found).items() if name != "dt"}
    return {"kept": round(found.return_ratio, 4), "falls": falls, "envs": found.here.envs}


def main() -> None:
    """Measure the policies in the folders, in warpdyn and in MuJoCo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--name", default="quadruped_velocity")
    add_quadruped(parser)
    parser.set_defaults(settings=[])
    args = parser.parse_args()
    args.task = "quadruped_velocity"
    torch.set_num_threads(1)
    env = rl.VecEnv(task_from_options(args), 1024, seed=99)
    path = RESULTS / f"{args.name}.json"
    rows = json.loads(path.read_text()) if path.exists() else {}
    for folder in args.folders:
        policy = rl.Policy(folder / "policy.onnx")
        curve = (folder / "curve.jsonl").read_text().splitlines()
        last = json.loads(curve[-1])
        seed = policy.about["seed"]
        rows[str(seed)] = {
            **{name: last[name] for name in ("iteration", "steps")},
            "cpu_seconds": round(last["cpu_seconds"]),
            "environment_share": round(last["environment_share"], 3),
            **{name: policy.about[name] for name in ("command", "commit")},
            "gently": measure(env, policy, at_once=False),
            "at_once": measure(env, policy, at_once=True),
            "mujoco": in_mujoco(env.task, policy),
        }
        print(seed, json.dumps(rows[str(seed)]), flush=True)
        kept = [line for k, line in enumerate(curve, 1) if k % EVERY == 0]
        (RESULTS / f"{args.name}-{seed}.jsonl").write_text("\n".join(kept) + "\n")
        path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

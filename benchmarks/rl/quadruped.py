"""Figures of trained quadrupeds: speed errors, falls and return of policies, and their curves.

    warpdyn train quadruped_velocity --iterations 2400 --seed 0 --folder runs/long-0
    warpdyn train quadruped_velocity --iterations 200 --seed 0 --init runs/long-0/checkpoint.pt
        --set recipe.kl=0.002 --folder runs/quadruped_velocity-0
    python -m benchmarks.rl.quadruped runs/quadruped_velocity-0 --earlier runs/long-0

Each folder becomes an entry of `results/quadruped_velocity.json` and a curve. `--earlier` has the
folders of the trainings that they continue, in the same order. Other robots need the options of the
training: `--name solo12 --robot solo12.urdf --stance ...`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from warpdyn import rl
from warpdyn.cli.learning.task_from_options import add_quadruped, task_from_options
from warpdyn.rl.disturbances import disturbed_tasks
from warpdyn.rl.evaluation import evaluate_in

RESULTS = Path(__file__).parent / "results"
EVERY = 5
"""Lines of a curve that are kept: one in so many."""

PUSHED = 1000
"""Number of robots under pushes."""

COUNTS = ("iteration", "steps", "seconds", "cpu_seconds")
"""Entries of a curve's point that count from the beginning of its training."""


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


def read_curves(folders: list[Path]) -> list[dict[str, Any]]:
    """The curve of a training in several parts: each continues the counts of the one before."""
    curve: list[dict[str, Any]] = []
    for folder in folders:
        before = curve[-1] if curve else {}
        for line in (folder / "curve.jsonl").read_text().splitlines():
            point = json.loads(line)
            curve.append(point | {name: point[name] + before.get(name, 0) for name in COUNTS})
    return curve


def main() -> None:
    """Measure the policies in the folders, in warpdyn and in MuJoCo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--earlier", nargs="+", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--name", default="quadruped_velocity")
    add_quadruped(parser)
    parser.set_defaults(settings=[])
    args = parser.parse_args()
    args.task = "quadruped_velocity"
    if args.earlier and len(args.earlier) != len(args.folders):
        parser.error(f"--earlier needs {len(args.folders)} folders, got {len(args.earlier)}")
    parts = zip(args.earlier, args.folders, strict=True) if args.earlier else zip(args.folders)
    torch.set_num_threads(1)
    task = task_from_options(args)
    env = rl.VecEnv(task, 1024, seed=99)
    pushed = rl.VecEnv(disturbed_tasks(task)["push 1 m/s every 3 s"], PUSHED, seed=0)
    path = RESULTS / f"{args.name}.json"
    rows = json.loads(path.read_text()) if path.exists() else {}
    for folders in parts:
        policy = rl.Policy(folders[-1] / "policy.onnx")
        curve = read_curves([*folders])
        last = curve[-1]
        under_pushes = evaluate_in(pushed, policy)
        seed = policy.about["seed"]
        rows[str(seed)] = {
            **{name: last[name] for name in ("iteration", "steps")},
            "cpu_seconds": round(last["cpu_seconds"]),
            "environment_share": round(last["environment_share"], 3),
            "commands": [rl.Policy(x / "policy.onnx").about["command"] for x in folders],
            "commit": policy.about["commit"],
            "gently": measure(env, policy, at_once=False),
            "at_once": measure(env, policy, at_once=True),
            "pushed": {"falls": round(PUSHED * under_pushes.falls), "envs": PUSHED},
            "mujoco": in_mujoco(env.task, policy),
        }
        print(seed, json.dumps(rows[str(seed)]), flush=True)
        kept = [json.dumps(point) for k, point in enumerate(curve, 1) if k % EVERY == 0]
        (RESULTS / f"{args.name}-{seed}.jsonl").write_text("\n".join(kept) + "\n")
        path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

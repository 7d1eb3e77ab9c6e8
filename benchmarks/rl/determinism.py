"""Equal seeds must give equal bytes: compare the weights after 50 iterations of PPO.

    python -m benchmarks.rl.determinism [--task cartpole_swing_up] [--iterations 50]

Each training runs in a new process with one Torch thread: two with the same seed, the second with two
threads for the environments, and one with another seed. Digests go to
benchmarks/rl/results/determinism.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import warpdyn as wd
from warpdyn import rl

from ..__main__ import describe_run

RESULTS = Path(__file__).with_name("results") / "determinism.json"
RUNS = ((0, 1), (0, 2), (1, 1))
"""Seeds, and threads of the environments."""


def digest(task: str, seed: int, threads: int, iterations: int) -> dict[str, Any]:
    """Digest of a training's weights (actor and critic), and its final figures."""
    torch.set_num_threads(1)
    wd.runtime.set_num_threads(threads)
    trainer = rl.Trainer(rl.make(task), seed=seed)
    *_, last = trainer.run(minutes=1e9, iterations=iterations)
    told = hashlib.sha256()
    for network in (trainer.learner.actor, trainer.learner.critic):
        for weights in network.state_dict().values():
            told.update(weights.cpu().contiguous().numpy().tobytes())
    about = {"seed": seed, "threads": threads, "sha256": told.hexdigest()}
    return {**about, "reward": last.reward, "cpu_seconds": round(last.cpu_seconds, 1)}


def main() -> None:
    """Run the trainings, print whether they agree, and store the digests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="cartpole_swing_up")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--one", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(digest(arguments.task, *arguments.one, arguments.iterations)))
        return
    command = [sys.executable, "-m", "benchmarks.rl.determinism", "--task", arguments.task]
    command += ["--iterations", str(arguments.iterations), "--one"]
    rows = []
    for run in RUNS:
        told = subprocess.run(
            [*command, *map(str, run)], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(told.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    first, again, other = (row["sha256"] for row in rows)
    equal = {"one_seed": first == again, "another_seed": first == other}
    print(equal)
    RESULTS.parent.mkdir(exist_ok=True)
    about = {"about": describe_run("cpu", ()), "task": arguments.task}
    whole = {**about, "iterations": arguments.iterations, "runs": rows, "equal": equal}
    RESULTS.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()

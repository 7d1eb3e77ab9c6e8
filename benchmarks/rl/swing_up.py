"""Returns of cartpole_swing_up policies, of the Control Suite's 1,000, without exploration.

    python -m benchmarks.rl.swing_up runs/cartpole_swing_up-0 runs/cartpole_swing_up-1 ...

The folders are those of `warpdyn train`, one for each seed. A policy has 256 episodes from the hanging
position, with other seeds than the training. Results, with the CPU seconds of each training, go to
benchmarks/rl/results/cartpole_swing_up.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from warpdyn import rl

RESULTS = Path(__file__).with_name("results")
EPISODES, SEED = 256, 1000


def episode_returns(policy: rl.Policy) -> np.ndarray:
    """Return of each episode, of 1,000."""
    task = rl.CartpoleSwingUp()
    env = rl.VecEnv(task, EPISODES, seed=SEED)
    seen, _ = env.reset()
    for _ in range(env.kernels.length):
        seen, _, _, late, info = env.step(policy(seen.numpy()))
    assert bool(late.all())
    most = task.scales["swing_up"] * task.seconds
    earned: np.ndarray = 1000.0 * info["episode"]["swing_up"].numpy() / most
    return earned


def of_folder(folder: Path) -> dict[str, Any]:
    """Figures of a training."""
    policy = rl.Policy(folder / "policy.onnx")
    last = json.loads((folder / "curve.jsonl").read_text().splitlines()[-1])
    earned = episode_returns(policy)
    return {
        "seed": policy.about["seed"],
        "mean": float(earned.mean()),
        "least": float(earned.min()),
        "cpu_seconds": last["cpu_seconds"],
        "steps": last["steps"],
        "command": policy.about["command"],
        "commit": policy.about["commit"],
    }


def main() -> None:
    """Run the policies, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    found = [of_folder(folder) for folder in parser.parse_args().folders]
    text = json.dumps({"episodes": EPISODES, "trainings": found}, indent=1)
    print(text)
    (RESULTS / "cartpole_swing_up.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

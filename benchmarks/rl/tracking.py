"""Errors and falls of a policy that follows a clip, in warpdyn and in MuJoCo, and a picture.

    python -m benchmarks.rl.tracking [TASK] [--policy FILE] [--envs 256] [--mujoco 48] [--picture FILE]
                                     [--no-store]

TASK is `motion_tracking` or `motion_tracking_onboard`. Policies act without exploration for 10 s from random
frames of the clip, with and without the task's pushes. `--picture` draws moments of one run from the clip's
beginning, next to the clip. Results go to benchmarks/rl/results/motion_tracking.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from warpdyn import rl
from warpdyn.functions.pictures.robot_picture import RobotPicture, Sight

RESULTS = Path(__file__).with_name("results") / "motion_tracking.json"
CASES = (("with pushes", True), ("without pushes", False))
SEED = 1000
TASKS = ("motion_tracking", "motion_tracking_onboard")
MOMENTS = (0.0, 1.4, 2.7, 4.6, 6.0, 8.5)
"""Times of a picture's robots [s]."""


def judge(name: str, policy: rl.Policy, envs: int, *, pushes: bool) -> dict[str, Any]:
    """Return, falls and errors of one episode per environment."""
    task = rl.make(name)
    if not pushes:
        task.push = None
    found = rl.evaluate(task, policy, envs=envs, seed=SEED)
    return {
        "return": round(found.returned, 3),
        "falls": round(found.falls * envs),
        "envs": envs,
        "errors": {n: round(x, 4) for n, x in found.measures.items()},
    }


def in_mujoco(name: str, policy: rl.Policy, envs: int) -> dict[str, Any]:
    """Return that is kept in MuJoCo C, and falls in both, with and without pushes."""
    results = {}
    for case, pushes in CASES:
        task = rl.make(name)
        if not pushes:
            task.push = None
        both = rl.sim2sim(task, policy, envs=envs, seed=SEED)
        falls = {n: round(x.falls * envs) for n, x in (("here", both.here), ("there", both.there))}
        results[case] = {"kept": round(both.return_ratio, 4), "falls": falls, "envs": envs}
        results[case]["return"] = [round(x.returned, 3) for x in (both.here, both.there)]
    return results


def draw(name: str, policy: rl.Policy, path: Path) -> None:
    """Draw moments of a run from the clip's beginning; the clip is transparent."""
    from matplotlib.figure import Figure

    task: Any = rl.make(name)
    task.push, task.random_start = None, False
    env = rl.VecEnv(task, 1, seed=SEED)
    env.reset()
    steps = [round(x / task.step_seconds) for x in MOMENTS]
    states: list[np.ndarray] = []
    for _ in range(max(steps) + 1):
        states.append(env.carried["q"][0].numpy().astype(float))
        env.step(policy(env.observations["policy"].numpy()))
    drawn = RobotPicture(task.model, Sight(turn=-0.9, rise=0.15))
    figure = Figure(figsize=(12.0, 2.9), dpi=110)
    for k, step in enumerate(steps):
        panel: Any = figure.add_axes((k / len(steps), 0.0, 1.0 / len(steps), 0.92))
        centre = np.array([0.0, 0.0, 0.7])
        panel.set_title(f"{MOMENTS[k]:g} s", fontsize=9)
        clip = task.tables["motion"][step % task.reference.frames, : task.model.nq]
        for q, alpha in ((clip, 0.3), (states[step], 1.0)):
            for patch in drawn.patches(drawn.poses(q), centre):
                colour = patch.colour if alpha == 1.0 else "#777777"
                panel.fill(
                    *patch.outline.T, facecolor=colour, edgecolor="#333333", lw=0.3, alpha=alpha
                )
        panel.axhline(-0.72, color="#cccccc", lw=0.7, zorder=0)
        panel.set(xlim=(-0.72, 0.72), ylim=(-0.8, 0.75), aspect="equal")
        panel.axis("off")
    figure.savefig(path)


def main() -> None:
    """Judge the policy, print, draw and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", choices=TASKS, default=TASKS[0], metavar="TASK")
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--mujoco", type=int, metavar="N", default=48)
    parser.add_argument("--picture", type=Path, metavar="FILE")
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    policy = rl.Policy(args.policy or rl.bundled_policy(args.task))
    if args.picture:
        draw(args.task, policy, args.picture)
        return
    result: dict[str, Any] = {"policy": policy.about}
    for case, pushes in CASES:
        result[case] = judge(args.task, policy, args.envs, pushes=pushes)
        print(case, result[case], flush=True)
    result["in MuJoCo"] = in_mujoco(args.task, policy, args.mujoco)
    print(result["in MuJoCo"])
    if not args.no_store:
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[args.task] = result
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

"""Share of rough-ground tiles that the quadruped crosses, by kind and difficulty.

    python -m benchmarks.rl.climb [--onboard] [--policy FILE] [--mujoco] [--no-store]

Episodes begin in the middle of a tile of 8 m. The command is 0.5 to 1 m/s ahead towards a random
heading, and friction is 0.5 to 1.25. A tile counts as climbed if the trunk passes its edge within 20 s
without a fall. The results and a picture are stored.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import warpdyn as wd
from warpdyn import rl
from warpdyn.rl.tasks.rough_tasks import (
    ASKED,
    GROUND_KINDS,
    LEVELS,
    QuadrupedRough,
    QuadrupedRoughOnboard,
)

RESULTS = Path(__file__).parent / "results" / "climb.json"
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "rl_climb.png"
POLICIES = Path(rl.__file__).parent / "policies"

AS_ASKED = LEVELS - 2
"""Level of the difficulties that are asked."""

NAMES = {
    "rough": "rubble",
    "slope": "slope, down",
    "sunken_slope": "slope, up",
    "stairs": "stairs, down",
    "sunken_stairs": "stairs, up",
}


class QuadrupedAhead(QuadrupedRough):
    """The quadruped task on tiles of some levels, with commands ahead."""

    seconds = 20.0
    numbers = {  # noqa: RUF012
        **QuadrupedRough.numbers,
        "slowest": np.array([0.5, 0.0]),
        "fastest": np.array([1.0, 0.0]),
    }

    def __init__(self, first: int = 0, last: int = LEVELS - 1):
        super().__init__()
        self.keep = {**self.keep, "level": rl.Vary(float(first), float(last + 1))}

    def _command(self, s: rl.Episode) -> Any:
        """A command that is never zero."""
        wanted = s.slowest + (s.fastest - s.slowest) * wd.random.uniform(s.random.at(42), 2)
        return np.concatenate([wanted, np.zeros(1)])


class QuadrupedAheadOnboard(QuadrupedAhead):
    """The same task with onboard sensors, which do not observe the ground."""

    history = QuadrupedRoughOnboard.history
    groups = QuadrupedRoughOnboard.groups
    sensed = QuadrupedRoughOnboard.sensed


def climb(env: rl.VecEnv, policy: rl.Policy) -> dict[str, np.ndarray]:
    """Level, kind, and whether the robot left its tile or fell, for the first episode of each environment.

    The result also has the mean errors of the speeds until then.
    """
    env.reset()
    level, kind = (env.carried[n].floor().numpy().astype(int) for n in ("level", "kind"))
    living, left, fell = np.ones(len(level), bool), *np.zeros((2, len(level)), bool)
    errors = {n: np.zeros(len(level)) for n in ("speed_error", "turning_error")}
    steps = np.zeros(len(level))
    for _ in range(env.kernels.length):
        actions = policy(env.observations[env.kernels.observation.policy].numpy())
        _, _, fallen, late, _ = env.step(actions)
        fell |= living & fallen.numpy() & ~left
        living &= ~(fallen | late).numpy()
        left |= living & (env.carried["q"][:, :2].abs().amax(1).numpy() > env.task.half_tile)
        there, measures = living & ~left, env.measures()
        steps += there
        for name, total in errors.items():
            total += np.where(there, measures[name].numpy(), 0.0)
        if not there.any():
            break
    means = {n: total / np.maximum(steps, 1.0) for n, total in errors.items()}
    return {"level": level, "kind": kind, "left": left, "fell": fell, **means}


def shares(found: dict[str, np.ndarray]) -> dict[str, dict[int, list[float]]]:
    """Number of environments, and shares of those that left and that fell, by kind and level."""
    table: dict[str, dict[int, list[float]]] = {}
    for k, kind in enumerate(GROUND_KINDS):
        for level in range(LEVELS):
            here = (found["kind"] == k) & (found["level"] == level)
            if here.any():
                row = [int(here.sum()), *(float(found[n][here].mean()) for n in ("left", "fell"))]
                table.setdefault(NAMES[kind], {})[level] = row
    return table


def sizes(kind: str) -> list[str]:
    """Sizes of a kind's levels, in degrees or centimetres."""
    each = kind.removeprefix("sunken_")
    found = []
    for level in range(LEVELS):
        d = ASKED[each] * level / AS_ASKED
        found.append(
            {
                "rough": f"{100 * (0.01 + 0.07 * d):.1f} cm",
                "slope": f"{math.degrees(math.atan(0.05 + 0.45 * d)):.0f}°",
                "stairs": f"{100 * (0.03 + 0.17 * d):.1f} cm",
            }[each]
        )
    return found


def draw(results: dict[str, Any]) -> None:
    """Plot shares by kind and level, a panel for each simulator."""
    panels = [n for n in ("warpdyn", "MuJoCo") if n in results]
    canvas = Figure(figsize=(8.0, 2.6 * len(panels)), layout="constrained")
    axes = canvas.subplots(len(panels), 1, squeeze=False)[:, 0]
    for panel, name in zip(axes, panels, strict=True):
        shown = np.full((len(GROUND_KINDS), LEVELS), np.nan)
        for k, kind in enumerate(GROUND_KINDS):
            for level, row in results[name]["tiles"][NAMES[kind]].items():
                shown[k, int(level)] = row[1]
        panel.imshow(shown, vmin=0.0, vmax=1.0, cmap="RdYlGn", alpha=0.6, aspect="auto")
        panel.set_yticks(range(len(GROUND_KINDS)), [NAMES[k] for k in GROUND_KINDS])
        panel.set_xticks(range(LEVELS), [f"level {k}" for k in range(LEVELS)])
        panel.set_title(f"{name}: share of tiles that are climbed (asked: level {AS_ASKED})")
        for k, kind in enumerate(GROUND_KINDS):
            for level, size in enumerate(sizes(kind)):
                if not np.isnan(shown[k, level]):
                    words = f"{size}\n{100 * shown[k, level]:.0f} %"
                    panel.text(level, k, words, ha="center", va="center", fontsize=7)
    canvas.savefig(PICTURE, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--policy", type=Path, help="default: the one that comes with warpdyn")
    parser.add_argument("--onboard", action="store_true", help="the task with onboard sensors")
    parser.add_argument("--envs", type=int, help="environments; 2048, or 60 in MuJoCo")
    parser.add_argument("--mujoco", action="store_true", help="in MuJoCo C, the asked level alone")
    parser.add_argument("--dt", type=float, help="MuJoCo's step [s]; default: 0.0005")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-store", action="store_true")
    args = parser.parse_args()
    kind = QuadrupedAheadOnboard if args.onboard else QuadrupedAhead
    bundled = POLICIES / f"quadruped_rough{'_onboard' if args.onboard else ''}.onnx"
    policy = rl.Policy(args.policy or bundled)
    if args.mujoco:
        task = kind(AS_ASKED, AS_ASKED)
        name = "MuJoCo"
        env: rl.VecEnv = rl.MujocoEnv(task, args.envs or 60, dt=args.dt, seed=args.seed)
    else:
        name, env = "warpdyn", rl.VecEnv(kind(), args.envs or 2048, seed=args.seed)
    name += ", onboard" if args.onboard else ""
    policy.check(env.task, env.kernels.observations[env.kernels.observation.policy][0])
    found = climb(env, policy)
    asked = found["level"] == AS_ASKED
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results[name] = {
        "policy": policy.about,
        "envs": env.num_envs,
        "seed": args.seed,
        "climbed": float(found["left"][asked].mean()),
        "fell": float(found["fell"][asked].mean()),
        "speed_error": float(found["speed_error"][asked].mean()),
        "turning_error": float(found["turning_error"][asked].mean()),
        "tiles": shares(found),
    }
    for ground, rows in results[name]["tiles"].items():
        print(ground, " ".join(f"{100 * left:.0f}%" for _, left, _ in rows.values()))
    print(f"asked difficulties: {100 * results[name]['climbed']:.1f}% of {asked.sum()} climbed")
    if args.no_store:
        return
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    draw(json.loads(RESULTS.read_text()))


if __name__ == "__main__":
    main()

"""Draw the learning curves that are stored.

    python -m benchmarks.rl.curves [TASK ...]

The command reads results/TASK-SEED.jsonl, which has lines of a training's curve.jsonl (every fifth is
enough), and draws docs/pictures/rl_TASK.png: return, falls and rewards of all seeds over steps and CPU
seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from warpdyn.cli.learning.learning_curves import draw_curves, read_curve

RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def curve_files(folder: Path = RESULTS) -> dict[str, dict[int, Path]]:
    """Files of curves by task and seed."""
    found: dict[str, dict[int, Path]] = {}
    for path in sorted(folder.glob("*-*.jsonl")):
        task, _, seed = path.stem.rpartition("-")
        if seed.isdecimal():
            found.setdefault(task, {})[int(seed)] = path
    return found


def main(arguments: list[str] | None = None) -> None:
    """Draw the curves of the named tasks, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    there = curve_files()
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(there)}")
    parser.add_argument("--into", type=Path, default=PICTURES, metavar="FOLDER")
    args = parser.parse_args(arguments)
    if unknown := set(args.tasks) - set(there):
        parser.error(f"no curve of {', '.join(sorted(unknown))}; there are {', '.join(there)}")
    for task in args.tasks or there:
        curves = {f"seed {seed}": read_curve(path) for seed, path in there[task].items()}
        path = args.into / f"rl_{task}.png"
        draw_curves(task, curves, path)
        print(f"picture: {path}")


if __name__ == "__main__":
    main()

"""Table of errors against Pinocchio, from the records of tests/test_accuracy.py.

    WARPDYN_ACCURACY=lines.jsonl bash scripts/test.sh tests/test_accuracy.py --slow
    python -m benchmarks.accuracy lines.jsonl FOLDER COMMIT

The first command writes the records, the second one FOLDER/accuracy.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import date
from importlib import metadata
from pathlib import Path

from warpdyn.cli.hardware import processor

SHOWN = ("rnea", "crba", "aba", "fk", "jacobian")
LIMITS = {"float64": 1e-12, "float32": 1e-5}
"""Bounds of tests/test_accuracy.py; the test fails above them."""


def page_lines(records: list[tuple[str, int, str, str, float]], commit: str) -> Iterator[str]:
    """Lines of the page."""
    worst = {(robot, algorithm, dtype): value for robot, _, algorithm, dtype, value in records}
    robots = {robot: nv for robot, nv, *_ in records}
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("pin", "warp-lang", "example-robot-data")
    )
    most = {
        dtype: max((v, *key) for key, v in worst.items() if key[2] == dtype) for dtype in LIMITS
    }
    yield f"# Accuracy against Pinocchio {metadata.version('pin')} (float64)\n"
    yield f"{date.today()}, {processor()}, on the CPU; {versions}; commit {commit}.\n"
    yield (
        "Largest difference divided by the largest value, over 17 random states within joint limits. The states are "
        "exact in the kernel's precision. For `aba`: the residual M a + h - tau, with Pinocchio's M and h, divided by "
        "the size of its terms. Bounds: "
        + ", ".join(f"{dtype} {limit:g}" for dtype, limit in LIMITS.items())
        + ". A dash: `aba` refuses the robot because a moving link has no mass. `erd_` robots come from the PyPI "
        "package example-robot-data, the others with warpdyn. `python -m benchmarks.accuracy` prints the commands.\n"
    )
    for dtype, (value, robot, algorithm, _) in most.items():
        yield f"Worst of {len(robots)} robots in {dtype}: {value:.1e} ({algorithm} of {robot}).  "
    yield "\n| robot (nv) | " + " | ".join(f"{a} {dtype}" for dtype in LIMITS for a in SHOWN) + " |"
    yield "|---" + "|---:" * (len(LIMITS) * len(SHOWN)) + "|"
    for robot, nv in sorted(robots.items()):
        cells = (worst.get((robot, a, dtype)) for dtype in LIMITS for a in SHOWN)
        yield (
            f"| {robot} ({nv}) | "
            + " | ".join("-" if x is None else f"{x:.0e}" for x in cells)
            + " |"
        )


def main() -> int:
    """Write accuracy.md into the folder on the command line."""
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    records = [tuple(json.loads(line)) for line in Path(sys.argv[1]).read_text().splitlines()]
    if not records:
        print(f"{sys.argv[1]} has no records", file=sys.stderr)
        return 2
    Path(sys.argv[2], "accuracy.md").write_text("\n".join(page_lines(records, sys.argv[3])) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

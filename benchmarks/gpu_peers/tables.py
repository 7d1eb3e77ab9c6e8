"""Tables of the results: warpdyn's time of a call or step, and the other libraries' times as multiples of it.

python -m benchmarks.gpu_peers.tables [FILE]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..records import line

RESULT = Path(__file__).parents[1] / "results/gpu_peers.json"

OURS = "warpdyn"
DYNAMICS = ("MuJoCo Warp", "MJX", "JaxSim", "Newton")
SIMULATORS = ("MuJoCo Warp", "MJX", "Newton")

Line = Mapping[str, Any]


def tables(content: Mapping[str, Any]) -> Iterator[str]:
    """The three tables, and what has no time and why."""
    lines = [x for x in content["records"] if "why" not in x]
    yield from _table(
        ["robot, algorithm"],
        [x for x in lines if x["part"] == "dynamics"],
        lambda x: f"{x['robot']} {x['algorithm']}",
        DYNAMICS,
        "bound call; graph",
    )
    yield ""
    yield from _table(
        ["robot"],
        [x for x in lines if x["part"] == "steps"],
        lambda x: x["robot"],
        SIMULATORS,
        "4 steps a launch",
    )
    yield ""
    yield from _table(
        ["scene"],
        [x for x in lines if x["part"] == "scenes"],
        lambda x: x["scene"],
        SIMULATORS[:1],
        "steps a launch",
    )
    yield ""
    yield from left_out(content["records"])


def _table(
    head: Sequence[str],
    lines: Sequence[Line],
    row: Callable[[Line], str],
    others: Sequence[str],
    form: str,
) -> Iterator[str]:
    """Per row and batch, warpdyn's time in this form, and the fastest form of each other library."""
    there = [name for name in others if any(x["library"] == name for x in lines)]
    yield line([*head, "robots", "warpdyn [us]", *there])
    yield "|---" * (len(there) + 3) + "|"
    for key in dict.fromkeys((row(x), x["envs"]) for x in lines if x["library"] == OURS):
        here = [x for x in lines if (row(x), x["envs"]) == key]
        ours = fastest(x for x in here if x["library"] == OURS and form in x["form"])
        if ours is None:
            continue
        cells = [key[0], f"{key[1]:,}", f"{ours:.1f}"]
        for name in there:
            theirs = fastest(x for x in here if x["library"] == name)
            cells.append("" if theirs is None else f"{theirs / ours:.3g}×")
        yield line(cells)


def fastest(lines: Iterable[Line]) -> float | None:
    """The shortest time [us] of some lines."""
    return min((x["us"] for x in lines), default=None)


def left_out(lines: Sequence[Line]) -> Iterator[str]:
    """A line for each reason why a library has no time, with the number of its cases."""
    counts: dict[tuple[str, str, str], int] = {}
    for x in lines:
        if "why" in x:
            key = x["part"], x["library"], x["why"]
            counts[key] = counts.get(key, 0) + 1
    for (part, library, why), count in counts.items():
        yield f"no time: {library}, {part}, {count} case{'s' * (count > 1)}: {why}"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULT
    print(*tables(json.loads(path.read_text())), sep="\n")

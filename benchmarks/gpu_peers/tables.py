"""Tables with warpdyn's time per call or step, and the other libraries' times as multiples of it.

python -m benchmarks.gpu_peers.tables [FILE]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..records import line

RESULT = Path(__file__).parents[1] / "results/gpu_peers.json"

OURS = "warpdyn"

Line = Mapping[str, Any]


class Table(NamedTuple):
    """A table: head of its first column, names of its rows, form of warpdyn's call, and the other libraries."""

    head: str
    row: Callable[[Line], str]
    form: str
    others: Sequence[str]


TABLES = {
    "dynamics": Table(
        "robot, algorithm",
        lambda x: f"{x['robot']} {x['algorithm']}",
        "bound call; graph",
        ("MuJoCo Warp", "MJX", "JaxSim", "Newton"),
    ),
    "steps": Table(
        "robot",
        lambda x: f"{x['robot']}{', in motion' * ('moving' in x)}",
        "4 steps a launch",
        ("MuJoCo Warp", "MJX", "Newton"),
    ),
    "scenes": Table("scene", lambda x: str(x["scene"]), "steps a launch", ("MuJoCo Warp",)),
}


def tables(content: Mapping[str, Any]) -> Iterator[str]:
    """Lines of all tables, and the reasons for missing times."""
    for part in TABLES:
        yield from (*rows(content["records"], part), "")
    yield from left_out(content["records"])


def rows(records: Iterable[Line], part: str) -> Iterator[str]:
    """Lines of a table: warpdyn's time in the table's form, and the fastest form of each other library."""
    table = TABLES[part]
    lines = [x for x in records if x["part"] == part and "why" not in x]
    ours = [x for x in lines if x["library"] == OURS and table.form in x["form"]]
    columns = [
        (envs, name)
        for envs in dict.fromkeys(x["envs"] for x in ours)
        for name in (OURS, *table.others)
        if any((x["envs"], x["library"]) == (envs, name) for x in lines)
    ]
    heads = (f"{envs:,} [us]" if name == OURS else name for envs, name in columns)
    yield line([table.head, *heads])
    yield "|---" * (len(columns) + 1) + "|"
    for key in dict.fromkeys(map(table.row, ours)):
        cells = [key]
        for envs, name in columns:
            one = fastest(x for x in ours if (table.row(x), x["envs"]) == (key, envs))
            other = fastest(
                x for x in lines if (table.row(x), x["envs"], x["library"]) == (key, envs, name)
            )
            if name == OURS:
                cells.append("" if one is None else f"{one:.1f}")
            else:
                cells.append("" if one is None or other is None else f"{other / one:.3g}×")
        yield line(cells)


def fastest(lines: Iterable[Line]) -> float | None:
    """Shortest time of some records [us]; None if there are none."""
    return min((x["us"] for x in lines), default=None)


def left_out(lines: Iterable[Line]) -> Iterator[str]:
    """Yield a line for each reason why a library has no time, with the number of cases."""
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

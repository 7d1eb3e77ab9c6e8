"""docs/fast.md's tables from the results folders that docs/figures.md names: `python -m benchmarks.fast_page`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from .figures_page import CALLS, ROOT, chosen
from .report import Run, read, short
from .two_threads import MICROSECONDS

PAGE = ROOT / "docs/fast.md"
BATCHES = (1, 64, 1024, 16384, 65536)
CALLED = (("panda", "rnea"), ("talos_reduced", "crba"))
WAYS = {
    "plain": "plain",
    "out": "`out=`",
    "bound": "bound",
    "own": "bound, `[n, B]`",
    "copy": "copy of the result",
}
WAYS_OF_TORCH = {
    "plain": "NumPy, plain",
    "torch": "plain",
    "torch backward": "forward and `backward`",
    "torch floor": "bare `autograd.Function` that runs the two bound kernels",
    "torch kernels": "the two bound kernels",
}
ROWS = (
    ("panda", "rnea"),
    ("panda", "aba"),
    ("panda", "crba"),
    ("panda", "fk"),
    ("panda", "rnea_derivatives"),
    ("talos_reduced", "rnea"),
    ("talos_reduced", "aba"),
    ("talos_reduced", "aba_derivatives"),
)
"""Small and large programs: the gains differ by them."""
FEW = 5
"""Rounds in which two processors were worth two, of which fewer say nothing."""

MARKS = "<!-- {} -->\n{}\n<!-- end of {} -->"


def measured(run: Run, robot: str, algorithm: str, **wanted: Any) -> dict[str, Any] | None:
    """The last line of warpdyn's own with these entries."""
    wanted = {"robot": robot, "algorithm": algorithm, "dtype": "float32", "threads": 1, **wanted}
    fitting = [r for r in run.own if all(r.get(key) == value for key, value in wanted.items())]
    return fitting[-1] if fitting else None


def calls(run: Run) -> str:
    """Time of a whole call, by way and batch."""
    shown = [way for way in WAYS if any(way in r["ns"] for r in run.calls)]
    rows = [
        "| | B | " + " | ".join(WAYS[way] for way in shown) + " |",
        "|---" * (len(shown) + 2) + "|",
    ]
    for r in run.calls:
        if (r["robot"], r["algorithm"]) in CALLED and r["batch"] in BATCHES:
            cells = (f"{short(r['ns'][way] * r['batch'] / 1e3)} us" for way in shown)
            rows.append(
                f"| {r['robot']} {r['algorithm']} | {r['batch']:,} | " + " | ".join(cells) + " |"
            )
    return "\n".join(rows)


def torch(run: Run) -> str:
    """Times of whole calls on tensors. "" if the bare `autograd.Function` was not measured."""
    shown = [way for way in WAYS_OF_TORCH if any(way in r["ns"] for r in run.calls)]
    if "torch floor" not in shown:
        return ""
    rows = ["| | B | " + " | ".join(WAYS_OF_TORCH[way] for way in shown) + " |"]
    rows.append("|---" * (len(shown) + 2) + "|")
    for r in run.calls:
        if all(way in r["ns"] for way in shown) and r["batch"] in BATCHES:
            cells = (f"{short(r['ns'][way] * r['batch'] / 1e3)} us" for way in shown)
            name = f"{r['robot']} {r['algorithm']}"
            rows.append(f"| {name} | {r['batch']:,} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def ways(run: Run) -> str:
    """Ratios by robot and algorithm, each of two ways that ran in turns."""
    rows = [
        "| | `[n, B]` memory over rows | float32 over float64 |",
        "|---|---|---|",
    ]
    for robot, algorithm in ROWS:
        at = (run, robot, algorithm)
        by_rows = measured(*at, batch=16384, layout="rows")
        single = run.main(robot, algorithm)
        double = measured(*at, batch=16384, layout="columns", dtype="float64")
        ratios = [
            by_rows["ns"] / by_rows["ns_of_columns"] if by_rows else None,
            double["ns"] / single["ns"] if double and single else None,
        ]
        cells = ("" if ratio is None else f"{ratio:.2f}×" for ratio in ratios)
        rows.append(f"| {robot} {algorithm} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def threads(folder: Path) -> str:
    """Two threads over one, and what two processes reached; "" where that was not measured."""
    file = folder / "two_threads.json"
    measured = json.loads(file.read_text())["measured"] if file.exists() else []
    by_case: dict[str, list[dict[str, Any]]] = {}
    for r in measured:
        by_case.setdefault(f"{r['robot']} {r['algorithm']}", []).append(r)
    if not by_case:
        return ""
    heads = (f"{us / 1000:g} ms on one thread" for us in MICROSECONDS)
    rows = ["| | " + " | ".join(heads) + " |", "|---" * (len(MICROSECONDS) + 1) + "|"]
    for name, found in by_case.items():
        cells = (_shared(r["worth it"]) for r in found)
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _shared(found: dict[str, Any]) -> str:
    if found["rounds"] < FEW:
        return "–"
    return f"{found['two threads']:.2f}× ({found['two processes']:.2f}×)"


def text(page: str, run: Run, called: Run, folder: Path) -> str:
    """The page with its tables made anew; `called`, `folder`: where ordinary calls were measured."""
    tables = {
        "calls": calls(called),
        "torch": torch(called),
        "ways": ways(run),
        "threads": threads(folder),
    }
    for name, table in tables.items():
        if not table:  # what stands there was measured otherwise
            continue
        place = re.compile(rf"<!-- {name} -->\n.*?<!-- end of {name} -->", re.DOTALL)
        page = place.sub(lambda _: MARKS.format(name, table, name), page)  # noqa: B023
    return page


def main() -> int:
    folder, of_calls = chosen(), chosen(CALLS)
    if folder is None or of_calls is None:
        print("docs/figures.md names no folders of results", file=sys.stderr)
        return 2
    PAGE.write_text(text(PAGE.read_text(), read(folder), read(of_calls), of_calls))
    print(f"{PAGE} has the figures of {folder.relative_to(ROOT)} and {of_calls.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

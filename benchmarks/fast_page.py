"""Update the tables of docs/fast.md: `python -m benchmarks.fast_page`.

docs/figures.md names the folders of results that they come from.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from .figures_page import CALLS, ROOT, folder_in_page
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
"""Small and large programs; the gains depend on the size."""
FEW = 5
"""Smallest number of rounds with two free processors that gives a ratio."""

MARKS = "<!-- {} -->\n{}\n<!-- end of {} -->"


def last_record(run: Run, robot: str, algorithm: str, **wanted: Any) -> dict[str, Any] | None:
    """The last record of warpdyn with these entries; None if there is none."""
    wanted = {"robot": robot, "algorithm": algorithm, "dtype": "float32", "threads": 1, **wanted}
    fitting = [r for r in run.own if all(r.get(key) == value for key, value in wanted.items())]
    return fitting[-1] if fitting else None


def call_table(run: Run) -> str:
    """Table with the time of a whole call, by kind of call and batch size."""
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


def torch_table(run: Run) -> str:
    """Table with the times of whole calls on tensors; "" if the bare `autograd.Function` was not measured."""
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


def ratio_table(run: Run) -> str:
    """Table of ratios by robot and algorithm, each between two variants that ran in turns."""
    rows = [
        "| | `[n, B]` memory over rows | float32 over float64 |",
        "|---|---|---|",
    ]
    for robot, algorithm in ROWS:
        at = (run, robot, algorithm)
        by_rows = last_record(*at, batch=16384, layout="rows")
        single = run.main(robot, algorithm)
        double = last_record(*at, batch=16384, layout="columns", dtype="float64")
        ratios = [
            by_rows["ns"] / by_rows["ns_of_columns"] if by_rows else None,
            double["ns"] / single["ns"] if double and single else None,
        ]
        cells = ("" if ratio is None else f"{ratio:.2f}×" for ratio in ratios)
        rows.append(f"| {robot} {algorithm} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def thread_table(folder: Path) -> str:
    """Table with the gain of two threads and of two processes; "" if it was not measured."""
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
        cells = (_thread_cell(r["worth it"]) for r in found)
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _thread_cell(found: dict[str, Any]) -> str:
    """Cell with the gain of two threads and, in brackets, of two processes; a dash if too few rounds count."""
    if found["rounds"] < FEW:
        return "–"
    return f"{found['two threads']:.2f}× ({found['two processes']:.2f}×)"


def update_page(page: str, run: Run, called: Run, folder: Path) -> str:
    """The page with new tables. `called` and `folder` are the results with whole calls."""
    tables = {
        "calls": call_table(called),
        "torch": torch_table(called),
        "ways": ratio_table(run),
        "threads": thread_table(folder),
    }
    for name, table in tables.items():
        if not table:  # the page has a table from another run
            continue
        place = re.compile(rf"<!-- {name} -->\n.*?<!-- end of {name} -->", re.DOTALL)
        page = place.sub(lambda _: MARKS.format(name, table, name), page)  # noqa: B023
    return page


def main() -> int:
    """Update the page."""
    folder, of_calls = folder_in_page(), folder_in_page(CALLS)
    if folder is None or of_calls is None:
        print(
            "docs/figures.md names no folders of results: run `python -m benchmarks.figures_page FOLDER`",
            file=sys.stderr,
        )
        return 2
    PAGE.write_text(update_page(PAGE.read_text(), read(folder), read(of_calls), of_calls))
    print(f"{PAGE} has the figures of {folder.relative_to(ROOT)} and {of_calls.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

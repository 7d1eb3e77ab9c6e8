"""The tables of docs/figures.md from folders of results: `python -m benchmarks.figures_page [FOLDER ...]`.

Marks in the page name two folders: one for the kernels, one for the calls. A folder that is named on the
command line replaces the one whose kind of lines it has.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import median

from .report import Run, line, read, short

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/figures.md"
START, END = "<!-- figures of {} -->", "<!-- end of figures -->"
PLACE = re.compile(r"<!-- figures of (\S+) -->\n.*?<!-- end of figures -->", re.DOTALL)

CALLS = re.compile(r"<!-- calls of (\S+) -->\n.*?<!-- end of calls -->", re.DOTALL)
SHOWN = (1, 1024, 16384, 65536)
"""Batches of the table of calls."""

ALGORITHMS = (
    "rnea",
    "aba",
    "crba",
    "fk",
    "jacobian",
    "mass_matrix_inverse",
    "rnea_derivatives",
    "aba_derivatives",
)


def chosen(place: re.Pattern[str] = PLACE) -> Path | None:
    """The folder that the page names; None where it has no marks."""
    found = place.search(PAGE.read_text())
    return ROOT / found[1] if found else None


def calls_table(run: Run) -> str:
    """What a plain call takes, and the kernel alone, for one robot."""
    found = {(r["robot"], r["algorithm"], r["batch"]): r for r in run.calls}
    shown = [batch for batch in SHOWN if any(key[2] == batch for key in found)]
    rows = [line(["", *(f"B = {batch:,}" for batch in shown)]), "|---" * (len(shown) + 1) + "|"]
    for robot, algorithm in dict.fromkeys(key[:2] for key in found):
        records = [found.get((robot, algorithm, batch)) for batch in shown]
        cells = (r and [short(r["ns"][way]) for way in ("plain", "own", "copy")] for r in records)
        rows.append(
            line(
                [
                    f"{robot} {algorithm}",
                    *(f"**{c[0]}**, {c[1]}, {c[2]}" if c else "" for c in cells),
                ]
            )
        )
    about = run.about
    said = (
        "Nanoseconds per robot, three numbers in each cell: **the plain call**, which allocates its result and uses "
        "row-major arrays, the bound kernel on `[n, B]` memory, and a copy of as many bytes as the result has. "
        f"{about['hardware']}, one core, float32, {about['date']}"
        f"{busy(run)}."
    )
    return f"{said}\n\n" + "\n".join(rows)


def busy(run: Run) -> str:
    """Remark on other processes, if the machine was loaded while calls were measured."""
    loads = [r.get("load", 0.0) for r in run.calls]
    load = median(loads) if loads else 1.0
    return f", on a machine that other processes also used (load {load:.0f})" if load > 1.5 else ""


def cell(run: Run, robot: str, algorithm: str) -> tuple[str, float | None]:
    """Time of one robot and Pinocchio's ratio to it, one reading each; and the best peer's ratio."""
    own, rivals = run.main(robot, algorithm), run.rivals(robot, algorithm)
    if own is None:
        return "", None
    shown = f"{short(own['ns'])} ns"
    pinocchio = [r["ns"] / own["ns"] for r in rivals if r["peer"] == "pinocchio"]
    if pinocchio:
        shown += f"<br>**{pinocchio[0]:.0f}×**"
    return shown, min((r["ns"] / own["ns"] for r in rivals), default=None)


def table(run: Run, folder: Path) -> str:
    """Time for one robot, and how many times as long Pinocchio's call takes; the best peers in a sentence."""
    shown = [a for a in ALGORITHMS if a in run.algorithms]
    names = {"fk": "fk, all links", "jacobian": "jacobian, one frame"}
    rows = [
        "| robot, degrees of freedom | " + " | ".join(names.get(a, a) for a in shown) + " |",
        "|---" * (len(shown) + 1) + "|",
    ]
    best = []
    for robot in run.robots:
        cells = [f"{robot}, {next(r['nv'] for r in run.own if r['robot'] == robot)}"]
        for algorithm in shown:
            text, ratio = cell(run, robot, algorithm)
            cells.append(text)
            best += [ratio] if ratio else []
        rows.append("| " + " | ".join(cells) + " |")
    about = run.about
    said = (
        f"Time per robot and, in bold, **Pinocchio's time as a multiple of it**. {about['hardware']}, one core, "
        f"float32, B = 16,384, `[n, B]` memory, bound calls, {about['date']}."
    )
    peers = (
        f"For each cell the fastest of all peers takes {min(best):.0f} to {max(best):.0f} times as long as warpdyn. "
        f"All results are in the [report]({report_link(folder)})."
        if best
        else f"All results are in the [report]({report_link(folder)})."
    )
    return f"{said}\n\n" + "\n".join(rows) + f"\n\n{peers}"


def report_link(folder: Path) -> str:
    """The folder's report, from the page."""
    return f"../{folder.relative_to(ROOT)}/report.md"


def text(run: Run, folder: Path) -> str:
    return f"{START.format(folder.relative_to(ROOT))}\n{table(run, folder)}\n{END}"


def stands(run: Run, folder: Path) -> bool:
    return text(run, folder) in PAGE.read_text()


def text_of_calls(run: Run, folder: Path) -> str:
    marks = f"<!-- calls of {folder.relative_to(ROOT)} -->", "<!-- end of calls -->"
    return f"{marks[0]}\n{calls_table(run)}\n{marks[1]}"


def main() -> int:
    given = [Path(name).resolve() for name in sys.argv[1:]]
    ways = (PLACE, text, lambda run: run.own), (CALLS, text_of_calls, lambda run: run.calls)
    for place, written, lines in ways:
        folder = next((x for x in given if lines(read(x))), chosen(place))
        page = PAGE.read_text()
        if folder is None or not place.search(page):
            marks = START.format("FOLDER"), END
            print(f"{PAGE} has no place for figures: add the lines {marks}", file=sys.stderr)
            return 2
        table_text = written(read(folder), folder)
        PAGE.write_text(place.sub(lambda _, new=table_text: new, page))
        print(f"{PAGE} has the figures of {folder.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

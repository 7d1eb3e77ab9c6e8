"""Update the tables of docs/figures.md: `python -m benchmarks.figures_page [FOLDER ...]`.

Comments in the page name two folders of results: one for kernels, one for whole calls. A folder on the
command line replaces the folder that has the same kind of records.
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
"""Batch sizes in the table of calls."""

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


def folder_in_page(place: re.Pattern[str] = PLACE) -> Path | None:
    """The folder that the page names; None if it names none."""
    found = place.search(PAGE.read_text())
    return ROOT / found[1] if found else None


def calls_table(run: Run) -> str:
    """Table with the times per robot of a plain call, of the kernel and of a copy."""
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
        f"{load_remark(run)}."
    )
    return f"{said}\n\n" + "\n".join(rows)


def load_remark(run: Run) -> str:
    """Remark on other processes if the machine was loaded during the measurement; else ""."""
    loads = [r.get("load", 0.0) for r in run.calls]
    load = median(loads) if loads else 1.0
    return f", on a machine that other processes also used (load {load:.0f})" if load > 1.5 else ""


def cell(run: Run, robot: str, algorithm: str) -> tuple[str, float | None]:
    """Time per robot with Pinocchio's ratio to it, and the ratio of the fastest peer."""
    own, rivals = run.main(robot, algorithm), run.rivals(robot, algorithm)
    if own is None:
        return "", None
    shown = f"{short(own['ns'])} ns"
    pinocchio = [r["ns"] / own["ns"] for r in rivals if r["peer"] == "pinocchio"]
    if pinocchio:
        shown += f"<br>**{pinocchio[0]:.0f}×**"
    return shown, min((r["ns"] / own["ns"] for r in rivals), default=None)


def table(run: Run, folder: Path) -> str:
    """Table with the time per robot and Pinocchio's ratio to it, and a sentence on the fastest peers."""
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
    """Link from the page to the folder's report."""
    return f"../{folder.relative_to(ROOT)}/report.md"


def kernel_section(run: Run, folder: Path) -> str:
    """Section of the kernels, with its comments."""
    return f"{START.format(folder.relative_to(ROOT))}\n{table(run, folder)}\n{END}"


def is_current(run: Run, folder: Path) -> bool:
    """True if the page has the section of this run."""
    return kernel_section(run, folder) in PAGE.read_text()


def call_section(run: Run, folder: Path) -> str:
    """Section of the calls, with its comments."""
    marks = f"<!-- calls of {folder.relative_to(ROOT)} -->", "<!-- end of calls -->"
    return f"{marks[0]}\n{calls_table(run)}\n{marks[1]}"


def main() -> int:
    """Update both sections."""
    given = [Path(name).resolve() for name in sys.argv[1:]]
    ways = (
        (PLACE, kernel_section, lambda run: run.own),
        (CALLS, call_section, lambda run: run.calls),
    )
    for place, written, lines in ways:
        folder = next((x for x in given if lines(read(x))), folder_in_page(place))
        page = PAGE.read_text()
        if folder is None or not place.search(page):
            marks = START.format("FOLDER"), END
            print(f"{PAGE} has no section for figures: add the lines {marks}", file=sys.stderr)
            return 2
        table_text = written(read(folder), folder)
        PAGE.write_text(place.sub(lambda _, new=table_text: new, page))
        print(f"{PAGE} now has the figures of {folder.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

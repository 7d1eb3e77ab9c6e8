"""README's table of figures from a results folder: `python -m benchmarks.readme [FOLDER]`.

The folder is named between the marks in README.md; with an argument, that one is put there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .report import Run, read, short

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START, END = "<!-- figures of {} -->", "<!-- end of figures -->"
PLACE = re.compile(r"<!-- figures of (\S+) -->\n.*?<!-- end of figures -->", re.DOTALL)

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


def chosen() -> Path | None:
    """The folder that README.md names; None where it has no marks."""
    found = PLACE.search(README.read_text())
    return ROOT / found[1] if found else None


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
        f"Time for one robot, and **how many times as long Pinocchio takes for it**: {about['hardware']}, one core, "
        f"float32, B = 16,384, `[n, B]` memory, bound calls, {about['date']}."
    )
    peers = (
        f"For each cell the fastest of all peers takes {min(best):.0f} to {max(best):.0f} times as long as warpdyn: "
        f"[all of it]({folder.relative_to(ROOT)}/report.md)."
        if best
        else f"[All of it]({folder.relative_to(ROOT)}/report.md)."
    )
    return f"{said}\n\n" + "\n".join(rows) + f"\n\n{peers}"


def text(run: Run, folder: Path) -> str:
    return f"{START.format(folder.relative_to(ROOT))}\n{table(run, folder)}\n{END}"


def stands(run: Run, folder: Path) -> bool:
    return text(run, folder) in README.read_text()


def main() -> int:
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else chosen()
    readme = README.read_text()
    if folder is None or not PLACE.search(readme):
        print(
            f"{README} has no place for figures: add the lines {START.format('FOLDER')} and {END}",
            file=sys.stderr,
        )
        return 2
    README.write_text(PLACE.sub(lambda _: text(read(folder), folder), readme))
    print(f"{README} has the figures of {folder.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

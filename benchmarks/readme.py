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


def table(run: Run, folder: Path) -> str:
    """ns for one robot, and how many times Pinocchio's call and the best peer take."""
    shown = [a for a in ALGORITHMS if a in run.algorithms]
    names = {"fk": "fk, all links", "jacobian": "jacobian, one frame"}
    rows = [
        "| ns per robot (times Pinocchio; times the best peer) | "
        + " | ".join(names.get(a, a) for a in shown)
        + " |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for robot in run.robots:
        cells = [f"{robot}, {next(r['nv'] for r in run.own if r['robot'] == robot)}"]
        for algorithm in shown:
            own, rivals = run.main(robot, algorithm), run.rivals(robot, algorithm)
            if own is None:
                cells.append("")
                continue
            pin = [r["ns"] for r in rivals if r["peer"] == "pinocchio"]
            best = min((r["ns"] for r in rivals), default=None)
            times = "; ".join(f"{x / own['ns']:.0f}" for x in (pin[0] if pin else None, best) if x)
            cells.append(f"{short(own['ns'])} ({times})" if times else short(own["ns"]))
        rows.append("| " + " | ".join(cells) + " |")
    about = run.about
    said = f"{about['hardware']}, **one core**, float32, B = 16,384, `[n, B]` memory, bound calls, {about['date']}"
    link = f"[all of it]({folder.relative_to(ROOT)}/report.md)"
    return f"{said}; robots with their degrees of freedom; {link}.\n\n" + "\n".join(rows)


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

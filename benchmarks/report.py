"""The records as tables (report.md) and a picture, beside the figures to reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .cases import ALGORITHMS, FLOAT64_SHARE, ROBOTS, ROWS_TIME, STARTS, TIMES_PINOCCHIO, TWO_THREADS

Record = Mapping[str, Any]


def write(folder: Path, about: Record, records: Sequence[Record], starts: Mapping[str, float]) -> None:
    (folder / "report.md").write_text("\n".join(lines(about, records, starts)) + "\n")
    draw(folder / "throughput.png", about, records)


def lines(about: Record, records: Sequence[Record], starts: Mapping[str, float]) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    yield f"# {about['hardware']}, {about['date']}\n"
    yield f"{versions}; commit {about['commit']}. Medians; a row's columns and the peer took turns on one core."
    yield "ns: nanoseconds for one environment of a batch of 16,384. Peer: Pinocchio, float64, called from Python.\n"
    yield (
        "| robot, algorithm | peer [ns] | float32 [ns] | times peer (to reach) | float64 [ns] | times peer (to reach) "
        f"| rows / columns (at most {ROWS_TIME}) | 2 threads (at least {TWO_THREADS}) | plain call [ns] "
        "| error float32, float64 | compile cold, warm [s] |"
    )
    yield "|---" * 11 + "|"
    for robot in ROBOTS:
        for algorithm in ALGORITHMS:
            own = [r for r in records if (r["robot"], r["algorithm"]) == (robot, algorithm)]
            if own:
                yield _row(robot, algorithm, own)
    yield "\n| start | measured | at most |\n|---|---|---|"
    for name, most in STARTS.items():
        if name in starts:
            yield f"| {name} | {_held(starts[name], starts[name] <= most, '.3g')} | {most:g} |"
    if "cores_worth" in about:
        worth = about["cores_worth"]
        yield f"\nBusy processes on all cores together did {worth} times the work of one: threads cannot gain more."
    yield "\nBold: the figure is not reached."


def _row(robot: str, algorithm: str, records: Sequence[Record]) -> str:
    def find(dtype: str = "float32", layout: str = "columns", threads: int = 1) -> Record | None:
        wanted = (dtype, layout, threads)
        return next((r for r in records if (r["dtype"], r["layout"], r["threads"]) == wanted), None)

    single, double, rows, two = find(), find(dtype="float64"), find(layout="rows"), find(threads=2)
    target = TIMES_PINOCCHIO.get((robot, algorithm))
    cells = [f"{robot} {algorithm}"]
    cells.append(f"{records[0]['peer_ns']:.0f}")
    for record, share in ((single, 1.0), (double, FLOAT64_SHARE)):
        if record is None:
            cells += ["", ""]
            continue
        cells.append(f"{record['ns']:.1f}")
        if target is None:
            cells.append(f"{record['ratio']:.1f}")
        else:
            cells.append(f"{_held(record['ratio'], record['ratio'] >= share * target)} ({share * target:g})")
    for other, compare in (
        (rows, lambda a, b: (a / b, a / b <= ROWS_TIME)),
        (two, lambda a, b: (b / a, b / a >= TWO_THREADS)),
    ):
        cells.append(_held(*compare(other["ns"], single["ns"]), ".2f") if other and single else "")
    cells.append(f"{single['ns_of_plain_call']:.1f}" if single else "")
    cells.append(", ".join(f"{r['worst_relative_error']:.0e}" for r in (single, double) if r))
    compiled = single and single.get("cold_seconds")
    cells.append(f"{single['cold_seconds']:.1f}, {single['warm_seconds']:.2f}" if single and compiled else "")
    return "| " + " | ".join(cells) + " |"


def _held(value: float, held: bool, form: str = ".0f") -> str:
    text = f"{value:{form}}"
    return text if held else f"**{text}**"


def draw(path: Path, about: Record, records: Sequence[Record]) -> None:
    """Throughput of one core by Pinocchio's, float32 and float64, with a mark at what is to be reached."""
    from matplotlib.figure import Figure

    pairs = list(dict.fromkeys((r["robot"], r["algorithm"]) for r in records))
    canvas = Figure(figsize=(9, 5), layout="constrained")
    axes = canvas.subplots()
    for shift, dtype in ((-0.2, "float32"), (0.2, "float64")):
        for place, pair in enumerate(pairs):
            for r in records:
                same = (r["robot"], r["algorithm"]) == pair and r["dtype"] == dtype
                if same and r["layout"] == "columns" and r["threads"] == 1:
                    color = "C0" if dtype == "float32" else "C1"
                    axes.bar(place + shift, r["ratio"], width=0.4, color=color, label=dtype if place == 0 else None)
            if pair in TIMES_PINOCCHIO:
                target = TIMES_PINOCCHIO[pair] * (1.0 if dtype == "float32" else FLOAT64_SHARE)
                axes.hlines(target, place + shift - 0.2, place + shift + 0.2, color="black")
    names = [f"{robot.replace('_', ' ')} {algorithm}".replace(" ", chr(10)) for robot, algorithm in pairs]
    axes.set_xticks(range(len(pairs)), names, fontsize="small")
    axes.set_ylabel("throughput, one core, times Pinocchio's Python call")
    axes.set_title(f"B = 16,384, {about['hardware']} (lines: what is to be reached)", fontsize="medium")
    axes.grid(axis="y", alpha=0.3)
    if pairs:
        axes.legend()
    canvas.savefig(path, dpi=120)

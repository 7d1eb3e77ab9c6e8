"""The lines of a run as tables, beside the figures to reach: report.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import cases as lists
from .algorithms import ALGORITHMS
from .limit import floor_ns

Record = Mapping[str, Any]


@dataclass
class Run:
    """What was measured, sorted."""

    about: Record = field(default_factory=dict)
    starts: Record = field(default_factory=dict)
    compiled: dict[tuple[str, str], Record] = field(default_factory=dict)
    own: list[Record] = field(default_factory=list)
    peers: list[Record] = field(default_factory=list)

    @property
    def robots(self) -> list[str]:
        return list(dict.fromkeys(r["robot"] for r in self.own))

    @property
    def algorithms(self) -> list[str]:
        found = {r["algorithm"] for r in self.own}
        return [name for name in ALGORITHMS if name in found]

    def plain(self, robot: str, algorithm: str) -> list[Record]:
        """Float32, one core, [n, B], by batch."""
        found = [r for r in self.own if (r["robot"], r["algorithm"]) == (robot, algorithm) and _is_plain(r)]
        return sorted(found, key=lambda r: r["batch"])

    def main(self, robot: str, algorithm: str) -> Record | None:
        """The plain case at the batch of the figures, or at the largest below it."""
        found = [r for r in self.plain(robot, algorithm) if r["batch"] <= lists.BATCH] or self.plain(robot, algorithm)
        return found[-1] if found else None

    def other(self, robot: str, algorithm: str, **wanted: Any) -> Record | None:
        for r in self.own:
            if (r["robot"], r["algorithm"]) == (robot, algorithm) and all(r.get(k) == v for k, v in wanted.items()):
                return r
        return None

    def rivals(self, robot: str, algorithm: str) -> list[Record]:
        """Peers that were timed on one core."""
        at = (robot, algorithm)
        return [r for r in self.peers if (r["robot"], r["algorithm"]) == at and "ns" in r and r["threads"] == 1]


def _is_plain(r: Record) -> bool:
    return "ns" in r and (r["dtype"], r["layout"], r["threads"]) == ("float32", "columns", 1)


def read(folder: Path) -> Run:
    """What was measured again replaces what was measured before."""
    run, timed = Run(), dict[tuple, Record]()
    for line in (folder / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        kind = record.pop("kind")
        if kind == "about":
            run.about = {**record, "versions": {**run.about.get("versions", {}), **record["versions"]}}
        elif kind == "starts":
            run.starts = record
        elif kind == "compile":
            run.compiled[record["robot"], record["algorithm"]] = record
        else:
            timed[tuple(record.get(name) for name in KEY)] = record
    for record in timed.values():
        (run.own if record["library"] == "warpdyn" else run.peers).append(record)
    order = {name: k for k, name in enumerate(lists.ROBOTS)}
    run.own.sort(key=lambda r: order.get(r["robot"], len(order)))
    return run


KEY = ("library", "robot", "algorithm", "batch", "dtype", "layout", "device", "threads")
"""What tells one measurement from another."""


def write(folder: Path, run: Run) -> None:
    (folder / "report.md").write_text("\n".join(lines(run)) + "\n")


def lines(run: Run) -> Iterator[str]:
    about = run.about
    yield f"# {about['hardware']}, {about['date']}\n"
    yield ", ".join(f"{name} {version}" for name, version in about["versions"].items()) + f"; commit {about['commit']}."
    yield f"Load of the machine at the start: {about['load']}. Every line is in `results.jsonl`.\n"
    yield "Medians of turns that all cases and peers of a row took one after the other. ns: nanoseconds for one robot."
    yield "One core, float32, `[n, B]` memory, bound calls, unless said otherwise. Bold: a figure not reached.\n"
    for part in (_against_pinocchio, _gradients, _peers, _blanks, _ways, _flat, _floors, _compile, _starts):
        yield from part(run)


def _table(header: str, rows: Sequence[str], title: str, text: str = "") -> Iterator[str]:
    if rows:
        yield f"## {title}\n"
        if text:
            yield text + "\n"
        yield header
        yield "|---" * (header.count("|") - 1) + "|"
        yield from rows
        yield ""


def held(value: float, good: bool, form: str = ".0f") -> str:
    text = f"{value:{form}}"
    return text if good else f"**{text}**"


def short(ns: float) -> str:
    """Three digits."""
    return f"{ns:,.0f}" if ns >= 100 else f"{ns:.3g}"


def _rows(run: Run, row: Callable[[str, str], str | None]) -> list[str]:
    found = (row(robot, algorithm) for robot in run.robots for algorithm in run.algorithms)
    return [x for x in found if x]


def _against_pinocchio(run: Run) -> Iterator[str]:
    def row(robot: str, algorithm: str) -> str | None:
        own, pin = run.main(robot, algorithm), [r for r in run.rivals(robot, algorithm) if r["peer"] == "pinocchio"]
        if own is None or not pin:
            return None
        times, target = pin[0]["ns"] / own["ns"], lists.TIMES_PINOCCHIO.get((robot, algorithm))
        double = run.other(robot, algorithm, dtype="float64", layout="columns", threads=1)
        cells = [f"{robot} {algorithm}", short(pin[0]["ns"]), short(own["ns"])]
        cells += [f"{short(own['ns_low'])} to {short(own['ns_high'])}", held(times, target is None or times >= target)]
        cells.append(f"{target:g}" if target else "")
        if double is None:
            cells += ["", ""]
        else:
            share = pin[0]["ns"] / double["ns"]
            cells += [short(double["ns"]), held(share, target is None or share >= lists.FLOAT64_SHARE * target)]
        cells += [f"{own['worst_relative_error']:.0e}", f"{pin[0]['worst_relative_error']:.0e}"]
        return "| " + " | ".join(cells) + " |"

    yield from _table(
        "| robot, algorithm | Pinocchio [ns] | warpdyn [ns] | quartiles | times | to reach | float64 [ns] | times "
        "| float32 error | float64 error |",
        _rows(run, row),
        "Beside Pinocchio's Python call",
        f"{_batches(run)} Float64 is asked {lists.FLOAT64_SHARE:g} of the times of float32. Errors are relative to the "
        "largest entry: float32 from float64 warpdyn, float64 from Pinocchio.",
    )


def _batches(run: Run) -> str:
    main = [run.main(robot, algorithm) for robot in run.robots for algorithm in run.algorithms]
    sizes = sorted({r["batch"] for r in main if r})
    return "B = " + ", ".join(f"{size:,}" for size in sizes) + "."


def _gradients(run: Run) -> Iterator[str]:
    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        if own is None or "times_primal" not in own:
            return None
        target = lists.TIMES_PRIMAL.get(algorithm)
        times = held(own["times_primal"], target is None or own["times_primal"] <= target, ".2f")
        rivals = sorted(run.rivals(robot, algorithm), key=lambda r: r["ns"])
        others = "; ".join(f"{r['library']} {short(r['ns'])} ({r['ns'] / own['ns']:,.0f} times)" for r in rivals)
        cells = [robot, ALGORITHMS[algorithm].title, short(own["ns"]), short(own["primal_ns"]), times]
        cells += [f"{target:g}" if target else "", f"{own['worst_relative_error']:.0e}", others]
        return "| " + " | ".join(cells) + " |"

    yield from _table(
        "| robot | gradient | ns | of itself [ns] | times | at most | float32 error | peers' autodiff [ns] |",
        _rows(run, row),
        "Gradients",
        "Vector-Jacobian products by all inputs; of forward dynamics with its result given. Peers: forward pass too.",
    )


def _peers(run: Run) -> Iterator[str]:
    names = list(dict.fromkeys(r["library"] for r in run.peers if "ns" in r))

    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        if own is None or not names:
            return None
        found = {
            (r["library"], r["threads"]): r
            for r in run.peers
            if (r["robot"], r["algorithm"]) == (robot, algorithm) and "ns" in r
        }
        best = min((r["ns"] for (_, threads), r in found.items() if threads == 1), default=None)
        target = lists.TIMES_BEST_PEER.get(algorithm) if robot in ("panda", "talos_reduced") else 1.0
        times = "" if best is None else held(best / own["ns"], target is None or best / own["ns"] >= target)
        cells = [f"{robot} {algorithm}", short(own["ns"]), times]
        for name in names:
            each = [
                f"{short(r['ns'])}" + (f" ({n} threads)" if n > 1 else "") for (x, n), r in found.items() if x == name
            ]
            cells.append(", ".join(each))
        return "| " + " | ".join(cells) + " |"

    header = "| robot, algorithm | warpdyn [ns] | times the best on one core | " + " | ".join(names) + " |"
    yield from _table(
        header,
        _rows(run, row),
        "Beside every peer",
        "Each peer in batches of up to 4,096 (loops: 256 different states), in its own compiled form, "
        "after its results were found equal; "
        "precision as it offers: Pinocchio and MuJoCo float64, all others float32. An empty cell has its reason below. "
        f"To reach: {', '.join(f'{k} {v:g}' for k, v in lists.TIMES_BEST_PEER.items())} times the best on panda and "
        "talos_reduced, all else and all others 1.",
    )
    forms: dict[tuple[str, str], list[str]] = {}
    first: dict[str, float] = {}
    error: dict[str, float] = {}
    for r in run.peers:
        if "ns" in r:
            forms.setdefault((r["library"], r["form"]), []).append(r["algorithm"])
            first[r["library"]] = max(first.get(r["library"], 0.0), r["first_call_seconds"])
            error[r["library"]] = max(error.get(r["library"], 0.0), r["worst_relative_error"])
    rows = []
    for name in names:
        calls = [f"{', '.join(dict.fromkeys(done))}: {form}" for (x, form), done in forms.items() if x == name]
        rows.append(f"| {name} | {'<br>'.join(calls)} | {first[name]:.1f} | {error[name]:.0e} |")
    yield from _table(
        "| peer | how it is called | slowest first call [s] | largest difference |", rows, "How the peers are called"
    )


def _blanks(run: Run) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for r in run.peers:
        if "blank" in r:
            reasons.setdefault((r["library"], r["blank"]), []).append(f"{r['robot']} {r['algorithm']}")
    rows = []
    for (name, why), cells in reasons.items():
        algorithms = list(dict.fromkeys(x.split()[1] for x in cells))
        robots = list(dict.fromkeys(x.split()[0] for x in cells))
        where = "all robots" if len(robots) == len(run.robots) else ", ".join(robots)
        rows.append(f"| {name} | {', '.join(algorithms)} | {where} | {why.replace('|', '/')} |")
    rows += [f"| {key} | all | all | {why} |" for key, why in run.about.get("left_out", {}).items()]
    rows += [f"| warpdyn | {r['algorithm']} | {r['robot']} | {r['blank']} |" for r in run.own if "blank" in r]
    yield from _table("| peer | algorithms | robots | why there is no number |", rows, "Empty cells")


def _ways(run: Run) -> Iterator[str]:
    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        rows = run.other(robot, algorithm, layout="rows")
        two = next(
            (r for r in run.own if (r["robot"], r["algorithm"]) == (robot, algorithm) and r.get("threads", 1) > 1), None
        )
        if own is None or (rows is None and two is None):
            return None
        cells = [f"{robot} {algorithm}", short(own["ns"]), short(own["ns_of_plain_call"])]
        cells.append(held(rows["ns"] / own["ns"], rows["ns"] / own["ns"] <= lists.ROWS_TIME, ".2f") if rows else "")
        cells.append(held(own["ns"] / two["ns"], own["ns"] / two["ns"] >= lists.TWO_THREADS, ".2f") if two else "")
        return "| " + " | ".join(cells) + " |"

    worth = run.starts.get("cores_worth")
    said = (
        f" Busy processes on all cores together did {worth} times the work of one: threads cannot gain more."
        if worth
        else ""
    )
    yield from _table(
        f"| robot, algorithm | bound call [ns] | plain call [ns] | rows by columns (at most {lists.ROWS_TIME}) "
        f"| 2 threads (at least {lists.TWO_THREADS}) |",
        _rows(run, row),
        "Memory order, threads",
        said.strip(),
    )


def _flat(run: Run) -> Iterator[str]:
    batches = sorted({r["batch"] for r in run.own if "ns" in r and _is_plain(r)})

    def row(robot: str, algorithm: str) -> str | None:
        found = {r["batch"]: r["ns"] for r in run.plain(robot, algorithm)}
        if len(found) < 2:
            return None
        cells = [f"{robot} {algorithm}", *(short(found[b]) if b in found else "" for b in batches)]
        ends = [found[b] for b in (4096, lists.BATCH, 65536) if b in found]
        change = max(ends) / min(ends) - 1 if len(ends) > 1 else 0.0
        cells.append(held(100 * change, change <= lists.FLAT) if len(ends) > 1 else "")
        return "| " + " | ".join(cells) + " |"

    header = "| robot, algorithm | " + " | ".join(f"B = {b:,}" for b in batches) + " | change from 4,096 on [%] |"
    yield from _table(
        header,
        _rows(run, row),
        "Batches",
        f"ns for one robot. At most {100 * lists.FLAT:.0f}% between 4,096 and 65,536.",
    )


def _floors(run: Run) -> Iterator[str]:
    limits = run.about.get("limits")
    if not limits:
        return

    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        if own is None:
            return None
        floor, what = floor_ns(limits, own["operations"], own["bytes"], own["batch"])
        cells = [f"{robot} {algorithm}", f"{own['operations']:,}", f"{own['bytes']:,}", short(own["ns"])]
        cells += [f"{own['operations'] / own['ns']:.1f}", f"{own['bytes'] / own['ns']:.1f}"]
        cells += [f"{short(floor)} ({what})", f"{own['ns'] / floor:.1f}"]
        return "| " + " | ".join(cells) + " |"

    copies = ", ".join(f"{_size(float(s))} {rate / 1e9:.0f}" for s, rate in limits["copy"].items())
    yield from _table(
        "| robot, algorithm | operations | bytes | ns | operations/ns | bytes/ns | floor [ns] | times the floor |",
        _rows(run, row),
        "How far from the floor",
        f"{limits['unit']}, measured in this run: copies move (GB/s, both ways, by bytes moved) {copies}; "
        f"multiply-adds do {limits['operations'] / 1e9:.0f} G operations/s. The floor of a program is the longer of "
        "its operations at that rate and its bytes at the rate of a copy as large as the batch. A fused multiply-add "
        "counts two; sines and cosines are not counted. Where additions run on a pipe of their own, the floor by "
        "arithmetic can be passed.",
    )


def _size(size: float) -> str:
    return f"{size / 1024:.0f} KiB:" if size < 1 << 20 else f"{size / (1 << 20):.0f} MiB:"


def _compile(run: Run) -> Iterator[str]:
    rows = [
        f"| {robot} | "
        + " | ".join(
            f"{run.compiled[robot, a]['cold']:.1f}, {run.compiled[robot, a]['warm']:.2f}"
            if (robot, a) in run.compiled
            else ""
            for a in run.algorithms
        )
        + " |"
        for robot in run.robots
        if any(key[0] == robot for key in run.compiled)
    ]
    yield from _table(
        "| robot | " + " | ".join(run.algorithms) + " |",
        rows,
        "Seconds of the first call, cold and warm",
        "Recording, compiling and running with an empty cache; with a full one in another process. Float32; the first "
        "column also pays for Warp's first kernel.",
    )


def _starts(run: Run) -> Iterator[str]:
    rows = []
    for name, value in run.starts.get("figures", {}).items():
        most = lists.STARTS.get(name)
        rows.append(f"| {name} | {held(value, most is None or value <= most, '.3g')} | {most or ''} |")
    yield from _table("| start | measured | at most |", rows, "Starts, latency, memory")

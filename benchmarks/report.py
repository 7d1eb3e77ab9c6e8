"""Write report.md: the records of a run as tables, with the targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from . import calls
from . import cases as lists
from .records import Run, Target, is_plain, line, read, rows_of, short, table
from .report_peers import against_pinocchio, beside_all, gradients
from .roofline import floor_ns

__all__ = ["Run", "line", "lines", "read", "short", "write"]

WHY, FIRST_CALLS = "where_the_time_goes.md", "first_calls.md"


def write(folder: Path, run: Run) -> None:
    pages = {
        page.name: page.read_text()
        for page in sorted(folder.glob("*.md"))
        if page.name != "report.md"
    }
    (folder / "report.md").write_text("\n".join(lines(run, pages)) + "\n")


def lines(run: Run, pages: Mapping[str, str] | None = None) -> Iterator[str]:
    """Lines of the report. `pages`: names of other pages in the folder."""
    pages = pages or {}
    about = run.about
    yield f"# {about['hardware']}, {about['date']}\n"
    yield (
        ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        + f"; commit {about['commit']}."
    )
    others = (
        f" Beside this page: {', '.join(f'[{name}]({name})' for name in pages)}." if pages else ""
    )
    yield f"Load of the machine at the start: {about['load']}. Every line is in `results.jsonl`.{others}\n"
    yield "Medians of turns that all cases and peers of a row took one after the other. ns: nanoseconds for one robot."
    yield "One core, float32, `[n, B]` memory, bound calls, unless said otherwise. Bold: a figure not reached.\n"
    run.asked.clear()
    parts = (
        calls.page,
        against_pinocchio,
        gradients,
        beside_all,
        _ways,
        _flat,
        _scaling,
        _floors,
        _compile,
        _starts,
        _memory,
    )
    body = [text for part in parts for text in part(run)]
    yield from _missed_targets(run, pages)
    yield from body


def _missed_targets(run: Run, pages: Mapping[str, str]) -> Iterator[str]:
    """Lines of a table with a row for each missed target and robot."""
    groups: dict[tuple[str, str], list[Target]] = {}
    for a in run.asked:
        groups.setdefault((a.figure, a.robot), []).append(a)
    rows = []
    order = list(dict.fromkeys(figure for figure, _ in groups))
    for (figure, robot), asked in sorted(
        groups.items(), key=lambda group: order.index(group[0][0])
    ):
        missed = sorted((a for a in asked if not a.is_reached), key=lambda a: -a.missing)
        if missed:
            same = len({a.wanted for a in asked}) == 1
            bound = ("at least" if missed[0].least else "at most") + (
                f" {missed[0].wanted:g}" if same else ""
            )
            each = (str(a) if same else f"{a}, asked {a.wanted:g}" for a in missed)
            rows.append(
                line(
                    [f"{figure}, {bound}", robot, f"{len(missed)} of {len(asked)}", "; ".join(each)]
                )
            )
    said = [
        f"{sum(a.is_reached for a in run.asked)} of the {len(run.asked)} figures asked of what was measured "
        "are reached."
    ]
    said.append(
        "The others, in brackets how far each is from what was asked of it, relative to that."
    )
    if WHY in pages:
        said[1] = said[1].replace("that.", f"that; [why]({WHY}).")
    said += [
        f"[First calls]({FIRST_CALLS}): {text.removesuffix(' Bold: too long.')}"
        for text in pages.get(FIRST_CALLS, "").splitlines()
        if text.startswith("At most")
    ]
    if run.about.get("device", "cpu") == "cpu":
        said.append("Nothing here was measured on a GPU: what is asked of one is open.")
    yield from table("| figure | robot | missed | how much |", rows, "Missed", " ".join(said))


def _ways(run: Run) -> Iterator[str]:
    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        rows = run.other(robot, algorithm, layout="rows")
        at = (robot, algorithm)
        shared = [
            r for r in run.own if (r["robot"], r["algorithm"]) == at and r.get("ns_of_one_thread")
        ]
        if own is None or (rows is None and not shared):
            return None
        held = partial(run.held, robot=robot, what=algorithm, form=".2f")
        cells = [f"{robot} {algorithm}", short(own["ns"]), short(own["ns_of_plain_call"])]
        by_rows = rows and rows["ns"] / (rows.get("ns_of_columns") or own["ns"])
        cells.append(
            held("rows by columns", value=by_rows, wanted=lists.ROWS_TIME, least=False)
            if by_rows
            else ""
        )
        for batch in batches:
            gains = [r["ns_of_one_thread"] / r["ns"] for r in shared if r["batch"] == batch]
            what = f"one thread by two, {batch:,} robots"
            cells.append(held(what, value=gains[0], wanted=lists.TWO_THREADS) if gains else "")
        return line(cells)

    batches = sorted({r["batch"] for r in run.own if r.get("ns_of_one_thread")})

    worth = run.starts.get("cores_worth")
    said = (
        f" Busy processes on all cores together did {worth} times the work of one: threads cannot gain more."
        if worth
        else ""
    )
    yield from table(
        f"| robot, algorithm | bound call [ns] | plain call [ns] | rows by columns (at most {lists.ROWS_TIME}) "
        + "".join(
            f"| 2 threads, B = {batch:,} (at least {lists.TWO_THREADS}) " for batch in batches
        )
        + "|",
        rows_of(run, row),
        "Memory order, threads",
        said.strip(),
    )


def _flat(run: Run) -> Iterator[str]:
    batches = sorted({r["batch"] for r in run.own if "ns" in r and is_plain(r)})
    large = [b for b in batches if b >= 4096]

    def row(robot: str, algorithm: str) -> str | None:
        found = {r["batch"]: r for r in run.plain(robot, algorithm)}
        if len(found) < 2:
            return None
        cells = [
            f"{robot} {algorithm}",
            *(short(found[b]["ns"]) if b in found else "" for b in batches),
        ]
        ends = [found[b]["ns"] for b in (4096, lists.BATCH, 65536) if b in found]
        change, asked = (
            100 * (max(ends) / min(ends) - 1) if len(ends) > 1 else None,
            100 * lists.FLAT,
        )
        figure = "change of ns from B = 4,096 on [%]"
        cells.append(
            ""
            if change is None
            else run.held(figure, robot, algorithm, change, asked, least=False, form=".3g")
        )
        if large:
            cells.append(
                ", ".join(f"{found[b]['bytes'] * b / (1 << 20):.3g}" for b in large if b in found)
            )
        return line(cells)

    sizes = f" MiB at B = {', '.join(f'{b:,}' for b in large)} |" if large else ""
    yield from table(
        "| robot, algorithm | "
        + " | ".join(f"B = {b:,}" for b in batches)
        + f" | change from 4,096 on [%] |{sizes}",
        rows_of(run, row),
        "Batches",
        f"ns for one robot. At most {100 * lists.FLAT:.0f}% between 4,096 and 65,536. "
        f"MiB: what the program reads and writes of the batch's arrays.{_cache(run)}",
    )


def _cache(run: Run) -> str:
    """Sentence on the copy rate beyond the cache, which bounds programs that are limited by memory."""
    rates = {
        float(size): rate for size, rate in run.about.get("limits", {}).get("copy", {}).items()
    }
    if len(rates) < 2:
        return ""
    fast, slow = rates[min(rates)], rates[max(rates)]
    last = max(
        (size for size, rate in rates.items() if rate > (fast + slow) / 2), default=min(rates)
    )
    return (
        f" Copies of up to {last / (1 << 20):.3g} MiB stay in the cache; the largest take {fast / slow:.1f} "
        "times as long a byte as the smallest, and so may a program that memory bounds."
    )


def _scaling(run: Run) -> Iterator[str]:
    def row(algorithm: str) -> str | None:
        main = [run.main(robot, algorithm) for robot in robots]
        found = [r and r["operations"] and 1000 * r["ns"] / r["operations"] for r in main]
        known = [x for x in found if x]
        if len(known) < 2:
            return None
        middle = median(known)
        cells = [f"{x:.3g}" if x else "" for x in found]
        far = max(max(known) / middle, middle / min(known)) - 1
        return line([algorithm, *cells, f"{max(known) / min(known):.2f}", f"{100 * far:.0f}"])

    robots = sorted(run.robots, key=run.dof)
    rows = [x for x in map(row, run.algorithms) if x]
    yield from table(
        "| algorithm | "
        + " | ".join(f"{robot}, {run.dof(robot)}" for robot in robots)
        + " | largest by smallest | furthest from their median [%] |",
        rows,
        "Scaling",
        "ns for 1,000 of the program's operations (sines and cosines not counted), by robots with their degrees of "
        "freedom: constant where the cost is linear in the operations. It is where arithmetic bounds; programs that "
        "memory bounds, or of few operations, cost more for each.",
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
        cells = [
            f"{robot} {algorithm}",
            f"{own['operations']:,}",
            f"{own['bytes']:,}",
            short(own["ns"]),
        ]
        cells += [f"{own['operations'] / own['ns']:.1f}", f"{own['bytes'] / own['ns']:.1f}"]
        cells += [f"{short(floor)} ({what})", f"{own['ns'] / floor:.1f}"]
        return "| " + " | ".join(cells) + " |"

    copies = ", ".join(f"{_size(float(s))} {rate / 1e9:.0f}" for s, rate in limits["copy"].items())
    yield from table(
        "| robot, algorithm | operations | bytes | ns | operations/ns | bytes/ns | floor [ns] | times the floor |",
        rows_of(run, row),
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
    yield from table(
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
        rows.append(
            line(
                [
                    name,
                    run.held("starts", "", name, value, most, least=False, form=".3g"),
                    f"{most or ''}",
                ]
            )
        )
    yield from table("| start | measured | at most |", rows, "Starts, latency")


def _memory(run: Run) -> Iterator[str]:
    rows = [
        line(
            [f"{r['robot']} {r['algorithm']}", r["library"], f"{r['batch']:,}"]
            + [f"{r[stage]:,.0f}" for stage in ("import", "compile", "run", "arrays")]
        )
        for r in run.memory
    ]
    yield from table(
        "| robot, algorithm | library | B | imported, robot loaded | at most while compiling | at most in the run "
        "| its arrays |",
        rows,
        "Memory of a process [MiB]",
        "Resident, as Linux counts it; each row from two processes: one that compiles for one robot with an empty "
        "cache, one that finds the kernel and does the batch. Arrays: states and results; of MuJoCo Warp all that it "
        "keeps for its worlds. warpdyn and MuJoCo Warp float32; Pinocchio float64, one state after another, fk of its "
        "frames, of which it has more than links. Left out: where warpdyn's arrays take more than "
        f"{lists.LARGEST / 2**30:g} GiB.",
    )

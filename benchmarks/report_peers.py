"""Tables of report.md that compare warpdyn with other libraries."""

from __future__ import annotations

from collections.abc import Iterator

from . import cases as lists
from .algorithms import ALGORITHMS
from .records import Run, line, rows_of, short, table

COMPILES = 0.5
"""Seconds of a first call from which a peer is said to compile."""


def against_pinocchio(run: Run) -> Iterator[str]:
    def row(robot: str, algorithm: str) -> str | None:
        own, pin = (
            run.main(robot, algorithm),
            [r for r in run.rivals(robot, algorithm) if r["peer"] == "pinocchio"],
        )
        if own is None or not pin:
            return None
        at, target = f"{robot} {algorithm}", lists.TIMES_PINOCCHIO.get((robot, algorithm))
        cells = [
            at,
            short(pin[0]["ns"]),
            short(own["ns"]),
            f"{short(own['ns_low'])} to {short(own['ns_high'])}",
        ]
        cells.append(
            run.held(
                "times Pinocchio's call, float32",
                robot,
                algorithm,
                pin[0]["ns"] / own["ns"],
                target,
            )
        )
        cells.append(f"{target:g}" if target else "")
        double = run.other(robot, algorithm, dtype="float64", layout="columns", threads=1)
        if double is None:
            cells += ["", ""]
        else:
            share = target and lists.FLOAT64_SHARE * target
            cells.append(short(double["ns"]))
            cells.append(
                run.held(
                    "times Pinocchio's call, float64",
                    robot,
                    algorithm,
                    pin[0]["ns"] / double["ns"],
                    share,
                )
            )
        return line(
            [*cells, f"{own['worst_relative_error']:.0e}", f"{pin[0]['worst_relative_error']:.0e}"]
        )

    yield from table(
        "| robot, algorithm | Pinocchio [ns] | warpdyn [ns] | quartiles | times | to reach | float64 [ns] | times "
        "| float32 error | float64 error |",
        rows_of(run, row),
        "Beside Pinocchio's Python call",
        f"{_batches(run)} Float64 is asked {lists.FLOAT64_SHARE:g} of the times of float32. Errors are relative to the "
        "largest entry: float32 from float64 warpdyn, float64 from Pinocchio.",
    )


def _batches(run: Run) -> str:
    main = [run.main(robot, algorithm) for robot in run.robots for algorithm in run.algorithms]
    sizes = sorted({r["batch"] for r in main if r})
    return "B = " + ", ".join(f"{size:,}" for size in sizes) + "."


def gradients(run: Run) -> Iterator[str]:
    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        if own is None or "times_primal" not in own:
            return None
        target = lists.TIMES_PRIMAL.get(algorithm)
        figure, value = "gradient by what it is of", own["times_primal"]
        times = run.held(figure, robot, algorithm, value, target, least=False, form=".2f")
        rivals = sorted(run.rivals(robot, algorithm), key=lambda r: r["ns"])
        others = "; ".join(
            f"{r['library']} {short(r['ns'])} ({r['ns'] / own['ns']:,.0f} times)" for r in rivals
        )
        cells = [
            robot,
            ALGORITHMS[algorithm].title,
            short(own["ns"]),
            short(own["primal_ns"]),
            times,
        ]
        return line(
            [*cells, f"{target:g}" if target else "", f"{own['worst_relative_error']:.0e}", others]
        )

    yield from table(
        "| robot | gradient | ns | of itself [ns] | times | at most | float32 error | peers' autodiff [ns] |",
        rows_of(run, row),
        "Gradients",
        "Vector-Jacobian products by all inputs; of forward dynamics with its result given. Peers: forward pass too.",
    )


def _columns(run: Run) -> dict[str, str]:
    """Peers that were timed, with the precision that they compute in."""
    return {r["library"]: r["dtype"] for r in run.peers if "ns" in r}


Reasons = dict[tuple[str, str], list[tuple[str, str]]]
NOT_RUN = ("any", "not run: it was not asked for this robot or algorithm")


def _reasons(run: Run) -> Reasons:
    """Reasons for blank cells, by peer; the last one is for cases that were not run."""
    found: Reasons = {}
    has = set()
    for r in run.peers:
        has.add((r["library"], r["robot"], r["algorithm"]))
        if "blank" in r:
            found.setdefault((r["library"], r["blank"]), []).append((r["robot"], r["algorithm"]))
    at = [
        (robot, algorithm)
        for robot in run.robots
        for algorithm in run.algorithms
        if run.main(robot, algorithm)
    ]
    missing = [place for place in at for name in _columns(run) if (name, *place) not in has]
    if missing:
        found[NOT_RUN] = missing
    return found


def beside_all(run: Run) -> Iterator[str]:
    columns, reasons = _columns(run), _reasons(run)
    if not columns:
        return
    numbers = {
        (name, place): k
        for k, ((name, _), places) in enumerate(reasons.items(), 1)
        for place in places
    }

    def row(robot: str, algorithm: str) -> str | None:
        own = run.main(robot, algorithm)
        if own is None:
            return None
        here = [
            r for r in run.peers if (r["robot"], r["algorithm"]) == (robot, algorithm) and "ns" in r
        ]
        best = min((r["ns"] for r in here if r["threads"] == 1), default=None)
        asked = robot in ("panda", "talos_reduced") and lists.TIMES_BEST_PEER.get(algorithm)
        times = ""
        if best is not None:
            times = run.held(
                "times the best peer", robot, algorithm, best / own["ns"], asked or 1.0
            )
        cells = [f"{robot} {algorithm}", short(own["ns"]), times]
        for name in columns:
            each = [
                short(r["ns"]) + (f" ({r['threads']} threads)" if r["threads"] > 1 else "")
                for r in here
                if r["library"] == name
            ]
            why = numbers.get((name, (robot, algorithm))) or numbers.get(
                (NOT_RUN[0], (robot, algorithm))
            )
            cells.append(", ".join(each) or f"*r{why}*")
        return line(cells)

    yield from table(
        "| robot, algorithm | warpdyn, float32 [ns] | times the best on one core | "
        + " | ".join(f"{name}, {dtype}" for name, dtype in columns.items())
        + " |",
        rows_of(run, row),
        "Beside every peer",
        "Each peer in batches of up to 4,096 (loops: 256 different states), in its own compiled form, after its "
        "results were found equal, in the precision that it offers; beside a float64 peer warpdyn's float32 has half "
        "the bytes and twice the lanes, and its float64 is in the table above. *r1*, *r2*, ...: the reasons below. "
        f"To reach: {', '.join(f'{k} {v:g}' for k, v in lists.TIMES_BEST_PEER.items())} times the best on panda and "
        "talos_reduced, all else and all others 1.",
    )
    yield from _blanks(run, reasons)
    yield from _forms(run)
    yield from _first_calls(run)


def _blanks(run: Run, reasons: Reasons) -> Iterator[str]:
    rows = []
    for k, ((name, why), places) in enumerate(reasons.items(), 1):
        robots, algorithms = (list(dict.fromkeys(x)) for x in zip(*places, strict=True))
        where = "all robots" if len(robots) == len(run.robots) else ", ".join(robots)
        rows.append(line([f"*r{k}*", name, ", ".join(algorithms), where, why.replace("|", "/")]))
    rows += [
        line(["", key, "all", "all", why]) for key, why in run.about.get("left_out", {}).items()
    ]
    rows += [
        line(["", "warpdyn", r["algorithm"], r["robot"], r["blank"]])
        for r in run.own
        if "blank" in r
    ]
    yield from table(
        "| | peer | algorithms | robots | why there is no number |", rows, "Empty cells"
    )


def _forms(run: Run) -> Iterator[str]:
    rows = []
    for name, dtype in _columns(run).items():
        forms: dict[str, list[str]] = {}
        found = [r for r in run.peers if r["library"] == name and "ns" in r]
        for r in found:
            forms.setdefault(r["form"], []).append(r["algorithm"])
        calls = [f"{', '.join(dict.fromkeys(done))}: {form}" for form, done in forms.items()]
        rows.append(
            line(
                [
                    name,
                    dtype,
                    "<br>".join(calls),
                    f"{max(r['worst_relative_error'] for r in found):.0e}",
                ]
            )
        )
    yield from table(
        "| peer | precision | how it is called | largest difference |",
        rows,
        "How the peers are called",
    )


def _first_calls(run: Run) -> Iterator[str]:
    seconds = {
        (r["library"], r["robot"], r["algorithm"]): r["first_call_seconds"]
        for r in reversed(run.peers)
        if "first_call_seconds" in r
    }
    quick, slow = list[str](), list[str]()
    for name in _columns(run):
        longest = max(x for key, x in seconds.items() if key[0] == name)
        (slow if longest >= COMPILES else quick).append(name)

    def row(robot: str, algorithm: str) -> str | None:
        theirs = [seconds.get((name, robot, algorithm)) for name in slow]
        own = run.compiled.get((robot, algorithm))
        if not any(theirs):
            return None
        cells = [f"{robot} {algorithm}", f"{own['cold']:.1f}" if own else ""]
        return line([*cells, *("" if x is None else f"{x:.1f}" for x in theirs)])

    yield from table(
        "| robot, algorithm | warpdyn, cold | " + " | ".join(slow) + " |",
        rows_of(run, row) if slow else [],
        "Seconds of the peers' first call",
        "To prepare, compile and run once; Warp's kernels that were compiled before (MuJoCo Warp, Newton) come from "
        f"its cache. Below {COMPILES:g} s everywhere: {', '.join(quick) or 'none'}.",
    )

"""`warpdyn bench`: time, throughput and error of the algorithms for a robot, as a table, JSON or a plot."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from .. import __version__, get_num_threads
from ..model import Model
from ..model.description import ModelError
from ..peers.peer import Peer
from .check import LIMITS
from .peer_times import LOOP, Beside, all_of_them, prepare
from .workload import Workload, furthest_link, random_states, seconds_in_turns


@dataclass(frozen=True)
class Case:
    """What to measure."""

    algorithm: str
    batch: int
    dtype: str
    layout: str
    device: str


@dataclass(frozen=True)
class Figure:
    """What was measured. `refusal` says why nothing was."""

    case: Case
    seconds: float = float("nan")
    worst_error: float = float("nan")
    first_call: float = float("nan")
    """Seconds from the first call to its result: recording and compiling, or finding the kernel in the cache."""
    refusal: str = ""
    beside: tuple[Beside, ...] = ()
    """Other libraries on the same states."""

    @property
    def ns_per_robot(self) -> float:
        return 1e9 * self.seconds / max(self.case.batch, 1)

    @property
    def robots_per_second(self) -> float:
        return self.case.batch / self.seconds


def measure(
    model: Model, case: Case, frame: str | None = None, peers: Sequence[Peer] = ()
) -> Figure:
    """Time one case on random states, in turns with the peers, and check a sample of its results."""
    states, frame = random_states(model, case.batch), frame or furthest_link(model)
    try:
        work = Workload.of(
            model,
            case.algorithm,
            states,
            frame=frame,
            dtype=case.dtype,
            layout=case.layout,
            device=case.device,
        )
        start = time.perf_counter()
        run = work.bind()
        if case.device != "cpu":
            wp.synchronize_device(case.device)
        first_call = time.perf_counter() - start
    except ModelError as error:
        return Figure(case, refusal=str(error))
    others = [prepare(peer, work, case.dtype, frame) for peer in peers]
    seconds, *theirs = seconds_in_turns(
        [run, *(calls for _, calls, _ in others if calls)], case.device
    )
    times = iter(theirs)
    beside = tuple(
        replace(b, ns_per_robot=1e9 * next(times) / count) if calls else b
        for b, calls, count in others
    )
    return Figure(case, seconds, work.worst_error(), first_call, beside=beside)


def measured(
    model: Model,
    cases: Sequence[Case],
    frame: str | None = None,
    peers: Mapping[str, Sequence[Peer]] | None = None,
) -> Iterator[Figure]:
    """The figures one after another, with a progress bar on stderr where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=len(cases))
        for case in cases:
            progress.update(task, description=f"{case.algorithm} of {case.batch:,} robots")
            yield measure(model, case, frame, (peers or {}).get(case.algorithm, ()))
            progress.advance(task)


def table(title: str, figures: Sequence[Figure]) -> Any:
    """The figures as a rich table."""
    from rich.table import Table

    result = Table(title=title, title_justify="left", title_style="bold")
    others = list(dict.fromkeys(b.peer for f in figures for b in f.beside))
    rate = [] if others else ["robots per second"]  # so that the table stays narrow
    result.add_column("algorithm")
    for name in ("batch", "ns per robot", *rate, "worst relative error", r"compile \[s]"):
        result.add_column(name, justify="right")
    for name in others:
        result.add_column(f"{name}\n\\[ns]", justify="right")
        result.add_column("times", justify="right")
    for f in figures:
        numbers = ["not defined"]
        if not f.refusal:
            rates = [in_words(f.robots_per_second)] if rate else []
            numbers = [short(f.ns_per_robot), *rates, f"{f.worst_error:.1e}", f"{f.first_call:.2f}"]
            for b in f.beside:
                timed = (short(b.ns_per_robot), short(b.ns_per_robot / f.ns_per_robot))
                numbers += ("", "") if b.refusal else timed
        result.add_row(f.case.algorithm, f"{f.case.batch:,}", *numbers)
    return result


def short(number: float) -> str:
    """Three digits."""
    return f"{number:,.3g}" if number < 100 else f"{number:,.0f}"


def in_words(count: float) -> str:
    """A large number to three digits: 83.3 million."""
    for size, word in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if count >= size:
            return f"{count / size:.3g} {word}"
    return f"{count:.3g}"


def hardware(device: str) -> str:
    """What the figures were measured on; for the CPU also how many threads were used."""
    if device != "cpu":
        return wp.get_device(device).name
    threads = get_num_threads()
    return f"{processor()}, {threads} thread{'s' if threads > 1 else ''}"


def processor() -> str:
    """The processor's name as it gives it itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def explain(figures: Sequence[Figure]) -> list[str]:
    """What the table's reader has to know: where numbers come from, and why some are missing."""
    lines = [
        "fk: poses of all links; jacobian: of the link behind the most joints unless --frame names another. "
        "Worst relative error: of a sample, against the same algorithm on float64 numbers "
        "(aba: what M a + h lacks of tau). Compile: seconds from the first call to its result; "
        "a robot that was compiled before comes from the cache.",
    ]
    if any(f.beside for f in figures):
        lines.append(
            "Beside: float64, one Python call for a state, on the same states converted beforehand (a loop of up to "
            f"{LOOP}); all on one core, in turns; results were equal before, to {LIMITS[figures[0].case.dtype]:g}."
        )
        lines += [
            "python -m benchmarks has more peers, and more algorithms, on robots of its own."
        ] * all_of_them()
    lines += sorted(
        {
            f"{f.case.algorithm} is not compared with {b.peer}: {b.refusal}"
            for f in figures
            for b in f.beside
            if b.refusal
        }
    )
    return lines + sorted(
        {f"{f.case.algorithm} is not defined: {f.refusal}" for f in figures if f.refusal}
    )


def to_json(model: Model, figures: Sequence[Figure]) -> str:
    """The figures with what they were measured on."""
    rows = [
        {
            **asdict(f.case),
            **(
                {"refusal": f.refusal}
                if f.refusal
                else {
                    "ns_per_robot": f.ns_per_robot,
                    "robots_per_second": f.robots_per_second,
                    "worst_relative_error": f.worst_error,
                    "first_call_seconds": f.first_call,
                    **({"peers": {b.peer: _of_peer(b, f) for b in f.beside}} if f.beside else {}),
                }
            ),
        }
        for f in figures
    ]
    about = {
        "robot": model.name,
        "nv": model.nv,
        "hardware": hardware(figures[0].case.device) if figures else "",
        "cores": os.cpu_count(),
        "versions": {
            "warpdyn": __version__,
            wp.__name__: wp.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    return json.dumps({**about, "figures": rows}, indent=2) + "\n"


def _of_peer(b: Beside, f: Figure) -> dict[str, Any]:
    if b.refusal:
        return {"refusal": b.refusal}
    times = b.ns_per_robot / f.ns_per_robot
    return {
        "ns_per_robot": b.ns_per_robot,
        "times": times,
        "largest_relative_difference": b.difference,
    }


def plot(model: Model, figures: Sequence[Figure], path: Path) -> None:
    """Throughput against batch size, a line for each algorithm."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 5), layout="constrained")
    axes = canvas.subplots()
    for algorithm in dict.fromkeys(f.case.algorithm for f in figures if not f.refusal):
        own = sorted(
            (f for f in figures if f.case.algorithm == algorithm), key=lambda f: f.case.batch
        )
        axes.plot(
            [f.case.batch for f in own],
            [f.robots_per_second for f in own],
            marker="o",
            label=algorithm,
        )
    if figures:
        case = figures[0].case
        axes.set_title(
            f"{model.name}, {case.dtype}, {case.layout}\n{hardware(case.device)}", fontsize="medium"
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="batch size [robots]",
        ylabel="throughput [robots per second]",
    )
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
    canvas.savefig(path, dpi=130)

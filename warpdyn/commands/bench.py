"""`warpdyn bench`: time, throughput and error of the algorithms for a robot, as a table, JSON or a plot."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from .. import __version__, get_num_threads
from ..description import ModelError
from ..model import Model
from .workload import Workload, furthest_link, random_states


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

    @property
    def ns_per_robot(self) -> float:
        return 1e9 * self.seconds / max(self.case.batch, 1)

    @property
    def robots_per_second(self) -> float:
        return self.case.batch / self.seconds


def measure(model: Model, case: Case, frame: str | None = None) -> Figure:
    """Time one case on random states and check a sample of its results against the oracle."""
    states = random_states(model, case.batch)
    try:
        work = Workload.of(
            model,
            case.algorithm,
            states,
            frame=frame or furthest_link(model),
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
    return Figure(case, work.seconds_of(run), work.worst_error(), first_call)


def measured(model: Model, cases: Sequence[Case], frame: str | None = None) -> Iterator[Figure]:
    """The figures one after another, with a progress bar on stderr where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(cases))
        for case in cases:
            progress.update(task, description=f"{case.algorithm} of {case.batch:,} robots")
            yield measure(model, case, frame)
            progress.advance(task)


def table(title: str, figures: Sequence[Figure]) -> Any:
    """The figures as a rich table."""
    from rich.table import Table

    result = Table(title=title, title_justify="left", title_style="bold")
    for name in ("algorithm", "batch", "ns per robot", "robots per second", "worst relative error", r"compile \[s]"):
        result.add_column(name, justify="left" if name == "algorithm" else "right")
    for f in figures:
        numbers = (
            ["not defined", "", "", ""]
            if f.refusal
            else [
                f"{f.ns_per_robot:,.3g}" if f.ns_per_robot < 100 else f"{f.ns_per_robot:,.0f}",
                in_words(f.robots_per_second),
                f"{f.worst_error:.1e}",
                f"{f.first_call:.2f}",
            ]
        )
        result.add_row(f.case.algorithm, f"{f.case.batch:,}", *numbers)
    return result


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
    return lines + sorted({f"{f.case.algorithm} is not defined: {f.refusal}" for f in figures if f.refusal})


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
            "warp": wp.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    return json.dumps({**about, "figures": rows}, indent=2) + "\n"


def plot(model: Model, figures: Sequence[Figure], path: Path) -> None:
    """Throughput against batch size, a line for each algorithm."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8, 5), layout="constrained")
    axes = canvas.subplots()
    for algorithm in dict.fromkeys(f.case.algorithm for f in figures if not f.refusal):
        own = sorted((f for f in figures if f.case.algorithm == algorithm), key=lambda f: f.case.batch)
        axes.plot([f.case.batch for f in own], [f.robots_per_second for f in own], marker="o", label=algorithm)
    if figures:
        case = figures[0].case
        axes.set_title(f"{model.name}, {case.dtype}, {case.layout}\n{hardware(case.device)}", fontsize="medium")
    axes.set(xscale="log", yscale="log", xlabel="batch size [robots]", ylabel="throughput [robots per second]")
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
    canvas.savefig(path, dpi=130)

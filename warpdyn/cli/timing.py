"""Timings of an algorithm on random states, alternating with peers: time, error and first call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import warp as wp

from ..execution.compile.announcements import silent
from ..model import Model
from ..model.names import ModelError
from ..peers.peer import Peer
from .accuracy import error_of
from .own_kernels import ChosenKernel
from .peer_times import PeerTime, prepare
from .workload import Memory, Workload, furthest_link, random_states


@dataclass(frozen=True)
class Case:
    """A case to measure."""

    algorithm: str
    batch: int
    dtype: str
    layout: str
    device: str


@dataclass(frozen=True)
class Measurement:
    """Result of a measurement; `refusal` says why there is none."""

    case: Case
    seconds: float = float("nan")
    worst_error: float = float("nan")
    first_call: float = float("nan")
    """Seconds until the first call's result: recording and compiling, or reading the cache."""
    refusal: str = ""
    peers: tuple[PeerTime, ...] = ()
    """Times of other libraries on the same states."""

    @property
    def ns_per_robot(self) -> float:
        """Nanoseconds for each robot of the batch."""
        return 1e9 * self.seconds / max(self.case.batch, 1)

    @property
    def robots_per_second(self) -> float:
        """Throughput."""
        return self.case.batch / self.seconds


def measure_cases(
    model: Model,
    cases: Sequence[Case],
    frame: str | None = None,
    peers: Mapping[str, Sequence[Peer]] | None = None,
    own: ChosenKernel | None = None,
) -> Iterator[Measurement]:
    """The cases one after another, with a progress bar on stderr where that is a terminal.

    own: the kernel for cases with its label.
    """
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
            yield measure(model, case, frame, (peers or {}).get(case.algorithm, ()), own)
            progress.advance(task)


def measure(
    model: Model,
    case: Case,
    frame: str | None = None,
    peers: Sequence[Peer] = (),
    own: ChosenKernel | None = None,
) -> Measurement:
    """Time one case on random states, alternating with the peers; check a sample of results."""
    frame = frame or furthest_link(model)
    try:
        work = workload(model, case, frame, own)
        start = time.perf_counter()
        with silent():  # a bar is running, and the time is shown
            run = work.bind()  # records, compiles and runs once
        if case.device != "cpu":
            wp.synchronize_device(case.device)
        first_call = time.perf_counter() - start
    except ModelError as error:
        return Measurement(case, refusal=str(error))
    others = [prepare(peer, work, case.dtype, frame) for peer in peers]
    calls = [run, *(call for _, call, _ in others if call)]
    seconds, *peer_seconds = interleaved_seconds(calls, case.device)
    remaining = iter(peer_seconds)
    timed = tuple(
        replace(peer, ns_per_robot=1e9 * next(remaining) / count) if call else peer
        for peer, call, count in others
    )
    return Measurement(case, seconds, error_of(work), first_call, peers=timed)


def workload(model: Model, case: Case, frame: str, own: ChosenKernel | None) -> Workload:
    """The workload of a case: an algorithm on random states, or the kernel with its label."""
    options = {"dtype": case.dtype, "layout": case.layout, "device": case.device}
    if own is not None and case.algorithm == own.label:
        return own.workload(case.batch, Memory(**options))
    states = random_states(model, case.batch)
    return Workload.of(model, case.algorithm, states, frame=frame, **options)


def interleaved_seconds(
    runs: Sequence[Callable[[], Any]], device: str, *, enough: float = 0.25, repeats: int = 9
) -> list[float]:
    """Median seconds of one call of each, over `repeats` loops of about `enough` seconds together.

    The loops alternate, so that all have the same noise.
    """
    wait = wp.get_device(device).is_cuda
    loops = [_loops(run, enough / repeats, wait) for run in runs]
    rounds = [
        [_loop(run, n, wait) / n for run, n in zip(runs, loops, strict=True)]
        for _ in range(repeats)
    ]
    return [median(samples) for samples in zip(*rounds, strict=True)]


def _loops(run: Callable[[], Any], seconds: float, wait: bool) -> int:
    """Number of calls that take about `seconds`, or half of them."""
    loops = 1
    while (elapsed := _loop(run, loops, wait)) < seconds / 2:
        loops = max(loops + 1, min(loops * 10, round(loops * seconds / max(elapsed, 1e-7))))
    return loops


def _loop(run: Callable[[], Any], loops: int, wait: bool) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        run()
    if wait:
        wp.synchronize()
    return time.perf_counter() - start

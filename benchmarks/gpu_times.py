"""Times of the kernels of `cuda_kernels`, measured on a GPU.

    python -m benchmarks.gpu_times [--batches 4096 65536] [--layouts rows] [--one-warp] [KERNEL ...]

A launch is repeated in a CUDA graph, and events time the replays: the time is the median of the rounds,
divided by the launches of the graph. It holds the gap between two launches of a graph, which an empty
kernel has, too. All launches have the same arrays, so those that fit stay in the L2 cache.

Kernels are compiled first, in as many processes as there are cores. With `--one-warp` no program is cut
into parts for several warps. Results: benchmarks/results/gpu_times.json, next to times of the model
(`cuda_model`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.codegen.targets import target_of
from warpdyn.execution.launch.job import Job
from warpdyn.execution.launch.launch import prepare

from . import roofline
from .__main__ import what_it_ran_on
from .cuda_graph import Graph
from .cuda_kernels import (
    ENVIRONMENTS,
    KERNELS,
    LAYOUTS,
    call_of,
    keep_programs_whole,
    on_device,
)
from .gpu_peers.timing import Work
from .records import line

RESULT = Path(__file__).parent / "results/gpu_times.json"
MODEL = Path(__file__).parent / "results/cuda_model.json"

DEVICE = "cuda:0"
BATCHES = (4096, 65536)

LAUNCHES = 20
"""Launches of a graph."""

ROUNDS, ROUND_SECONDS = 9, 0.01
"""Rounds, of which the median counts, and the length of one [s]."""


@wp.kernel
def nothing() -> None:
    """A kernel whose time is that of a launch."""


def seconds_of(launch: Callable[[], Any]) -> float:
    """Seconds of a launch among others in a CUDA graph."""
    replays = Work(Graph(launch, DEVICE, LAUNCHES), DEVICE)
    replays.seconds(1)
    number = max(1, round(ROUND_SECONDS / (replays.seconds(2) / 2)))
    return median(replays.seconds(number) for _ in range(ROUNDS)) / number / LAUNCHES


def job_of(name: str, layout: str, count: int) -> Job:
    """The launch of a kernel for `count` robots."""
    return prepare(on_device(call_of(name, count), layout, count))


def compiled(name: str, one_warp: bool) -> tuple[str, float]:
    """Compile a kernel in this process; its seconds, or what went wrong."""
    os.dup2(2, 1)  # what Warp prints is not a result
    wd.config.compile_messages = False
    if one_warp:
        keep_programs_whole()
    begun = time.perf_counter()
    call = on_device(call_of(name, 64), LAYOUTS[0], 64)
    for target in (None, target_of("cuda")):  # the forms for few and for many environments
        prepare(call, target).launch_once()
    wp.synchronize_device(DEVICE)
    return name, time.perf_counter() - begun


def compile_all(names: Sequence[str], one_warp: bool) -> dict[str, float]:
    """Compile the kernels side by side; seconds of each."""
    pool = ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))
    with pool, tqdm(total=len(names), desc="compile", file=sys.stderr) as bar:
        tasks = [pool.submit(compiled, name, one_warp) for name in names]
        found = {}
        for task in tasks:
            name, seconds = task.result()
            found[name] = round(seconds, 2)
            bar.update()
    return found


def record(name: str, layout: str, count: int) -> dict[str, Any]:
    """The time of a kernel, and its rates of memory and arithmetic."""
    job = job_of(name, layout, count)
    source, seconds = job.kernel.source, seconds_of(job.launch_once)
    return {
        "call": name,
        "layout": layout,
        "count": count,
        "warps": source.warps,
        "us": round(1e6 * seconds, 3),
        "bytes_per_second": round(count * source.bytes / seconds, -9),
        "operations_per_second": round(count * source.operations / seconds, -9),
    }


def modelled() -> dict[tuple[str, str, int], Sequence[Any]]:
    """Times of the model [us] and their bounds, by kernel, layout and batch."""
    records: Iterable[Mapping[str, Any]] = json.loads(MODEL.read_text())["records"]
    return {
        (x["call"], x["layout"], int(count)): time
        for x in records
        for count, time in x["modelled_us"].items()
    }


def table(records: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Measured times next to those of the model."""
    yield line(
        ["kernel, layout", "robots", "warps", "measured [us]", "model [us]", "TB/s", "TFLOP/s"]
    )
    yield "|---" * 7 + "|"
    times = modelled()
    for x in records:
        said = times.get((x["call"], x["layout"], x["count"]))
        cells = [f"{x['call']} {x['layout']}", f"{x['count']:,}", str(x["warps"]), f"{x['us']:.1f}"]
        cells += [f"{said[0]:.1f} {said[1]}" if said else "-"]
        cells += [f"{x[key] / 1e12:.2f}" for key in ("bytes_per_second", "operations_per_second")]
        yield line(cells)


def ratios(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Geometric means over KERNELS of measured by modelled time, by batch and layout."""
    times, found = modelled(), dict[str, list[float]]()
    for x in records:
        said = times.get((x["call"], x["layout"], x["count"]))
        if said and x["call"] in KERNELS:
            found.setdefault(f"{x['count']} {x['layout']}", []).append(x["us"] / said[0])
    return {key: round(float(np.exp(np.mean(np.log(each)))), 2) for key, each in found.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile, measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=(*KERNELS, *ENVIRONMENTS), metavar="KERNEL")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=LAYOUTS)
    parser.add_argument("--one-warp", action="store_true")
    parser.add_argument("--no-limits", action="store_true", help="of the GPU are measured")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args(arguments)
    wp.config.quiet, wd.config.compile_messages = True, False
    compiles = compile_all(given.kernels, given.one_warp)
    if given.one_warp:
        keep_programs_whole()
    empty = wp.launch(nothing, dim=32, device=DEVICE, record_cmd=True)
    limits, gap = None if given.no_limits else roofline.limits(DEVICE), seconds_of(empty.launch)
    cases = [(x, y, n) for x in given.kernels for y in given.layouts for n in given.batches]
    records = [record(*case) for case in tqdm(cases, desc="measure", file=sys.stderr)]
    print(*table(records), sep="\n")
    print(f"an empty kernel: {1e6 * gap:.2f} us; measured by modelled: {ratios(records)}")
    content = {
        "about": what_it_ran_on(DEVICE, ()),
        "limits": limits,
        "empty_us": round(1e6 * gap, 3),
        "compile_seconds": compiles,
        "measured_by_modelled": ratios(records),
        "records": records,
    }
    given.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

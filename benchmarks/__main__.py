"""Compare warpdyn with its peers: `python -m benchmarks [--quick]`.

The records, a report and plots go to benchmarks/results/<date>-<hardware>/. CPU measurements run on
the last core, except those for several threads and those that name other cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.hardware import processor

from . import calls, memory, plots, report, roofline, startup, throughput
from . import cases as lists
from . import robots as machines
from .algorithms import ALGORITHMS
from .interleave import CORES, ROUNDS
from .peers import PEERS, InstalledPeer, find, jax_aot

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything that was asked for and write the report."""
    given = _parser().parse_args(arguments)
    _fill_defaults(given)
    wp.config.log_level = wp.LOG_ERROR
    warnings.simplefilter("ignore")
    os.sched_setaffinity(0, CORES[-1:])  # libraries start one thread per core that they see now
    peers, missing = find(given.peers)
    os.sched_setaffinity(0, CORES)
    for key, why in missing.items():
        print(f"{key}: left out, {why}", file=sys.stderr)
    about = describe_run(given.device, peers)
    folder = given.output or HERE / "results" / folder_name(about)
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(robot, algorithm) for robot in given.robots for algorithm in given.algorithms]
    mode = "a" if given.add else "w"
    weighed = [] if given.no_starts or given.quick or given.device != "cpu" else given.robots
    first_page = not (given.quick or given.no_calls) and given.device == "cpu"
    steps = (
        len(pairs)
        + 1
        + first_page
        + (0 if given.no_starts else len(given.robots) + 1)
        + len(weighed)
    )
    with (
        tqdm(total=steps, smoothing=0, file=sys.stderr) as bar,
        (folder / "results.jsonl").open(mode) as file,
    ):

        def write(record: dict[str, Any]) -> None:
            file.write(json.dumps(record) + "\n")
            file.flush()

        bar.set_description("limits of the machine")
        limits, on_cpu = roofline.limits(given.device), given.device == "cpu"
        machine = {"limits": limits, "caches": calls.caches() if on_cpu else []}
        write({"kind": "about", **about, "left_out": missing, **machine})
        bar.update()
        if first_page:
            bar.set_description("plain calls")
            for record in calls.measure():
                write({"kind": "call", **record, "load": round(os.getloadavg()[0], 2)})
            bar.update()
        if not given.no_starts:
            for robot in given.robots:
                bar.set_description(f"compile {robot}")
                for algorithm, (cold, warm) in startup.compile_seconds(
                    robot, given.algorithms, given.device
                ).items():
                    write(
                        {
                            "kind": "compile",
                            "robot": robot,
                            "algorithm": algorithm,
                            "cold": cold,
                            "warm": warm,
                        }
                    )
                bar.update()
            bar.set_description("starts")
            write(
                {
                    "kind": "starts",
                    "cores_worth": round(startup.cores_worth(), 2),
                    "figures": startup.figures(given.quick),
                }
            )
            bar.update()
        for robot in weighed:
            bar.set_description(f"memory {robot}")
            for record in memory.records([robot]):
                write({"kind": "memory", **record, "commit": about["commit"]})
            bar.update()
        for robot, algorithm in pairs:
            bar.set_description(f"{robot} {algorithm}")
            options = (given.batches, given.dtypes, given.layouts, given.threads, given.device)
            cases = lists.cases(robot, algorithm, *options)
            for record in throughput.measure(cases, peers, given.rounds, given.compile_limit):
                write(
                    {
                        "kind": "time",
                        **record,
                        "commit": about["commit"],
                        "load": round(os.getloadavg()[0], 2),
                    }
                )
            bar.update()
    records = report.read(folder)
    report.write(folder, records)
    plots.draw(folder, records)
    print((folder / "report.md").read_text())
    print(f"written to {os.path.relpath(folder)}")
    return 0


def describe_run(device: str, peers: Sequence[InstalledPeer]) -> dict[str, Any]:
    """Date, hardware, commit and versions of a run."""
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(
        git, cwd=HERE, capture_output=True, text=True, check=False
    ).stdout.strip()
    hardware = (
        f"{processor()}, {len(CORES)} cores" if device == "cpu" else wp.get_device(device).name
    )
    versions = {"warpdyn": wd.__version__, "warp-lang": wp.__version__, "numpy": np.__version__}
    for peer in peers:
        versions |= peer.versions
    return {
        "date": str(date.today()),
        "hardware": hardware,
        "device": device,
        "load": round(os.getloadavg()[0], 2),
        "commit": commit or "unknown",
        "versions": {**versions, "python": platform.python_version()},
    }


def folder_name(about: dict[str, Any]) -> str:
    """Name of a results folder: date and hardware."""
    return f"{about['date']}-{re.sub(r'[^a-z0-9]+', '-', about['hardware'].lower())}"


def _fill_defaults(given: argparse.Namespace) -> None:
    """Fill in the options that were not given: everything, or a short selection with --quick."""
    quick, on_gpu = given.quick, given.device != "cpu"
    given.robots = given.robots or (lists.QUICK_ROBOTS if quick else lists.ROBOTS)
    if not machines.is_installed():
        given.robots = [name for name in given.robots if name not in machines.REAL] or ["quadruped"]
    given.algorithms = given.algorithms or (lists.QUICK_ALGORITHMS if quick else lists.NAMES)
    batches = lists.QUICK_BATCHES if quick else lists.GPU_BATCHES if on_gpu else lists.BATCHES
    given.batches = given.batches or batches
    given.rounds = given.rounds or (5 if quick else ROUNDS)
    given.peers = PEERS if given.peers is None else [key for key in given.peers if key != "none"]
    if given.only_calls:
        given.algorithms, given.peers, given.no_starts = (), [], True
    if quick:
        given.dtypes, given.layouts, given.threads = given.dtypes[:1], given.layouts[:1], (1,)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Compare warpdyn with its peers."
    )
    known = [*lists.ROBOTS, *(f"{name}_floating" for name in lists.ROBOTS), *wd.robot_names()]
    parser.add_argument(
        "--robots",
        nargs="+",
        choices=dict.fromkeys(known),
        metavar="NAME",
        help=", ".join(lists.ROBOTS),
    )
    parser.add_argument(
        "--algorithms", nargs="+", choices=ALGORITHMS, metavar="NAME", help=", ".join(ALGORITHMS)
    )
    parser.add_argument(
        "--batches",
        nargs="+",
        type=int,
        help=f"batch sizes (default: {' '.join(map(str, lists.BATCHES))})",
    )
    parser.add_argument(
        "--dtypes", nargs="+", choices=("float32", "float64"), default=("float32", "float64")
    )
    parser.add_argument(
        "--layouts", nargs="+", choices=("columns", "rows"), default=("columns", "rows")
    )
    parser.add_argument(
        "--threads", nargs="+", type=int, default=(1, 2), help="CPU threads (default: 1 2)"
    )
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda:0")
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=(*PEERS, "none"),
        metavar="NAME",
        help=", ".join((*PEERS, "none")),
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="panda, five algorithms, few batches: under three minutes",
    )
    parser.add_argument("--rounds", type=int, help=f"turns per measurement (default: {ROUNDS})")
    parser.add_argument(
        "--compile-limit",
        type=float,
        default=jax_aot.LIMIT,
        metavar="SECONDS",
        help=f"longest compilation of a JAX peer's program (default: {jax_aot.LIMIT:g})",
    )
    parser.add_argument(
        "--no-starts",
        action="store_true",
        help="skip compile times, first results and latencies",
    )
    parser.add_argument(
        "--no-calls", action="store_true", help="skip plain calls, the first page of the report"
    )
    parser.add_argument(
        "--only-calls",
        action="store_true",
        help="measure plain calls only: seven minutes on one core",
    )
    parser.add_argument(
        "--add",
        action="store_true",
        help="keep the records of the folder and replace those that are measured again",
    )
    parser.add_argument(
        "--output", type=Path, help="folder (default: benchmarks/results/<date>-<hardware>)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

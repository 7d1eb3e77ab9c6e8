"""`warpdyn bench`: time, throughput and error of the algorithms, as a table, JSON or a plot."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

import warpdyn

from ..execution.config import compile_policy
from ..execution.threads import set_num_threads
from ..model import Model
from ..peers.find_peers import PEERS
from ..peers.peer import Peer
from .argument_types import count
from .command_line import (
    UserError,
    check_file,
    check_picture,
    choose_device,
    find_frame,
    peer_file,
    read_model,
    refuse_immobile,
    write_file,
)
from .console import say
from .hardware import hardware
from .own_kernels import own_kernel
from .peer_times import PeerTime, peers_by_algorithm
from .shared_options import (
    DTYPES,
    Commands,
    add_command,
    add_device,
    add_frame,
    add_kernel,
    add_robot,
    add_threads,
)
from .tables import print_measurements
from .timing import Case, Measurement, measure_cases
from .workload import ARGUMENTS


def add_parser(commands: Commands) -> None:
    """Add `warpdyn bench`."""
    text = "measure time for each robot, throughput, error and compile time"
    sub = add_command(commands, "bench", text)
    add_robot(sub)
    sub.add_argument(
        "--batch",
        nargs="+",
        type=count,
        default=[4096],
        metavar="N",
        help="batch sizes; default: 4096",
    )
    sub.add_argument("--dtype", choices=DTYPES, default="float32")
    sub.add_argument(
        "--layout",
        choices=("columns", "rows"),
        default="rows",
        help="memory layout. rows, the default: one robot after the other, as in most arrays; "
        "columns: the same coordinate of all robots side by side",
    )
    text = f"any of {', '.join(ARGUMENTS)}; default: all five"
    sub.add_argument("--algorithm", nargs="+", choices=ARGUMENTS, metavar="NAME", help=text)
    add_kernel(sub)
    add_frame(sub)
    add_device(sub)
    add_threads(sub)
    # Without --peers args.peers is None; --peers without names is an empty list and means all
    # peers.
    sub.add_argument(
        "--peers",
        nargs="*",
        choices=("pinocchio", "mujoco"),
        metavar="NAME",
        help="also measure installed libraries, on one core: pinocchio, mujoco; default: both",
    )
    text = "write the figures with versions and hardware"
    sub.add_argument("--json", type=Path, metavar="FILE", help=text)
    text = "draw throughput against batch size (.png, .svg, .pdf)"
    sub.add_argument("--plot", type=Path, metavar="FILE", help=text)
    sub.set_defaults(run=bench)


def bench(args: argparse.Namespace) -> int:
    """Time the algorithms over batch sizes."""
    if args.plot:
        check_picture(args.plot)
    if args.json:
        check_file(args.json)
    if args.peers is not None:
        _compare_on_one_core(args)
    model = refuse_immobile(read_model(args))
    frame = find_frame(args, model)
    if args.threads:
        set_num_threads(args.threads)
    device, own = choose_device(args.device), own_kernel(args, model)
    algorithms = args.algorithm or (() if own else tuple(ARGUMENTS))
    cases = [
        Case(name, batch, args.dtype, args.layout, device)
        for batch in args.batch
        for name in (*algorithms, *([own.label] if own else ()))
    ]
    peers: dict[str, list[Peer]] = {}
    if args.peers is not None:  # without names: all of them
        modules = args.peers or tuple(PEERS)
        peers, absent = peers_by_algorithm(model, peer_file(args), modules, algorithms)
        for line in absent:
            say(f"left out: {line}")
    with own.mistakes() if own else nullcontext(), compile_policy("wait"):
        measurements = list(measure_cases(model, cases, frame, peers, own))
    place = f"on {device}: {hardware(device)}"
    print_measurements(f"{model.name}, {args.dtype}, {args.layout}, {place}", measurements)
    if own:
        say(own.about())
    if args.json:
        write_file(args.json, lambda path: path.write_text(to_json(model, measurements)))
    if args.plot:
        write_file(args.plot, lambda path: plot(model, measurements, path))
    return 0


def _compare_on_one_core(args: argparse.Namespace) -> None:
    """Set the device and the threads of a comparison; raises if the user set others."""
    if args.device not in (None, "cpu") or args.threads not in (None, 1):
        raise UserError("--peers compares on one core of the CPU: leave out --device and --threads")
    args.device, args.threads = "cpu", 1


def to_json(model: Model, measurements: Sequence[Measurement]) -> str:
    """The measurements as JSON, with the machine and the versions."""
    versions = {module.__name__: module.__version__ for module in (warpdyn, wp, np)}
    about = {
        "robot": model.name,
        "nv": model.nv,
        "hardware": hardware(measurements[0].case.device) if measurements else "",
        "cores": os.cpu_count(),
        "versions": {**versions, "python": platform.python_version()},
    }
    rows = [{**asdict(m.case), **_numbers(m)} for m in measurements]
    return json.dumps({**about, "figures": rows}, indent=2) + "\n"


def _numbers(m: Measurement) -> dict[str, Any]:
    if m.refusal:
        return {"refusal": m.refusal}
    numbers: dict[str, Any] = {
        "ns_per_robot": m.ns_per_robot,
        "robots_per_second": m.robots_per_second,
        "worst_relative_error": m.worst_error,
        "first_call_seconds": m.first_call,
    }
    if m.peers:
        numbers["peers"] = {p.peer: _peer_numbers(p, m) for p in m.peers}
    return numbers


def _peer_numbers(p: PeerTime, m: Measurement) -> dict[str, Any]:
    if p.refusal:
        return {"refusal": p.refusal}
    return {
        "ns_per_robot": p.ns_per_robot,
        "times": p.ns_per_robot / m.ns_per_robot,
        "largest_relative_difference": p.difference,
    }


def plot(model: Model, measurements: Sequence[Measurement], path: Path) -> None:
    """Plot throughput against batch size, with one line for each algorithm."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for algorithm in dict.fromkeys(m.case.algorithm for m in measurements if not m.refusal):
        line = [m for m in measurements if m.case.algorithm == algorithm]
        line.sort(key=lambda m: m.case.batch)
        rates = [m.robots_per_second for m in line]
        axes.plot([m.case.batch for m in line], rates, marker="o", label=algorithm)
    if measurements:
        case = measurements[0].case
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
    figure.savefig(path, dpi=130)

"""The `warpdyn` command: what the library knows of a robot, whether it is right, and how fast it is.

Errors of the user are one line on stderr and exit code 2; `check` exits with 1 where a difference is too large.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import warp as wp

import warpdyn

from .. import load, load_robot, robot_names, set_num_threads
from ..codegen.source import TARGETS, write
from ..model import Model
from ..model.description import ModelError, ModelWarning

ALGORITHMS = ("fk", "jacobian", "crba", "rnea", "aba")


class UserError(Exception):
    """Something in the command line that cannot be done; the text says what to do instead."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    wp.config.log_level = wp.LOG_ERROR  # Warp's own chatter stays out of the tables
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return given.run(given)
    except (UserError, ModelError) as error:
        print(f"warpdyn: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("warpdyn: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


# The commands.


def info(given: argparse.Namespace) -> int:
    """The tree of links, its coordinates with their limits, masses, and what looks wrong."""
    model = _model(given, show_warnings=False)
    print(model.summary())
    if model.nv:
        print(
            f"\n{'q':>4} {'v':>4}  {'coordinate':32} {'lower':>9} {'upper':>9} {'velocity':>9} {'effort':>9}"
        )
    for joint in model.moving_joints:
        columns, limits = model.coordinates[joint.name], joint.limits
        for k in range(joint.kind.nq):
            q, v = columns.q.start + k, columns.v.start + k if k < joint.kind.nv else None
            bounds = (limits.lower, limits.upper, limits.velocity, limits.effort)
            shown = " ".join(f"{x:9.4g}" if math.isfinite(x) else f"{'-':>9}" for x in bounds)
            print(f"{q:4} {'' if v is None else v:>4}  {model.q_names[q]:32} {shown}")
    for j in model.joints:
        if j.mimic is not None and j.kind.nv:
            mimic = f"{j.mimic.multiplier:g} * {j.mimic.joint} + {j.mimic.offset:g}"
            print(f"           {j.name} = {mimic}")
    for warning in model.warnings:
        print(f"warning: {warning}")
    return 0


def check(given: argparse.Namespace) -> int:
    """Compare with Pinocchio and MuJoCo; 1 where a difference is too large, 2 where there is nobody to compare with."""
    from . import check as checking

    model = _model(given)
    frame = _frame(given, model)
    peers, absent = checking.find_peers(model, _path(given.robot))
    for line in absent:
        print(f"not compared: {line}")
    if not peers:
        raise UserError("there is no other library to compare with")
    if not model.nv:
        raise UserError(f"{model.name} has no moving joint: nothing to compare")
    differences = checking.compare(model, peers, frame, _device(given))
    title = f"{model.name}: largest relative difference over {checking.SAMPLE} random states"
    _console().print(checking.table(title, differences))
    print(
        "aba: by its residual M a + h - tau, with the peer's M and h, relative to the size of its terms"
    )
    for line in sorted(
        {f"{d.algorithm} is not defined: {d.refusal}" for d in differences if d.refusal}
    ):
        print(line)
    return 0 if all(d.passes for d in differences) else 1


def bench(given: argparse.Namespace) -> int:
    """Time the algorithms over batch sizes."""
    from . import bench as timing
    from .check import PEERS
    from .peer_times import find

    if given.plot:
        _needs_matplotlib()
    if given.peers is not None:
        if given.device not in (None, "cpu") or given.threads not in (None, 1):
            raise UserError(
                "--peers compares on one core of the CPU: leave --device and --threads out"
            )
        given.device, given.threads = "cpu", 1
    model = _moving(_model(given))
    frame, device, algorithms = _frame(given, model), _device(given), given.algorithm or ALGORITHMS
    cases = [
        timing.Case(algorithm, batch, given.dtype, given.layout, device)
        for batch in given.batch
        for algorithm in algorithms
    ]
    peers: dict[str, Any] = {}
    if given.peers is not None:
        peers, absent = find(model, _path(given.robot), given.peers or tuple(PEERS), algorithms)
        for line in absent:
            print(f"left out: {line}")
    figures = list(timing.measured(model, cases, frame, peers))
    title = f"{model.name}, {given.dtype}, {given.layout}, on {device}: {timing.hardware(device)}"
    _report(timing, title, figures)
    if given.json:
        _write(given.json, lambda path: path.write_text(timing.to_json(model, figures)))
    if given.plot:
        _write(given.plot, lambda path: timing.plot(model, figures, path))
    return 0


def compile_kernels(given: argparse.Namespace) -> int:
    """Fill the cache, so that later processes start at once."""
    from .workload import Workload, furthest_link, random_states

    model = _moving(_model(given))
    frame = _frame(given, model) or furthest_link(model)
    _start_warp()
    states, begin = random_states(model, 1), time.perf_counter()
    for device in given.device or ["cpu", *(["cuda:0"] if wp.is_cuda_available() else [])]:
        _known_device(device)
        for dtype in given.dtype:
            for algorithm in given.algorithm or ALGORITHMS:
                start = time.perf_counter()
                try:
                    Workload.of(
                        model, algorithm, states, frame=frame, dtype=dtype, device=device
                    ).call()
                except ModelError as error:
                    print(f"{algorithm:9} {dtype} {device:7} not defined: {error}")
                    continue
                print(
                    f"{algorithm:9} {dtype} {device:7} {time.perf_counter() - start:6.2f} s",
                    flush=True,
                )
    print(f"{model.name} is ready, after {time.perf_counter() - begin:.2f} s")
    return 0


def source(given: argparse.Namespace) -> int:
    """Print the recorded program, or the C++ that is made of it."""
    from ..execution.call import input_shapes
    from ..execution.evaluate import record_call
    from .workload import ARGUMENTS, furthest_link, options_of

    model, algorithm = _model(given), given.algorithm
    named = _frame(given, model)
    options = options_of(algorithm, named or furthest_link(model))
    if algorithm == "fk" and named:
        options = {"frame": named}
    names = ARGUMENTS[algorithm]
    call = getattr(warpdyn, algorithm).describe(model, *(None for _ in names), **options)
    program = record_call(call, input_shapes(call), given.dtype == "float32")
    title = f"{algorithm}_{model.name}"
    if given.target == "text":
        print(program.text(title))
    else:
        print(write(program, title, given.dtype == "float32", given.target).code)
    return 0


def demo(given: argparse.Namespace) -> int:
    """Five algorithms on 4,096 random states, checked and timed, then gravity compensation as a picture."""
    from . import bench as timing
    from . import demo as showing

    _needs_matplotlib()
    model = _moving(_model(given))
    device = _device(given)
    figures = list(timing.measured(model, showing.cases(device)))
    place = f"on {device}: {timing.hardware(device)}"
    title = f"{model.name} ({model.nv} dof), {showing.BATCH:,} random states, float32, {place}"
    _report(timing, title, figures)
    if any(f.refusal for f in figures):
        print("no picture of gravity compensation: forward dynamics is not defined for this robot")
        return 0
    if model.floating_base:
        print(
            "the base is free, and no joint torque holds it up: the picture is of the robot with its base fixed"
        )
        model = _moving(showing.with_base_held(model))
    motion = showing.simulate(model)
    _write(given.output, lambda path: showing.picture(model, motion, path))
    print(f"gravity compensation: {showing.story(model, motion)}\npicture: {given.output}")
    return 0


# What the commands share.


def _path(robot: str) -> Path:
    """The file of a bundled robot's name, or the path that was given."""
    bundled = Path(__file__).parents[1] / "robots" / f"{robot}.urdf"
    return bundled if robot in robot_names() else Path(robot)


def _model(given: argparse.Namespace, show_warnings: bool = True) -> Model:
    """The robot of the command line; what looks wrong in its file is said on stderr."""
    robot, options = (
        given.robot,
        {} if given.base is None else {"floating_base": given.base == "floating"},
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        if robot in robot_names():
            model = load_robot(robot, **options)
        elif Path(robot).exists():
            model = load(Path(robot), **options)
        else:
            raise UserError(
                f"there is no file {robot!r}, and no bundled robot of that name: {', '.join(robot_names())}"
            )
    for warning in caught if show_warnings else ():
        print(f"warning: {warning.message}", file=sys.stderr)
    return model


def _moving(model: Model) -> Model:
    if not model.nv:
        raise UserError(f"{model.name} has no moving joint: nothing to compute")
    return model


def _frame(given: argparse.Namespace, model: Model) -> str | None:
    try:
        return model.link_names[model.link_index(given.frame)] if given.frame else None
    except KeyError as error:
        raise UserError(error.args[0]) from None


def _device(given: argparse.Namespace) -> str:
    """The device asked for, else the best there is; threads are set on the way."""
    if getattr(given, "threads", None):
        set_num_threads(given.threads)
    _start_warp()
    if given.device is None:
        return wp.get_preferred_device().alias
    return _known_device(given.device)


def _start_warp() -> None:
    """Initialise Warp; that there is no GPU driver is no news, anything else that it has to say is passed on."""
    sys.stderr.flush()
    with tempfile.TemporaryFile("w+") as said:
        stderr = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            wp.init()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        said.seek(0)
        sys.stderr.writelines(line for line in said if "CUDA driver" not in line)


def _known_device(name: str) -> str:
    try:
        return wp.get_device(name).alias
    except Exception:
        known = ", ".join(d.alias for d in wp.get_devices())
        raise UserError(f"there is no device {name!r} here; there is {known}") from None


def _report(timing: Any, title: str, figures: Sequence[Any]) -> None:
    console = _console()
    console.print(timing.table(title, figures))
    for line in timing.explain(figures):
        console.print(line, highlight=False)


def _console() -> Any:
    """Tables keep their shape in files and pipes, which have no width."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=120)


def _needs_matplotlib() -> None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise UserError("pictures need matplotlib: pip install matplotlib")


def _write(path: Path, write: Callable[[Path], object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write {path}: {error}") from None


# The command line.


def _count(text: str) -> int:
    number = int(text.replace(",", "").replace("_", ""))
    if number < 1:
        raise ValueError
    return number


_count.__name__ = "whole number above 0"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warpdyn",
        description="Batched rigid-body dynamics of robots. ROBOT is a URDF, SDF or MJCF file, or a bundled robot: "
        f"{', '.join(robot_names())}.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], int], help: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        sub.add_argument(
            "robot",
            metavar="ROBOT",
            help="a URDF, SDF or MJCF file, or the name of a bundled robot",
        )
        sub.add_argument(
            "--base", choices=("fixed", "floating"), help="fix the root link or let it float"
        )
        sub.set_defaults(run=run)
        return sub

    def option_frame(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--frame",
            metavar="LINK",
            help="link of the Jacobian; default: the one behind most joints",
        )

    def option_device(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--device", help='"cpu" or "cuda:0"; default: a GPU if there is one')

    def option_algorithms(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--algorithm", nargs="+", choices=ALGORITHMS, help="default: all five")

    dtypes = ("float32", "float64")
    command("info", info, "print the tree of links, coordinates, limits, masses and warnings")

    sub = command(
        "check",
        check,
        "compare fk, jacobian, crba, rnea and aba with Pinocchio and MuJoCo, where installed",
    )
    option_frame(sub)
    option_device(sub)

    sub = command("bench", bench, "measure time for each robot, throughput, error and compile time")
    sub.add_argument(
        "--batch",
        nargs="+",
        type=_count,
        default=[4096],
        metavar="N",
        help="batch sizes; default: 4096",
    )
    sub.add_argument("--dtype", choices=dtypes, default="float32")
    sub.add_argument(
        "--layout",
        choices=("columns", "rows"),
        default="columns",
        help="in memory. columns: the same coordinate of all robots side by side; rows: one robot after the other",
    )
    option_algorithms(sub)
    option_frame(sub)
    option_device(sub)
    sub.add_argument("--threads", type=_count, metavar="N", help="CPU threads; default: all cores")
    sub.add_argument(
        "--peers",
        nargs="*",
        choices=("pinocchio", "mujoco"),
        metavar="NAME",
        help="beside them, where installed, on one core: pinocchio, mujoco; default: both",
    )
    sub.add_argument(
        "--json", type=Path, metavar="FILE", help="write the figures with versions and hardware"
    )
    sub.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw throughput against batch size (.png, .svg, .pdf)",
    )

    sub = command(
        "compile", compile_kernels, "compile the kernels of a robot ahead, into the cache"
    )
    sub.add_argument(
        "--dtype", nargs="+", choices=dtypes, default=["float32"], help="default: float32"
    )
    option_algorithms(sub)
    option_frame(sub)
    sub.add_argument(
        "--device", nargs="+", metavar="DEVICE", help="default: cpu, and cuda:0 if there is one"
    )

    sub = command("source", source, "print the program that was recorded for a robot")
    sub.add_argument("algorithm", choices=ALGORITHMS)
    sub.add_argument(
        "--frame", metavar="LINK", help="of the Jacobian, or of fk (default: all links)"
    )
    sub.add_argument("--dtype", choices=dtypes, default="float32")
    sub.add_argument(
        "--target",
        choices=("text", *TARGETS),
        default="text",
        help="text, or C++ for a device",
    )

    sub = command(
        "demo", demo, "compute, check and time 4,096 random states, then draw gravity compensation"
    )
    option_device(sub)
    sub.add_argument(
        "--output", type=Path, default=Path("demo.png"), metavar="FILE", help="default: demo.png"
    )
    return parser

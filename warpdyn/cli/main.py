"""The `warpdyn` command: what is known of a robot, whether it is right, and how fast it is.

Errors of the user are one line on stderr and exit code 2; `check` exits with 1 where a difference
is too large.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import warp as wp

from .. import __version__, robot_names
from ..codegen.source import TARGETS
from ..formats.registry import file_kinds
from ..model.description import ModelError
from ..model.printable import printable
from .argument_types import at_least_zero, count, package, positive, seed, xacro_argument
from .bench import bench
from .cache import show_caches
from .check import check
from .command_line import UserError
from .command_parser import CommandParser
from .compile import COMPILABLE, compile_kernels
from .export import export_code
from .info import info
from .label import label_logs
from .learning_arguments import Commands, add_device, add_page, add_policies, add_train
from .pictures.demo import demo
from .pictures.simulate import simulate
from .source import print_source
from .view import view
from .workload import ARGUMENTS

DTYPES = ("float32", "float64")

KERNEL = "my.py:impedance or package.module:impedance"
"""How a command line names a user's kernel."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    wp.config.log_level = wp.LOG_ERROR  # Warp's chatter stays out of the tables
    args = parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    run: Callable[[argparse.Namespace], int] = args.run
    try:
        return run(args)
    except (UserError, ModelError) as error:
        print(f"warpdyn: error: {printable(str(error))}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"warpdyn: error: not enough memory: {error}; try a smaller --batch", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("warpdyn: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        said = printable(f"{where}{error.strerror or error}")
        print(f"warpdyn: error: {said}", file=sys.stderr)
        return 2


def parser() -> CommandParser:
    """The command line with its commands."""
    result = CommandParser(
        prog="warpdyn",
        description="Batched rigid-body dynamics of robots. ROBOT is a file "
        f"({file_kinds()}) or a bundled robot: {', '.join(robot_names())}.",
    )
    result.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = result.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_info(commands)
    _add_check(commands)
    _add_bench(commands)
    _add_compile(commands)
    _add_source(commands)
    _add_export(commands)
    _add_label(commands)
    _add_demo(commands)
    _add_simulate(commands)
    add_train(commands)
    add_policies(commands)
    _add_view(commands)
    _add_cache(commands)
    return result


def _add_info(commands: Commands) -> None:
    text = "print the tree of links, coordinates, limits, masses and warnings"
    _add_command(commands, "info", info, text)


def _add_check(commands: Commands) -> None:
    text = "compare fk, jacobian, crba, rnea and aba with Pinocchio and MuJoCo, else the oracle"
    sub = _add_command(commands, "check", check, text)
    _add_frame(sub)
    add_device(sub)


def _add_bench(commands: Commands) -> None:
    text = "measure time for each robot, throughput, error and compile time"
    sub = _add_command(commands, "bench", bench, text)
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
        default="columns",
        help="in memory. columns: the same coordinate of all robots side by side; "
        "rows: one robot after the other",
    )
    _add_algorithms(sub)
    _add_kernel(sub)
    _add_frame(sub)
    add_device(sub)
    sub.add_argument("--threads", type=count, metavar="N", help="CPU threads; default: all cores")
    sub.add_argument(
        "--peers",
        nargs="*",
        choices=("pinocchio", "mujoco"),
        metavar="NAME",
        help="beside them, where installed, on one core: pinocchio, mujoco; default: both",
    )
    text = "write the figures with versions and hardware"
    sub.add_argument("--json", type=Path, metavar="FILE", help=text)
    text = "draw throughput against batch size (.png, .svg, .pdf)"
    sub.add_argument("--plot", type=Path, metavar="FILE", help=text)


def _add_compile(commands: Commands) -> None:
    text = "compile the kernels of a robot ahead, into the cache, on all cores"
    sub = _add_command(commands, "compile", compile_kernels, text)
    sub.add_argument(
        "--dtype", nargs="+", choices=DTYPES, default=["float32"], help="default: float32"
    )
    sub.add_argument(
        "--algorithm",
        nargs="+",
        choices=sorted(COMPILABLE),
        metavar="NAME",
        help="functions of the library, such as aba_derivatives inverse_kinematics; "
        f"default: {' '.join(ARGUMENTS)}",
    )
    _add_kernel(sub)
    sub.add_argument(
        "--gradients",
        nargs="+",
        metavar="INPUT",
        help="inputs that will require a gradient in Torch or JAX, such as q v: "
        "what their backward pass asks for is compiled too",
    )
    _add_frame(sub)
    text = "default: cpu, and cuda:0 if there is one"
    sub.add_argument("--device", nargs="+", metavar="DEVICE", help=text)


def _add_source(commands: Commands) -> None:
    text = "print the program that was recorded for a robot"
    sub = _add_command(commands, "source", print_source, text)
    sub.add_argument(
        "algorithm",
        metavar="ALGORITHM",
        help=f"{', '.join(ARGUMENTS)}, or a kernel of your own, {KERNEL}, "
        "which may also stand before the robot",
    )
    _add_option(sub)
    text = "of the Jacobian, of a kernel's option frame, or of fk (default: all links)"
    sub.add_argument("--frame", metavar="LINK", help=text)
    sub.add_argument("--dtype", choices=DTYPES, default="float32")
    sub.add_argument(
        "--target",
        choices=("text", *TARGETS),
        default="text",
        help="text, or C++ for a device",
    )


def _add_export(commands: Commands) -> None:
    text = "write functions of a robot as a header of C++ or C that needs no library"
    sub = _add_command(commands, "export", export_code, text)
    sub.add_argument(
        "functions",
        nargs="+",
        metavar="FUNCTION",
        help=f"rnea,aba,fk:LINK,jacobian:LINK, or a kernel of your own, {KERNEL}",
    )
    _add_option(sub)
    text = "default: ROBOT.hpp or ROBOT.h; with --python a folder"
    sub.add_argument("-o", "--out", type=Path, metavar="FILE", help=text)
    text = "namespace of C++, prefix of C, module of Python; default: the robot's name"
    sub.add_argument("--namespace", metavar="NAME", help=text)
    sub.add_argument("--frame", metavar="LINK", help="of a kernel's option frame")
    precision = sub.add_mutually_exclusive_group()
    precision.add_argument("--float32", action="store_true", help="numbers are floats")
    precision.add_argument("--float64", action="store_true", help="numbers are doubles (default)")
    kinds = sub.add_mutually_exclusive_group()
    kinds.add_argument("--c", action="store_true", help="C99 instead of C++17")
    kinds.add_argument(
        "--python", action="store_true", help="compile a module of Python that needs no warpdyn"
    )
    sub.add_argument("--no-libm", action="store_true", help="include no <cmath> or <math.h>")
    sub.add_argument("--force", action="store_true", help="replace a file that exists")


def _add_label(commands: Commands) -> None:
    text = "compute torques, poses and more for every row of many logs (extra [labels])"
    sub = _add_command(commands, "label", label_logs, text)
    sub.add_argument(
        "logs",
        nargs="+",
        metavar="LOG",
        help=".parquet, .npz, .csv, .bag, .mcap, .db3, a folder, or @list.txt",
    )
    sub.add_argument(
        "--quantity",
        action="append",
        metavar="NAME,...",
        help="rnea,fk:LINK,kinetic_energy, or torque=rnea for another name of the label",
    )
    text = f"of your own, {KERNEL}; options after colons: my.py:residual:gain=2"
    sub.add_argument("--kernel", action="append", metavar="FILE:NAME", help=text)
    text = "folder of the outputs, which keep the logs' names"
    sub.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help=text)
    text = "which columns are what: q=observation.state[:7],time=stamp:ns,episode=run"
    sub.add_argument("--columns", action="append", metavar="NAME=COLUMN,...", help=text)
    text = "of v and a that a log lacks; default: savgol:15, a window of 15 rows and degree 3"
    sub.add_argument("--filter", default="savgol:15", metavar="savgol:N[:DEGREE]", help=text)
    text = "threads of this machine, its processors by Ray, or a cluster; default: threads"
    sub.add_argument("--on", default="threads", metavar="threads|ray[:ADDRESS]", help=text)
    sub.add_argument("--workers", type=count, metavar="N", help="files at a time; default: cores")
    text = "of joint states in a bag; default: /joint_states"
    sub.add_argument("--topic", default="/joint_states", metavar="NAME", help=text)
    sub.add_argument("--dry-run", action="store_true", help="say what would be done, and end")
    text = "replace files of outputs' names that warpdyn has not written"
    sub.add_argument("--force", action="store_true", help=text)


def _add_demo(commands: Commands) -> None:
    text = "compute, check and time 4,096 random states, then draw gravity compensation"
    sub = _add_command(commands, "demo", demo, text)
    _add_frame(sub)
    add_device(sub)
    sub.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("demo.png"),
        metavar="FILE",
        help="default: demo.png",
    )


def _add_simulate(commands: Commands) -> None:
    text = "drop robots onto the ground, have them hold a posture, push them, and draw what happens"
    sub = _add_command(commands, "simulate", simulate, text)
    numbers: tuple[tuple[str, Callable[[str], object], object, str], ...] = (
        ("--envs", count, 1024, "how many robots; default: 1024"),
        ("--seconds", positive, 5.0, "of simulated time; default: 5"),
        ("--dt", positive, 0.005, "seconds of one step, at most 0.1; default: 0.005"),
        ("--substeps", count, 4, "steps in a launch; default: 4"),
        (
            "--kp",
            at_least_zero,
            None,
            "of all drives; default: all of a joint's effort at 0.1 rad",
        ),
        ("--kd", at_least_zero, None, "damping of all drives; default: by kp and inertia"),
        (
            "--friction",
            at_least_zero,
            None,
            "coefficient of the ground; default: of a MJCF file, else 0.8",
        ),
        ("--push", at_least_zero, 0.0, "newtons, every second in a random direction; default: 0"),
        ("--seed", seed, 0, "of where robots begin, and of pushes; default: 0"),
    )
    for name, kind, default, text in numbers:
        sub.add_argument(name, type=kind, default=default, metavar="N", help=text)
    text = "compute also what the sweeps over the contacts leave undone: another kernel, and slower"
    sub.add_argument("--residual", action="store_true", help=text)
    add_device(sub)
    sub.add_argument("--threads", type=count, metavar="N", help="CPU threads; default: all cores")
    text = "draw what happens over time (.png, .svg, .pdf)"
    sub.add_argument("--png", type=Path, metavar="FILE", help=text)
    text = "write what is drawn, and the last state, for numpy.load (.npz)"
    sub.add_argument("--save", type=Path, metavar="FILE", help=text)
    text = "replace the file of --save where it exists"
    sub.add_argument("--force", action="store_true", help=text)


def _add_view(commands: Commands) -> None:
    text = "show a robot, a trajectory or thousands of robots in the browser (extra [viewer])"
    sub = _add_command(commands, "view", view, text)
    sub.add_argument("--collision", action="store_true", help="the shapes that touch")
    text = "folder of a package that meshes name by package://NAME; may be said again"
    sub.add_argument(
        "--package", type=package, action="append", default=[], metavar="NAME=FOLDER", help=text
    )
    text = "how many robots, each at a configuration of its own; default: 1"
    sub.add_argument("--envs", type=count, default=1, metavar="N", help=text)
    text = "play a .npz, .csv or .parquet file, or the joint states of a .bag, .mcap or folder"
    sub.add_argument("--trajectory", type=Path, metavar="FILE", help=text)
    text = "of joint states in a bag; default: /joint_states"
    sub.add_argument("--topic", default="/joint_states", metavar="NAME", help=text)
    sub.add_argument("--speed", type=positive, default=1.0, metavar="N", help="default: 1")
    sub.add_argument("--once", action="store_true", help="do not begin again at the end")
    text = "write a page that needs no server (.html), or viser's recording (.viser), and end"
    sub.add_argument("--record", type=Path, metavar="FILE", help=text)
    text = "write a picture, by a headless Chromium, and end"
    sub.add_argument("--png", type=Path, metavar="FILE", help=text)
    add_page(sub)


def _add_cache(commands: Commands) -> None:
    text = "show where programs and kernels are kept, how many and how large, or remove them"
    sub = commands.add_parser("cache", help=text, description=text[0].upper() + text[1:] + ".")
    text = "remove them; kernels of other programs in Warp's cache stay"
    sub.add_argument("--empty", action="store_true", help=text)
    sub.add_argument("--yes", action="store_true", help="with --empty: remove without a question")
    sub.set_defaults(run=show_caches)


def _add_command(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], int], text: str
) -> argparse.ArgumentParser:
    """A command with what all have: the robot and its base."""
    sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    sub.add_argument(
        "robot",
        metavar="ROBOT",
        help=f"a file ({file_kinds()}), or the name of a bundled robot",
    )
    sub.add_argument(
        "--base", choices=("fixed", "floating"), help="fix the root link or let it float"
    )
    sub.add_argument(
        "--loops",
        choices=("refuse", "cut"),
        help="joints and constraints of SDF and MJCF that close a loop; default: refuse",
    )
    sub.add_argument(
        "--xacro-arg",
        type=xacro_argument,
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="an argument of a xacro file; may be repeated",
    )
    sub.set_defaults(run=run)
    return sub


def _add_kernel(sub: argparse.ArgumentParser) -> None:
    text = f"of your own, {KERNEL}, instead of the algorithms, or beside those of --algorithm"
    sub.add_argument("--kernel", metavar="FILE:NAME", help=text)
    _add_option(sub)


def _add_option(sub: argparse.ArgumentParser) -> None:
    text = "options of the kernel, such as stiffness=300; a frame that is not named is --frame's"
    sub.add_argument("--option", nargs="+", metavar="NAME=VALUE", help=text)


def _add_frame(sub: argparse.ArgumentParser) -> None:
    text = "link of the Jacobian; default: the one behind most joints"
    sub.add_argument("--frame", metavar="LINK", help=text)


def _add_algorithms(sub: argparse.ArgumentParser) -> None:
    text = f"some of {', '.join(ARGUMENTS)}; default: all five"
    sub.add_argument("--algorithm", nargs="+", choices=ARGUMENTS, metavar="NAME", help=text)

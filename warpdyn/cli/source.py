"""`warpdyn source`: prints the program recorded for a robot, as text or as C++."""

from __future__ import annotations

import argparse
from typing import Any

from ..codegen.targets import FOR_FEW, TARGETS, write
from ..execution.request.call import Call, input_shapes
from ..execution.request.evaluate import record_call
from ..model import Model
from ..model.names import printable, spelling_hint
from ..user_kernels.loading import names_a_kernel
from .command_line import UserError, find_frame, read_model
from .own_kernels import ChosenKernel
from .shared_options import DTYPES, KERNEL, Commands, add_command, add_kernel_options, add_robot
from .workload import ARGUMENTS, FUNCTIONS, furthest_link, options_of


def add_parser(commands: Commands) -> None:
    """Add `warpdyn source`."""
    text = "print the program that was recorded for a robot"
    sub = add_command(commands, "source", text)
    add_robot(sub)
    sub.add_argument(
        "algorithm",
        metavar="ALGORITHM",
        help=f"{', '.join(ARGUMENTS)}, or a kernel of your own, {KERNEL}, "
        "which may also stand before the robot",
    )
    add_kernel_options(sub)
    text = "link of the Jacobian, of a kernel's option frame, or of fk (default: all links)"
    sub.add_argument("--frame", metavar="LINK", help=text)
    sub.add_argument("--dtype", choices=DTYPES, default="float32")
    sub.add_argument(
        "--target",
        choices=("text", *(name for name in TARGETS if name not in FOR_FEW)),
        default="text",
        help="form of the program: text, or C++ for a device",
    )
    sub.set_defaults(run=print_source)


def print_source(args: argparse.Namespace) -> int:
    """Print the recorded program, or the C++ code generated from it."""
    args.robot, name = in_order(args.robot, args.algorithm)
    model, single = read_model(args), args.dtype == "float32"
    if names_a_kernel(name):
        own = ChosenKernel.of(name, args, model)
        # Only the shapes of the arrays are used.
        call = own.describe_call(own.arrays(1))
        with own.mistakes():
            program = record_call(call, input_shapes(call), single)
    else:
        call = of_algorithm(name, args, model)
        program = record_call(call, input_shapes(call), single)
    title = printable(f"{call.name}_{model.name}")
    if args.target == "text":
        print(program.listing(title))
    else:
        print(write(program, title, single, args.target).full_source)
    return 0


def in_order(first: str, second: str) -> tuple[str, str]:
    """The robot and the algorithm or kernel; a kernel may come first."""
    return (second, first) if names_a_kernel(first) else (first, second)


def of_algorithm(name: str, args: argparse.Namespace, model: Model) -> Call[Any]:
    """The call of an algorithm, without arrays, because recording needs only the shapes of the
    inputs."""
    if name not in ARGUMENTS:
        raise UserError(
            f"there is no algorithm {name!r}: {', '.join(ARGUMENTS)}, or a kernel of your own, "
            f"my.py:impedance{spelling_hint(name, ARGUMENTS)}"
        )
    if args.option:
        raise UserError(
            "--option is for a kernel of your own: warpdyn source my.py:impedance ROBOT"
        )
    frame = find_frame(args, model)
    options = options_of(name, frame or furthest_link(model))
    if name == "fk" and frame:
        options = {"frame": frame}
    return FUNCTIONS[name].describe(model, *(... for _ in ARGUMENTS[name]), **options)

"""`warpdyn export`: writes functions of a robot as a C++ or C header, or as a Python module."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..functions.export.compile_ahead import Precision
from ..functions.export.exporting import ExportLanguage, export
from ..functions.export.identifiers import identifier
from ..functions.export.python_extension import export_python
from ..labels.named_functions import is_public, named_function
from ..model import Model
from ..user_kernels.loading import names_a_kernel
from .command_line import UserError, read_model, refuse_immobile, user_errors
from .own_kernels import ChosenKernel, reads_frame
from .shared_options import KERNEL, Commands, add_command, add_kernel_options, add_robot

NOT_OF_A_MODULE = {"no_libm": "--no-libm", "bounded_loops": "--bounded-loops"}
"""Options that a Python module does not have."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn export`."""
    text = "write functions of a robot as a header without a library, or a package of controllers"
    sub = add_command(commands, "export", text)
    add_robot(sub)
    # Functions may be separated by spaces or by commas.
    sub.add_argument(
        "functions",
        nargs="*",
        metavar="FUNCTION",
        help=f"rnea,aba,fk:LINK,jacobian:LINK, or a kernel of your own, {KERNEL}; with --ros2-control laws",
    )
    add_kernel_options(sub)
    text = "default: ROBOT.hpp or ROBOT.h; with --python a folder"
    sub.add_argument("-o", "--out", type=Path, metavar="FILE", help=text)
    text = "C++ namespace, C prefix, Python module or ROS package; default: the robot's name"
    sub.add_argument("--namespace", metavar="NAME", help=text)
    text = "link of a kernel's option frame, and of cartesian_impedance"
    sub.add_argument("--frame", metavar="LINK", help=text)
    precision = sub.add_mutually_exclusive_group()
    precision.add_argument("--float32", action="store_true", help="numbers are floats")
    precision.add_argument("--float64", action="store_true", help="numbers are doubles (default)")
    kinds = sub.add_mutually_exclusive_group()
    kinds.add_argument("--c", action="store_true", help="C99 instead of C++17")
    kinds.add_argument(
        "--python", action="store_true", help="compile a Python module that runs without warpdyn"
    )
    text = (
        "write a ROS 2 package with ros2_control controllers into a new folder; laws: "
        "gravity_compensation, computed_torque, joint_impedance, cartesian_impedance (default: all), "
        "or your own kernels"
    )
    sub.add_argument("--ros2-control", type=Path, metavar="DIR", help=text)
    text = "joints that the controllers command, in order; default: all"
    sub.add_argument("--joints", action="append", default=[], metavar="A,B,...", help=text)
    text = "include no <cmath> or <math.h>; not with --python"
    sub.add_argument("--no-libm", action="store_true", help=text)
    text = "allow loops that end early, so that times depend on arguments; not with --python"
    sub.add_argument("--bounded-loops", action="store_true", help=text)
    sub.add_argument("--force", action="store_true", help="replace a file that exists")
    sub.set_defaults(run=export_code)


def export_code(args: argparse.Namespace) -> int:
    """Write the file or the package, and print its contents in one line."""
    model = refuse_immobile(read_model(args))
    if args.ros2_control is not None:
        from .export_controllers import export_controllers

        return export_controllers(args, model)
    if args.joints:
        raise UserError("--joints is for --ros2-control")
    for name, option in NOT_OF_A_MODULE.items():
        if args.python and getattr(args, name):
            raise UserError(f"{option} is not for --python, only for headers")
    calls = _functions(args, model)
    dtype: Precision = "float32" if args.float32 else "float64"
    language: ExportLanguage = "c" if args.c else "c++"
    namespace = identifier(args.namespace or model.name)
    try:
        if args.python:
            made = export_python(
                model, calls, args.out or Path(), name=namespace, dtype=dtype, overwrite=args.force
            )
            print(f"{made}: import {namespace}; {', '.join(calls)}, each with _batch")
            return 0
        out = args.out or Path(f"{namespace}.{'h' if args.c else 'hpp'}")
        text = export(
            model,
            calls,
            out,
            namespace=namespace,
            dtype=dtype,
            language=language,
            libm=not args.no_libm,
            bounded_loops=args.bounded_loops,
            overwrite=args.force,
        )
    # The library's message suggests overwrite=True, which is --force here.
    except FileExistsError as error:
        raise UserError(f"{error.args[0].partition(';')[0]}; --force replaces it") from None
    # A TypeError is a function that needs more than states, such as contact points.
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(str(error)) from None
    print(f"{out}: {', '.join(calls)}, each with _batch; {len(text.splitlines())} lines")
    return 0


def _functions(args: argparse.Namespace, model: Model) -> dict[str, Callable[..., Any]]:
    """The functions to write, by their names in the file."""
    args.kernel = None
    calls: dict[str, Callable[..., Any]] = {}
    wanted = [x for each in args.functions for x in each.split(",") if x]
    if not wanted:
        raise UserError("name at least one function, such as rnea, or a folder with --ros2-control")
    if args.option and not any(names_a_kernel(text) for text in wanted):
        raise UserError(
            "--option is for a kernel of your own; options of a function follow colons, fk:LINK:form=pose"
        )
    for text in wanted:
        name, call = _function(text, args, model)
        if name in calls:
            raise UserError(f"two functions would be called {name}: name each once")
        calls[name] = call
    own = [each.func for each in calls.values() if isinstance(each, partial)]
    if args.frame and not any(reads_frame(kernel) for kernel in own):
        raise UserError(
            "--frame is for the option frame of a kernel of your own; the link of a function follows "
            "a colon, jacobian:LINK"
        )
    return calls


def _function(text: str, args: argparse.Namespace, model: Model) -> tuple[str, Callable[..., Any]]:
    """The function for `rnea`, `fk:hand` or `my.py:impedance`, and its name in the file."""
    if not is_public(text.partition(":")[0]) and names_a_kernel(text):
        own = ChosenKernel.of(text, args, model)
        return identifier(own.kernel.__name__), own.with_options()
    with user_errors(ValueError):
        return named_function(model, text)

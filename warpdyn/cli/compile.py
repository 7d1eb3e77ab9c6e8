"""`warpdyn compile`: compiles the kernels of a robot in advance, into the cache, on all cores."""

from __future__ import annotations

import argparse
import inspect
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import warp as wp

import warpdyn

from ..execution.batched import Function
from ..execution.compile.compiling import Kernel, load_all
from ..execution.fast_paths import compile_c_functions
from ..functions.export.compile_ahead import check_gradients, kernels_of, zeros_of
from ..model.names import ModelError
from .command_line import (
    UserError,
    find_device,
    find_frame,
    read_model,
    refuse_immobile,
    start_warp,
)
from .own_kernels import own_kernel
from .shared_options import DTYPES, Commands, add_command, add_frame, add_kernel, add_robot
from .workload import ARGUMENTS, furthest_link

COMPILABLE: Mapping[str, Function] = {
    name: function
    for name, function in vars(warpdyn).items()
    if isinstance(function, Function) and function.of_a_model
}
"""Public functions of a model, by name."""

OF_ONE_FRAME = ("jacobian", "jacobian_derivative", "inverse_kinematics")
"""Functions that work without a frame but are usually called with one."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn compile`."""
    text = "compile the kernels of a robot into the cache in advance, on all cores"
    sub = add_command(commands, "compile", text)
    add_robot(sub)
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
    add_kernel(sub)
    # Each choice of inputs that require a gradient is another kernel, so the inputs must be named.
    sub.add_argument(
        "--gradients",
        nargs="+",
        metavar="INPUT",
        help="inputs that will require a gradient in Torch or JAX, such as q v: "
        "kernels of their backward pass are compiled too",
    )
    add_frame(sub)
    text = "default: cpu, and cuda:0 if there is one"
    sub.add_argument("--device", nargs="+", metavar="DEVICE", help=text)
    sub.set_defaults(run=compile_kernels)


def compile_kernels(args: argparse.Namespace) -> int:
    """Fill the cache, so that later processes start at once."""
    model = refuse_immobile(read_model(args))
    frame = find_frame(args, model) or furthest_link(model)
    start_warp()
    own = own_kernel(args, model)
    begin = time.perf_counter()
    kernels: dict[Kernel, str] = {}
    names = args.algorithm or (() if own else ARGUMENTS)
    calls = {name: partial(COMPILABLE[name], **frame_of(name, frame)) for name in names}
    if args.gradients:
        known = [*calls.values(), *([own.with_options()] if own else [])]
        try:
            check_gradients(model, known, args.gradients, zeros_of(args.dtype[0], "cpu"))
        except ValueError as error:
            raise UserError(f"--gradients: {error}") from None
    for device in args.device or ["cpu", *(["cuda:0"] if wp.is_cuda_available() else [])]:
        find_device(device)
        for dtype in args.dtype:
            options = {"dtype": dtype, "device": device, "gradients": args.gradients or ()}
            for name, call in calls.items():
                try:
                    made = kernels_of(model, call, **options)
                except (ModelError, TypeError, ValueError) as error:
                    print(f"{name:9} {dtype} {device:7} not defined: {error}")
                    continue
                kernels |= dict.fromkeys(made, f"{dtype} {device:7}")
            if own:
                with own.mistakes():
                    made = kernels_of(model, own.with_options(), **options)
                kernels |= dict.fromkeys(made, f"{dtype} {device:7}")
    # Small calls and launches on several threads also use C functions, which are compiled too.
    compile_c_functions(kernels)
    compiled = load_with_lines(kernels)
    seconds = time.perf_counter() - begin
    print(
        f"{model.name} is ready, after {seconds:.2f} s: "
        f"{compiled} kernels compiled, {len(kernels) - compiled} in the cache before"
    )
    return 0


def frame_of(name: str, frame: str) -> dict[str, Any]:
    """The keyword `frame` for functions of one frame."""
    parameter = inspect.signature(COMPILABLE[name].describe).parameters.get("frame")
    needed = parameter is not None and parameter.default is parameter.empty
    return {"frame": frame} if needed or name in OF_ONE_FRAME else {}


def load_with_lines(kernels: Mapping[Kernel, str]) -> int:
    """Compile with a line for each kernel that is ready. Meanwhile stderr has a line that says for how
    long, or a bar that moves with the clock if it is a terminal."""
    from tqdm import tqdm

    width = max((len(kernel.label) for kernel in kernels), default=0)

    def report_kernel(kernel: Kernel, seconds: float) -> None:
        # The line stands above a bar.
        tqdm.write(f"{kernel.label:{width}} {kernels[kernel]} {seconds:6.2f} s")

    return load_all(list(kernels), report_kernel)

"""`warpdyn source`: the program that was recorded for a robot, as text or as C++."""

from __future__ import annotations

import argparse

from ..codegen.source import write
from ..execution.call import input_shapes
from ..execution.evaluate import record_call
from .command_line import named_frame, read_model
from .workload import ARGUMENTS, FUNCTIONS, furthest_link, options_of


def print_source(args: argparse.Namespace) -> int:
    """Print the recorded program, or the C++ that is made of it."""
    model, algorithm, single = read_model(args), args.algorithm, args.dtype == "float32"
    frame = named_frame(args, model)
    options = options_of(algorithm, frame or furthest_link(model))
    if algorithm == "fk" and frame:
        options = {"frame": frame}
    names = ARGUMENTS[algorithm]
    # Recording needs the shapes of the inputs alone, so that the call is described without arrays.
    call = FUNCTIONS[algorithm].describe(model, *(... for _ in names), **options)
    program = record_call(call, input_shapes(call), single)
    title = f"{algorithm}_{model.name}"
    if args.target == "text":
        print(program.text(title))
    else:
        print(write(program, title, single, args.target).code)
    return 0

"""The `warpdyn` command: what is known of a robot, whether it is right, and how fast it is.

Errors of the user are one line on stderr and exit code 2; `check` exits with 1 where a difference
is too large.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

import warp as wp

from .. import __version__, robot_names
from ..formats.registry import file_kinds
from ..model.description import ModelError
from ..model.printable import printable
from . import bench, cache, check, compile, export, info, label, source, view
from .command_line import UserError
from .command_parser import CommandParser
from .learning import eval, play, sim2sim, train
from .pictures import simulate

COMMANDS = (
    info,
    check,
    bench,
    compile,
    source,
    export,
    label,
    simulate,
    train,
    eval,
    sim2sim,
    play,
    view,
    cache,
)
"""A module for each command, in the order of `warpdyn --help`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return carry_out(parser(), arguments)


def carry_out(parser: CommandParser, arguments: Sequence[str] | None) -> int:
    """Parse the arguments and call what they name in `run`; a user's errors are a line on stderr."""
    wp.config.log_level = wp.LOG_ERROR  # Warp's chatter stays out of the tables
    args = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
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
    for command in COMMANDS:
        command.add_parser(commands)
    return result

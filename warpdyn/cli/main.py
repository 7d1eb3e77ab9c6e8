"""The `warpdyn` command: information about robots, checks, timings, simulation and learning.

User errors give one line on stderr and exit code 2. `check` exits with 1 if a difference is too
large.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import warp as wp

from .. import __version__, robot_names
from ..formats.registry import file_kinds
from ..model.names import ModelError, printable, spelling_hint
from . import bench, cache, check, compile, export, info, label, source, view
from .command_line import UserError
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
    if arguments is None:
        # This process ends with the command. Without this, Python's last collections look through
        # 130,000 objects that the imports made, which takes 0.3 s.
        atexit.register(gc.freeze)
    try:
        return carry_out(parser(), arguments)
    except KeyboardInterrupt:
        print("warpdyn: interrupted", file=sys.stderr)
        return 130


def carry_out(parser: CommandParser, arguments: Sequence[str] | None) -> int:
    """Parse the arguments and call the command's `run`; a user's errors are a line on stderr."""
    wp.config.log_level = wp.LOG_ERROR  # keeps Warp's messages out of the tables
    try:
        args = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
        run: Callable[[argparse.Namespace], int] = args.run
        return run(args)
    except (UserError, ModelError) as error:
        print(f"warpdyn: error: {printable(str(error))}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"warpdyn: error: not enough memory: {error}; try a smaller --batch", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        message = printable(f"{where}{error.strerror or error}")
        print(f"warpdyn: error: {message}", file=sys.stderr)
        return 2


def parser() -> CommandParser:
    """The parser of the command line with its commands."""
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


class CommandParser(argparse.ArgumentParser):
    """A parser that answers a misspelled command or option with "did you mean"."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._arguments: list[str] = []
        self._commands: dict[str, CommandParser] = {}

    def add_subparsers(self, **options: Any) -> Any:
        """The commands, whose names are those that a misspelled one is compared with."""
        commands = super().add_subparsers(**options)
        self._commands = commands.choices
        return commands

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As of `argparse`; the arguments are remembered for `error`."""
        self._arguments = [] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and what misspelled names are near to; exit with 2."""
        name = next((each for each in self._arguments if not each.startswith("-")), None)
        if self._commands and name is not None:
            if name not in self._commands:
                hint = (
                    spelling_hint(name, self._commands)
                    or f"; {self.prog} --help lists the commands"
                )
                super().error(f"there is no command {name!r}{hint}")
            self._commands[name].error(message)
        super().error(message + self._spelling_hint())

    def _spelling_hint(self) -> str:
        """Options that are none of this command, with those that they are near to."""
        known = self._option_string_actions
        given = (each.partition("=")[0] for each in self._arguments if each.startswith("--"))
        unknown = (each for each in given if each not in known)
        return "".join(spelling_hint(each, known) for each in unknown)

"""Options that several commands share, each with one name, one default and one help text."""

from __future__ import annotations

import argparse
from typing import TypeAlias

from ..formats.registry import file_kinds
from .argument_types import count, port, xacro_argument

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

DTYPES = ("float32", "float64")

KERNEL = "my.py:impedance or package.module:impedance"
"""Forms of a user's kernel in a command line."""


def add_command(
    commands: Commands, name: str, text: str, own_help: bool = False
) -> argparse.ArgumentParser:
    """A new command without options; `text` describes it in the list of commands and in its help.

    With `own_help` the command adds its option `--help` itself. Its argument TASK then stands
    first, because options with several values would take it as one of them.
    """
    description = text[0].upper() + text[1:] + "."
    usage = "%(prog)s TASK [options]" if own_help else None
    return commands.add_parser(
        name, help=text, description=description, add_help=not own_help, usage=usage
    )


def add_robot(sub: argparse.ArgumentParser) -> None:
    """Add the argument `ROBOT`, and `--base`, `--loops`, `--model` and `--xacro-arg`, which say how
    to read it."""
    text = f"a file ({file_kinds()}), or the name of a bundled robot"
    sub.add_argument("robot", metavar="ROBOT", help=text)
    text = "fix the root link or let it float"
    sub.add_argument("--base", choices=("fixed", "floating"), help=text)
    text = "joints and constraints of SDF, MJCF and USD files that close a loop; default: keep"
    sub.add_argument("--loops", choices=("keep", "cut", "refuse"), help=text)
    text = "one of several robots of an SDF or USD file; world: all bodies of the file together"
    sub.add_argument("--model", dest="part", metavar="NAME", help=text)
    sub.add_argument(
        "--xacro-arg",
        type=xacro_argument,
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help="an argument of a xacro file; may be repeated",
    )


def add_frame(sub: argparse.ArgumentParser) -> None:
    """Add the option `--frame`, the Jacobian's link."""
    text = "link of the Jacobian; default: the one that most joints move"
    sub.add_argument("--frame", metavar="LINK", help=text)


def add_kernel(sub: argparse.ArgumentParser) -> None:
    """Add the options `--kernel` and `--option`."""
    text = f"your own kernel, {KERNEL}, instead of the algorithms, or in addition to those of --algorithm"
    sub.add_argument("--kernel", metavar="FILE:NAME", help=text)
    add_kernel_options(sub)


def add_kernel_options(sub: argparse.ArgumentParser) -> None:
    """Add the option `--option`, the values of a kernel's options."""
    text = "options of the kernel, such as stiffness=300; its option frame is --frame by default"
    sub.add_argument("--option", nargs="+", metavar="NAME=VALUE", help=text)


def add_device(sub: argparse.ArgumentParser) -> None:
    """Add the option `--device`."""
    sub.add_argument("--device", help='"cpu" or "cuda:0"; default: a GPU if there is one')


def add_threads(sub: argparse.ArgumentParser) -> None:
    """Add the option `--threads`."""
    sub.add_argument("--threads", type=count, metavar="N", help="CPU threads; default: all cores")


def add_topic(sub: argparse.ArgumentParser) -> None:
    """Add the option `--topic`, the topic of a bag's joint states."""
    text = "topic of the joint states in a bag; default: /joint_states"
    sub.add_argument("--topic", default="/joint_states", metavar="NAME", help=text)


def add_page(sub: argparse.ArgumentParser) -> None:
    """Add the options `--host` and `--port` of a page."""
    sub.add_argument("--host", default="127.0.0.1", help="address of the page; default: 127.0.0.1")
    text = "port of the page, 0 for any free one; default: 8080"
    sub.add_argument("--port", type=port, default=8080, metavar="N", help=text)

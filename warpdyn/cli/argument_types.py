"""Argument types of the command line: numbers and names, checked as they are parsed."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path


def count(text: str) -> int:
    """A number of items; digits may be grouped by commas or underscores."""
    try:
        whole = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        whole = 0
    if whole < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return whole


def positive(text: str) -> float:
    """A number above zero."""
    return number(text, "above 0", lambda x: x > 0)


def at_least_zero(text: str) -> float:
    """A number that is not negative."""
    return number(text, "of at least 0", lambda x: x >= 0)


def number(text: str, which: str, allowed: Callable[[float], bool]) -> float:
    """A finite number that satisfies `allowed`."""
    try:
        x = float(text)
    except ValueError:
        x = math.nan
    if not (math.isfinite(x) and allowed(x)):
        raise argparse.ArgumentTypeError(f"must be a number {which}, got {text!r}")
    return x


def seed(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, got {text!r}")
    return int(text)


def port(text: str) -> int:
    """A port number."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a port, 0 to 65535, got {text!r}")
    return int(text)


def package(text: str) -> tuple[str, Path]:
    """The name of a package and its folder."""
    name, _, folder = text.partition("=")
    if not (name and folder and Path(folder).is_dir()):
        raise argparse.ArgumentTypeError(
            f"must be NAME=FOLDER, with a folder that exists, got {text!r}"
        )
    return name, Path(folder)


def xacro_argument(text: str) -> tuple[str, str]:
    """The name and the value of an argument of a xacro file."""
    name, between, value = text.partition(":=")
    if not (name and between):
        raise argparse.ArgumentTypeError(f"invalid NAME:=VALUE of a xacro argument: {text!r}")
    return name, value

"""Types of command line arguments: accepted values, and refusals in plain words."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpdyn.cli.argument_types import (
    at_least_zero,
    count,
    package,
    port,
    positive,
    seed,
    xacro_argument,
)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (count, "1", 1),
        (count, "4,096", 4096),
        (count, "1_000", 1000),
        (positive, "1e-3", 0.001),
        (at_least_zero, "0", 0.0),
        (seed, "0", 0),
        (seed, "7", 7),
        (port, "8080", 8080),
        (port, "65535", 65535),
        (xacro_argument, "hand:=", ("hand", "")),
        (xacro_argument, "hand:=a:=b", ("hand", "a:=b")),
        (package, "arm=.", ("arm", Path())),
    ],
)
def test_a_text_is_read(read: Callable[[str], Any], text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "error"),
    [
        (count, "0", "must be a whole number of at least 1, got '0'"),
        (count, "many", "must be a whole number of at least 1, got 'many'"),
        (positive, "0", "must be a number above 0, got '0'"),
        (positive, "inf", "must be a number above 0, got 'inf'"),
        (at_least_zero, "-1", "must be a number of at least 0, got '-1'"),
        (port, "99999", "must be a port, 0 to 65535, got '99999'"),
        (seed, "-3", "must be a whole number of at least 0, got '-3'"),
        (port, "65536", "must be a port, 0 to 65535, got '65536'"),
        (xacro_argument, "hand=no", "invalid NAME:=VALUE of a xacro argument: 'hand=no'"),
        (xacro_argument, ":=no", "invalid NAME:=VALUE of a xacro argument: ':=no'"),
        (package, "arm=", "must be NAME=FOLDER, with a folder that exists, got 'arm='"),
        (package, "=.", "must be NAME=FOLDER, with a folder that exists, got '=.'"),
        (package, "arm=none", "must be NAME=FOLDER, with a folder that exists, got 'arm=none'"),
    ],
)
def test_another_text_is_refused(read: Callable[[str], Any], text: str, error: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=re.escape(error)):
        read(text)

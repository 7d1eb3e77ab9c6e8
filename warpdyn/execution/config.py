"""Switches for the whole process, each initialised by an environment variable."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING

VERBOSE = "WARPDYN_VERBOSE"
"""Environment variable. "0": no messages of warpdyn; unset: only warpdyn's; any other value: Warp's
too."""


class Config:
    """`wd.config`: switches that may be set at any time."""

    debug: bool
    """Check the arrays of each call first (except bound calls), and raise for numbers that are not
    finite and quaternions that are not of unit length, by environment and joint.
    WARPDYN_DEBUG=1."""

    compile_messages: bool
    """Print a line on stderr, or a bar on a terminal, before a compilation of more than a second,
    and a line if a cache cannot be written. Initially False if WARPDYN_VERBOSE is 0."""

    def __init__(self) -> None:
        self.debug = os.environ.get("WARPDYN_DEBUG", "") not in ("", "0")
        self.compile_messages = os.environ.get(VERBOSE) != "0"

    if not TYPE_CHECKING:  # a type checker is to reject unknown switches itself

        def __setattr__(self, name: str, value: bool) -> None:
            """Raise for a switch that does not exist, which would change nothing."""
            switches = list(Config.__annotations__)
            if name not in switches:
                meant = next(iter(get_close_matches(name, switches, n=1)), None)
                hint = f"did you mean {meant}?" if meant else f"there are {', '.join(switches)}"
                raise AttributeError(f"wd.config has no switch {name!r}; {hint}")
            if not isinstance(value, bool):
                raise TypeError(f"wd.config.{name} must be True or False, got {value!r}")
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<Config: {', '.join(f'{name}={on}' for name, on in vars(self).items())}>"


config = Config()

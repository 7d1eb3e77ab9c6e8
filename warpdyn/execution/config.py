"""Switches of the whole process, each begun by an environment variable."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import TYPE_CHECKING

VERBOSE = "WARPDYN_VERBOSE"
"""Environment variable. "0": no line of ours; unset: ours alone; anything else: Warp's as well."""


class Config:
    """`wd.config`: switches that may be set at any time."""

    debug: bool
    """Every ordinary call looks at its arrays first and refuses, by environment and joint, numbers
    that are not finite and quaternions that are not of unit length. WARPDYN_DEBUG=1."""

    compile_messages: bool
    """Whether stderr has a line, or a bar on a terminal, before a compile of more than a second,
    and a line where a cache cannot be written. At first False where WARPDYN_VERBOSE is 0."""

    def __init__(self) -> None:
        self.debug = os.environ.get("WARPDYN_DEBUG", "") not in ("", "0")
        self.compile_messages = os.environ.get(VERBOSE) != "0"

    if not TYPE_CHECKING:  # a type checker is to refuse unknown switches itself

        def __setattr__(self, name: str, value: bool) -> None:
            """Refuse a switch that does not exist, which would change nothing."""
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

"""Switches for the whole process, each initialised by an environment variable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, get_args

VERBOSE = "WARPDYN_VERBOSE"
"""Environment variable. "0": no messages of warpdyn; unset: only warpdyn's; any other value: Warp's
too."""


COMPILE = "WARPDYN_COMPILE"
"""Environment variable with the initial value of `wd.config.compile`."""

COMPILE_AFTER = "WARPDYN_COMPILE_AFTER"
"""Environment variable: number of calls after which a kernel is compiled in the background; 2 if unset.
A kernel whose calls have taken 20 ms is compiled earlier."""

Compile = Literal["background", "wait", "never"]
"""When a CPU kernel is compiled."""

CompileDevice = Literal["cpu"] | None
"""Where calls are computed while a GPU kernel is compiled."""


class Config:
    """`wd.config`: switches that may be set at any time."""

    debug: bool
    """Check the arrays of each call first (except bound calls), and raise for numbers that are not
    finite and quaternions that are not of unit length, by environment and joint.
    WARPDYN_DEBUG=1."""

    compile_messages: bool
    """Print a line on stderr, or a bar on a terminal, before a compilation of more than a second,
    and a line if a cache cannot be written. Initially False if WARPDYN_VERBOSE is 0."""

    compile: Compile
    """When CPU kernels are compiled. "background": the first calls are interpreted, a thread compiles
    the kernel meanwhile, and later calls run it, with the same results to the last bit. "wait": the
    first call waits for the compiler. "never": all calls are interpreted, which takes 1 to 5 times as
    long for large batches. WARPDYN_COMPILE."""

    compile_device: CompileDevice
    """Where the first calls of a GPU kernel are computed. None: their first call waits for NVRTC. "cpu":
    the CPU computes calls while a thread compiles the kernel, if `compile` is "background"; bound calls
    and captures still wait."""

    def __init__(self) -> None:
        self.debug = os.environ.get("WARPDYN_DEBUG", "") not in ("", "0")
        self.compile_messages = os.environ.get(VERBOSE) != "0"
        self.compile = _of_environment(os.environ.get(COMPILE) or "background")
        self.compile_device = None

    if not TYPE_CHECKING:  # a type checker rejects unknown switches itself

        def __setattr__(self, name: str, value: bool | str | None) -> None:
            """Set a switch. Raises for one that does not exist, because setting it would have no
            effect."""
            switches = list(Config.__annotations__)
            if name not in switches:
                meant = next(iter(get_close_matches(name, switches, n=1)), None)
                hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(switches)}"
                raise AttributeError(f"wd.config has no switch {name!r}; {hint}")
            if name == "compile":
                if value not in get_args(Compile):
                    raise ValueError(f"wd.config.compile must be {_CHOICE}, got {value!r}")
            elif name == "compile_device":
                if value not in (None, "cpu"):
                    raise ValueError(
                        f'wd.config.compile_device must be "cpu" or None, got {value!r}'
                    )
            elif not isinstance(value, bool):
                raise TypeError(f"wd.config.{name} must be True or False, got {value!r}")
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<Config: {', '.join(f'{name}={on}' for name, on in vars(self).items())}>"


_CHOICE = ", ".join(f'"{x}"' for x in get_args(Compile)[:-1]) + ' or "never"'


def _of_environment(value: str) -> Any:
    """The value of WARPDYN_COMPILE. ValueError: it is not one of the choices."""
    if value not in get_args(Compile):
        raise ValueError(f"{COMPILE} must be {_CHOICE}, got {value!r}")
    return value


def calls_before_compiling() -> int:
    """The number of calls in WARPDYN_COMPILE_AFTER; ValueError if it is not a number of at least 1."""
    text = os.environ.get(COMPILE_AFTER) or "2"
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{COMPILE_AFTER} must be a number of calls, at least 1, got {text!r}")
    return int(text)


config = Config()


@contextmanager
def compile_policy(policy: Compile) -> Iterator[None]:
    """A block with another policy for all threads of the process."""
    before, config.compile = config.compile, policy
    try:
        yield
    finally:
        config.compile = before

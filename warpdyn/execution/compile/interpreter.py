"""The interpreter of programs: compiled once for a processor, and loaded for each precision."""

from __future__ import annotations

from typing import Any

import warp as wp

from ...codegen.bytecode.interpreter_source import ENTRY, interpreter_source
from ..run_once import run_once
from . import c_object
from .announcements import announcement
from .interpreted_program import Interpreter
from .kernel import CAPTURE
from .kernel_cache import kernel_cache_directory

EXPECTED_SECONDS = 2.0
"""Time to compile the interpreter, once for each precision and kind of processor."""


@run_once
def _single() -> Interpreter | None:
    return _load(True)


@run_once
def _double() -> Interpreter | None:
    return _load(False)


def interpreter(single: bool) -> Interpreter | None:
    """The interpreter in float32 or float64; None if this version of Warp cannot load it."""
    return _single() if single else _double()


def _load(single: bool) -> Interpreter | None:
    if not c_object.is_possible():  # this starts Warp
        return None
    runtime: Any = wp._src.context.runtime  # type: ignore[attr-defined]
    if not hasattr(runtime, CAPTURE):
        return None
    source = interpreter_source(single)
    name = f"interpreter_{'float32' if single else 'float64'}"
    seconds = 0.0 if c_object.is_compiled(name, source) else EXPECTED_SECONDS
    with announcement("compiling the interpreter, once for this processor", seconds):
        try:
            return Interpreter(c_object.load_object(name, source, ENTRY))
        except OSError as error:
            raise OSError(
                error.errno,
                f"the interpreter of programs is not compiled: {error.strerror}. Where Clang may not "
                f"run, {kernel_cache_directory()} has to hold its object already: call a function "
                "with arrays of this dtype where Clang may run, on the same kind of processor",
            ) from error

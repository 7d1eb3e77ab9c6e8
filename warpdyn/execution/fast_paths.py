"""The one hook of `native/`, the optional folder of calls in C.

Without the folder, or with versions of CPython, NumPy, Torch or Warp that it was not tested with,
calls are made in Python: microseconds slower, with the same results.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from types import ModuleType

from .compile.compiling import Kernel
from .launch.native_threads import compile_threads
from .repeat.call_cache import CallCache, CallsInC
from .run_once import run_once


@run_once
def _native_call() -> ModuleType | None:
    """The module of calls in C; None if the folder or a tested version is missing."""
    try:
        versions = import_module(".native.versions", __package__)
    except ModuleNotFoundError as missing:
        if missing.name in (f"{__package__}.native", f"{__package__}.native.versions"):
            return None
        raise
    return import_module(".native.native_call", __package__) if versions.are_tested() else None


def calls_in_c(cache: CallCache) -> CallsInC | None:
    """The calls of a function that are made in C; None if the C functions cannot be used or are not
    compiled yet."""
    native = _native_call()
    if native is None or not native.is_ready():
        return None
    calls: CallsInC = native.NativeCalls(cache)
    return calls


def compile_c_functions(kernels: Collection[Kernel]) -> None:
    """Compile the C functions for small calls and shared launches of these kernels, before the first
    one."""
    native = _native_call()
    if native is not None:
        native.compile_native_call(kernels)
    compile_threads(kernels)

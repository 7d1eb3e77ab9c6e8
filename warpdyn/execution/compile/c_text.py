"""C functions of the headers in `codegen/`, compiled and cached like the interpreter.

Calls without Python need C code, and this way an installation of warpdyn needs no compiler. The
compiled function only writes the addresses of the others.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from ...codegen import headers
from ..config import config
from . import c_object

ENTRY = "warpdyn_addresses"
"""Name of the function that writes the addresses."""

_DECLARED = """typedef __SIZE_TYPE__ size_t;
extern "C" { void* malloc(size_t); void free(void*); }
"""
"""Functions of the C library that the headers use."""


class CText(NamedTuple):
    """Loaded C functions."""

    addresses: tuple[int, ...]


def c_text(header: str, piece: str, number: int, **given: str | int) -> CText | None:
    """The `number` functions of a piece of a header. Compiling them takes 0.1 to 0.3 s.

    None if this version of Warp cannot load them, or if they cannot be compiled and
    `wd.config.compile` is "never": calls are then made in Python.
    """
    if not c_object.is_possible():
        return None
    code = headers.piece(header, piece, **given)
    source = f'{_DECLARED}extern "C" void {ENTRY}(long long* args) {{\n{code}\n}}\n'
    name = header.removesuffix(".h")
    try:
        address = c_object.load_object(name, source, ENTRY)
    except OSError:
        if config.compile == "never":
            return None
        raise
    places = (ctypes.c_int64 * number)()
    arguments = (ctypes.c_int64 * 1)(ctypes.addressof(places))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(arguments))
    return CText(tuple(places))

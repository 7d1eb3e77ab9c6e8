"""C functions that are the text of a kernel, compiled and kept as all kernels are.

Nobody who installs warpdyn needs a compiler, and what is called without Python has to be C. The kernel
itself does nothing but write where its functions are.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import warp as wp

from ...codegen import headers
from ...codegen.source import Source
from .compiling import Kernel
from .kernel import Command, compile_kernel
from .kernel_cache import start_kernel_cache


class CText(NamedTuple):
    """Functions that are loaded."""

    command: Command
    """The launch that has written where they are; by it Warp keeps them loaded."""
    addresses: tuple[int, ...]


def c_text(header: str, piece: str, number: int, told: str, **given: str | int) -> CText | None:
    """The functions of a piece of a header, as many as `number`; `told`: what is said while it is compiled.

    None where this Warp keeps a kernel's C function elsewhere.
    """
    start_kernel_cache()
    code = headers.piece(header, piece, **given)
    name = header.removesuffix(".h")
    source = Source(name, code, inputs={}, results={}, operations=0, bytes=0, target="cpu")
    kernel = Kernel(source, wp.get_device("cpu"), compile_kernel(source), told)
    command, places = kernel.new_command(), (ctypes.c_int64 * number)()
    if command.address is None:
        return None
    command.set([ctypes.addressof(places), *[0] * (source.layout.length - 1)])
    command.run_at_once()
    return CText(command, tuple(places))

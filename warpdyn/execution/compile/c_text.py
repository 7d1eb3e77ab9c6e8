"""C functions inside the source of a kernel, compiled and cached like all kernels.

This way an installation of warpdyn needs no compiler, although calls without Python need C code.
The kernel itself only writes the addresses of its functions.
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
    """Loaded C functions."""

    command: Command
    """The launch that has written the addresses; it keeps the functions loaded in Warp."""
    addresses: tuple[int, ...]


def c_text(header: str, piece: str, number: int, told: str, **given: str | int) -> CText | None:
    """The functions of a piece of a header, as many as `number`; `told`: the message while it is
    compiled.

    None if this version of Warp keeps a kernel's C function elsewhere.
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

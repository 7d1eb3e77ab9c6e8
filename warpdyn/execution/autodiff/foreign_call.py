"""Launches made by a program that XLA compiled, without Python on the way.

XLA calls a C function, the handler, with where its buffers lie and an attribute, here a vector of
integers that says which kernel to run on them, and how. The handler is the text of a kernel
(`codegen/foreign_call.h`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from math import prod

from ...arrays.layout import BLOCK, LOOP_BLOCK
from .. import threads
from ..compile.c_text import CText, c_text
from ..compile.compiling import collecting, noted
from ..launch.job import COUNT, FIRST, Job
from ..made_once import made_once

_C_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))


@made_once
def _text() -> CText | None:
    return c_text("foreign_call.h", "handler", 1, "calls from XLA", first=FIRST, count=COUNT)


@cache
def handler() -> object | None:
    """The handler as XLA takes it, a PyCapsule; None where this Warp does not tell the address of a
    kernel."""
    text = _text()
    if text is None:
        return None
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    made: object = capsule(*text.addresses, None, None)
    return made


@cache
def _yield() -> int:
    """Address of the C library's function by which a thread lets others run; 0 where there is none."""
    try:
        return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0
    except (OSError, TypeError, AttributeError):
        return 0


class ForeignCall:
    """A launch as the integers that the handler reads. It has to live as long as they are used."""

    def __init__(self, job: Job, places: Sequence[int]):
        """places: where the addresses of XLA's inputs and results stand among the launch's
        arguments."""
        self.kernel = job.kernel
        self._where = (ctypes.c_int64 * 2)()
        """The kernel's address, and whether there is none as it could not be compiled."""
        results, width = job.kernel.source.results.values(), 4 if job.single else 8
        self._results = [
            (place, job.count * prod(shape) * width)
            for place, shape in zip(job.places[len(job.inputs) :], results, strict=True)
        ]
        if collecting():
            noted(self.kernel)
            self._first = _C_KERNEL(self._find)
            self._where[0] = ctypes.cast(self._first, ctypes.c_void_p).value or 0
        else:
            self._where[0] = self._load()
        text = _text()
        assert text is not None  # else there is no handler that is told of this
        bounds, arguments = text.command.bounds, list(job.arguments)
        arguments[FIRST], arguments[COUNT] = 0, job.count  # not those of a slice
        self.plan = [
            ctypes.addressof(self._where),
            threads.WANTED_AT,
            _yield(),
            _least(job),
            len(bounds),
            len(arguments),
            *places,
            *bounds,
            *arguments,
        ]

    def _load(self) -> int:
        """The kernel's address, compiled if need be."""
        self._command = self.kernel.new_command()  # by which Warp keeps it loaded
        return self._command.address or 0

    def _find(self, bounds: int, arguments: ctypes._Pointer[ctypes.c_int64]) -> None:
        """In the place of a kernel that a `wd.compiling` block has yet to compile: zeros in the
        block, the kernel from then on."""
        try:
            if noted(self.kernel):
                for place, size in self._results:
                    ctypes.memset(arguments[place], 0, size)
                return
            self._where[0] = self._load()
            _C_KERNEL(self._where[0])(bounds, arguments)
        except BaseException:
            self._where[1] = 1  # the handler makes an error of it
            raise


def _least(job: Job) -> int:
    """Environments that a thread takes at least; 0 where they are too few to be shared out."""
    if job.seconds < threads.ENOUGH:
        return 0
    block = LOOP_BLOCK if job.kernel.source.loops else BLOCK
    return max(1, round(job.count * threads.SLICE / job.seconds / block)) * block

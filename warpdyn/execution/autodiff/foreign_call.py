"""Launches from programs that XLA compiled, without running Python code.

XLA calls a C function, the handler, with the addresses of its buffers and an attribute. Here the
attribute is a vector of integers that says which kernel to run on the buffers, and how. The handler
is written as the source of a kernel (`codegen/foreign_call.h`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from math import prod

from .. import threads
from ..compile.c_text import CText, c_text
from ..compile.compiling import collect_kernel, collecting
from ..compile.kernel import Command, bounds_of_one
from ..launch.job import COUNT, FIRST, Job
from ..run_once import run_once

_C_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))


@run_once
def _text() -> CText | None:
    return c_text("foreign_call.h", "handler", 1, first=FIRST, count=COUNT)


@cache
def handler() -> object | None:
    """The handler as a PyCapsule for XLA; None if this version of Warp does not reveal the address
    of a kernel."""
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
    """Address of the C library's function by which a thread yields to other threads; 0 if there is
    none."""
    try:
        return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0
    except (OSError, TypeError, AttributeError):
        return 0


class ForeignCall:
    """A launch as the integers that the handler reads. The object must live as long as they are in
    use."""

    def __init__(self, job: Job, places: Sequence[int]):
        """places: positions of the addresses of XLA's inputs and results among the launch's
        arguments."""
        self.kernel = job.kernel
        self._command: Command | None = None
        """A launch, which keeps the kernel loaded in Warp."""
        self._where = (ctypes.c_int64 * 2)()
        """The kernel's address, and 1 if the kernel could not be compiled."""
        results, width = job.kernel.source.results.values(), 4 if job.single else 8
        self._results = [
            (place, job.count * prod(shape) * width)
            for place, shape in zip(job.places[len(job.inputs) :], results, strict=True)
        ]
        if collecting():
            collect_kernel(self.kernel)
            self._first = _C_KERNEL(self._find)
            self._where[0] = ctypes.cast(self._first, ctypes.c_void_p).value or 0
        else:
            self._where[0] = self._load()
        command = self._command
        bounds = bounds_of_one() if command is None else command.bounds
        arguments = list(job.arguments)
        arguments[FIRST], arguments[COUNT] = 0, job.count  # the whole batch, not a slice
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
        """The kernel's address; compiles the kernel if necessary."""
        self._command = self.kernel.new_command()
        self.kernel.compile_soon()
        return self._command.address or 0

    def _find(self, bounds: int, arguments: ctypes._Pointer[ctypes.c_int64]) -> None:
        """Stand-in for a kernel that a `wd.kernels.compiling` block has not compiled yet: it writes
        zeros inside the block and runs the kernel after it."""
        try:
            if collect_kernel(self.kernel):
                for place, size in self._results:
                    ctypes.memset(arguments[place], 0, size)
                return
            self._where[0] = self._load()
            _C_KERNEL(self._where[0])(bounds, arguments)
        except BaseException:
            self._where[1] = 1  # the handler reports an error
            raise


def _least(job: Job) -> int:
    """Smallest number of environments for one thread; 0 if there are too few to divide."""
    return 0 if job.seconds < threads.ENOUGH else job.smallest_share()

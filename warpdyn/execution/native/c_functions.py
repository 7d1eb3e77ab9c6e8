"""C functions that run calls from Python, and the integers that they read.

They are part of a kernel's source (`codegen/native_call.h`). They are not used if the interpreter,
NumPy or Warp have another memory layout than the header expects.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import warp as wp

from ...arrays.libraries import NUMPY
from ..compile.c_text import CText, c_text
from ..compile.kernel import CAPTURE
from ..repeat.planned_call import MISS, LaunchPlan
from ..run_once import run_once

OPERANDS = 16
"""Largest number of arguments and results of a call."""

LONG = 1e-5
"""Estimated seconds of work from which the GIL is released meanwhile."""

_FUNCTIONS = (
    "PyTuple_Size",
    "PyTuple_GetItem",
    "PyDict_Size",
    "PyDict_Next",
    "Py_IncRef",
    "Py_DecRef",
    "PyObject_CallObject",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyObject_GetAttr",
    "PyObject_SetAttr",
    "PyObject_CallOneArg",
    "PyLong_AsLongLong",
    "PyErr_Occurred",
    "PyErr_Clear",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)
"""Functions of Python's C interface, in the order of the header."""

_FASTCALL = 0x80


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    ]


def _as_expected() -> bool:
    """True if CPython and NumPy have the memory layout of arrays that the header expects."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16:
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    for x in (np.zeros((3, 5)), np.zeros((4, 3), np.float32).T[1:, ::2]):
        for writeable in (True, False):
            x.flags.writeable = writeable
            words = [ctypes.c_int64.from_address(id(x) + 8 * k).value for k in range(8)]
            flags = ctypes.c_int32.from_address(id(x) + 64).value
            sizes = [(ctypes.c_int64 * 2).from_address(words[k])[:] for k in (4, 5)]
            found = (words[1], words[2], words[3] & 0xFFFFFFFF, words[7], *sizes, flags & 0x400)
            address = x.__array_interface__["data"][0]
            wanted = (id(np.ndarray), address, 2, id(x.dtype), [*x.shape], [*x.strides])
            if found != (*wanted, 0x400 * writeable):
                return False
    return True


class Methods:
    """The C functions in the form that CPython takes."""

    def __init__(self, text: CText):
        self.text = text  # must live as long as the functions are called
        names = (b"native_call", b"native_forward", b"native_backward")
        self.call, self.forward, self.backward = (
            _Method(name, x, _FASTCALL, None) for name, x in zip(names, text.addresses, strict=True)
        )


@run_once
def methods() -> Methods | None:
    """The C functions; None if calls cannot use them."""
    wp.get_device("cpu")  # starts Warp's runtime
    runtime: Any = getattr(wp._src.context, "runtime", None)
    if not hasattr(runtime, CAPTURE) or not _as_expected():
        return None
    text = c_text("native_call.h", "call", 3)
    return None if text is None else Methods(text)


class Words(np.ndarray):
    """Integers that the C functions read, and the objects behind them, which must live as long."""

    held: tuple[Any, ...]


def words_of(words: Iterable[int], *held: Any) -> Words:
    made = np.array([*words], np.int64).view(Words)
    made.held = held
    return made


def address(words: Words) -> int:
    return NUMPY.address(words)


def interpreter(torch: Words | None) -> list[int]:
    """Addresses of Python's and Torch's objects that the C functions use."""
    python = [_address(name) for name in _FUNCTIONS]
    runtime: Any = wp._src.context.runtime  # type: ignore[attr-defined]
    objects = [id(x) for x in (MISS, np.ndarray, runtime, sys.intern(CAPTURE), None)]
    return [*python, *objects, 0 if torch is None else address(torch)]


def launch_words(known: LaunchPlan) -> Words | None:
    """The launch of a call on other arrays; None if the call needs more than a launch."""
    job, results = known.job, len(known.places) - len(known.read)
    if not known.small or known.merges_dimensions or results > OPERANDS:
        return None
    command = job.kernel.new_command()
    if command.address is None:
        return None
    bounds = command.bounds
    words = (
        command.address,
        known.unaligned,
        len(bounds),
        len(job.arguments),
        job.seconds > LONG,
        known.library is not NUMPY,
        len(known.result_makers),
    )
    makers = zip(map(id, known.result_makers), known.places[len(known.read) :], strict=False)
    rest = chain(*makers, bounds, job.arguments)
    return words_of([*words, *rest], command, *known.result_makers)


def new_function(method: _Method, words: Words) -> Any:
    """A C function as a Python object that holds its data."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return make(ctypes.addressof(method), words, None)


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0

"""Calls that were made before, from Python to a kernel without Python code on the way.

What is remembered of a small call (`remembered`) is written down as integers, which a C function
compares with the arguments it is called with: a NumPy array is a structure whose fields stay in
place by NumPy's binary interface, all else is told by identity. It is the text of a kernel
(`codegen/native_call.h`), compiled and kept as all kernels are, as `foreign_call`'s is. Where the
interpreter, NumPy or Warp keep things elsewhere, there is none.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import warp as wp

from ..arrays.libraries import NUMPY
from ..codegen import headers
from ..codegen.source import Source
from ..model import Model
from .compiling import Kernel
from .kernel import CAPTURE, Command, compile_kernel
from .kernel_cache import start_kernel_cache
from .native_threads import compile_threads
from .remembered import MISS, PLAIN, Key, KnownCall

MOST = 8
"""Calls that a function compares with; the next one takes the place of the first."""

OPERANDS = 16
"""Arguments and results that a call has at most."""

LONG = 1e-5
"""Estimated seconds of work from which on other threads have the interpreter meanwhile."""

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
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)
"""In the order of the header."""

_FASTCALL = 0x80
Entry = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""The result by arguments, positional and by name; `MISS` where the call is not known."""


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    ]


def _as_expected() -> bool:
    """Whether CPython and NumPy keep an array as the header has it."""
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


@cache
def _method() -> tuple[_Method, Command] | None:
    """The C function as CPython takes it, and the launch that keeps it loaded; None where calls
    cannot go by it."""
    runtime: Any = getattr(wp._src.context, "runtime", None)
    if not hasattr(runtime, CAPTURE) or not _as_expected():
        return None
    start_kernel_cache()
    code = headers.piece("native_call.h", "call")
    source = Source("native_call", code, inputs={}, results={}, operations=0, bytes=0, target="cpu")
    kernel = Kernel(source, wp.get_device("cpu"), compile_kernel(source), "calls from Python")
    command, place = kernel.new_command(), ctypes.c_int64()
    if command.address is None:
        return None
    command.set([ctypes.addressof(place), *[0] * (source.layout.length - 1)])
    command.run()
    return _Method(b"native_call", place.value, _FASTCALL, None), command


def compile_native_call(kernels: Iterable[Kernel]) -> None:
    """Compile the C function, or find it compiled, ahead of the first call that goes by it, if one of
    these kernels is called so."""
    if any(not kernel.device.is_cuda for kernel in kernels):
        _method()


def compile_c_functions(kernels: Collection[Kernel]) -> None:
    """Compile what small calls and shared launches of these kernels go by, ahead of the first one."""
    compile_native_call(kernels)
    compile_threads(kernels)


class NativeCalls:
    """The calls of one function that go by the C function."""

    def __init__(self) -> None:
        self.entry: Entry = _unknown
        """The C function with a table of its own: in one statement in the place of another, with all
        that it leads to."""

    @property
    def plans(self) -> tuple[_NativePlan, ...]:
        table = getattr(self.entry, "__self__", None)
        return table.plans if isinstance(table, _Table) else ()

    def add(
        self, key: Key, known: KnownCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Know a call from now on, if its kind allows."""
        plan = _plan(key, known, args, kwargs)
        if plan is not None and _method() is not None:
            self._know((plan, *self.plans[: MOST - 1]))

    def forget(self, key: Key) -> None:
        """Know a call no longer, as a model is gone."""
        self._know(tuple(x for x in self.plans if x.key != key))

    def clear(self) -> None:
        """Know none."""
        self._know(())

    def _know(self, plans: tuple[_NativePlan, ...]) -> None:
        method = _method() if plans else None
        self.entry = _unknown if method is None else _new_function(method[0], _table(plans))
        # One that was forgotten in between, as any statement may collect garbage.
        alive = tuple(x for x in plans if all(model() is not None for model in x.known.models))
        if len(alive) < len(plans):
            self._know(alive)


class _Table(np.ndarray):
    """What the C function reads, and what that leads to."""

    plans: tuple[_NativePlan, ...]


def _table(plans: tuple[_NativePlan, ...]) -> _Table:
    python = [_address(name) for name in _FUNCTIONS]
    runtime: Any = wp._src.context.runtime  # type: ignore[attr-defined]
    objects = [id(x) for x in (MISS, np.ndarray, runtime, sys.intern(CAPTURE), None)]
    words = [*python, *objects, len(plans), *(NUMPY.address(x.words) for x in plans)]
    table = np.array(words, np.int64).view(_Table)
    table.plans = plans
    return table


class _NativePlan:
    """A call as the C function knows it, and what has to live as long."""

    def __init__(self, key: Key, known: KnownCall, command: Command, held: list[Any]):
        self.key, self.known, self.command, self.held = key, known, command, held
        self.words = np.zeros(0, np.int64)


def _plan(
    key: Key, known: KnownCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> _NativePlan | None:
    """None where an argument is not told by identity, or where more than a launch is to be done."""
    job, out, results = known.job, kwargs.get("out"), len(known.places) - len(known.read)
    if known.library is not NUMPY or not known.small or known.split:
        return None
    if len(args) + len(kwargs) > OPERANDS or results > OPERANDS:
        return None
    if known.outs and (results > 1 or known.named or type(out) is not np.ndarray):
        return None
    if known.named is not None and results < 2:
        return None
    command = job.kernel.new_command()
    if command.address is None:
        return None
    held: list[Any] = [*kwargs]
    operands = _operands(known, args, kwargs, held)
    if operands is None:
        return None
    # Arrays that are read come first in pairs, `out` last.
    given = [*zip([None] * len(args), args, strict=True), *kwargs.items()]
    arrays = [k for k, (n, x) in enumerate(given) if type(x) is np.ndarray and n != "out"]
    which = [n for n, _ in given].index("out") if known.outs else -1
    number = [*arrays, which]
    pairs = [
        (number[p.one], number[p.other], *p[2:6], p.between is not None, p.between or 0)
        for p in known.pairs
    ]
    makers = zip(map(id, known.fresh), known.places[len(known.read) :], strict=False)
    plan, bounds = _NativePlan(key, known, command, held), command.bounds
    words = (
        command.address,
        len(args),
        len(kwargs),
        which,
        len(pairs),
        len(known.fresh),
        0 if known.named is None else id(known.named),
        known.unaligned,
        len(bounds),
        len(job.arguments),
        job.seconds > LONG,
    )
    rest = chain(operands, *pairs, *makers, bounds, job.arguments)
    plan.words = np.array([*words, *rest], np.int64)
    return plan


def _operands(
    known: KnownCall, args: tuple[Any, ...], kwargs: Mapping[str, Any], held: list[Any]
) -> list[int] | None:
    """Arguments as the header has them; what has to live as long goes to `held`."""
    words: list[int] = []
    read = iter(known.places)
    for name, x in chain(((None, x) for x in args), kwargs.items()):
        words.append(0 if name is None else id(name))
        if type(x) is np.ndarray:
            place = known.places[-1] if name == "out" else next(read)
            words += (0, id(x.dtype), place, x.ndim, *x.shape, *x.strides)
            held.append(x.dtype)
        elif type(x) is Model:
            words.append(id(x))  # forgotten when it is gone
        elif type(x) in PLAIN:
            words.append(id(x))
            held.append(x)
        else:
            return None
    return words


def _unknown(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return MISS


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _new_function(method: _Method, table: _Table) -> Entry:
    """The C function as an object of Python's, which holds the table."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    made: Entry = make(ctypes.addressof(method), table, None)
    return made

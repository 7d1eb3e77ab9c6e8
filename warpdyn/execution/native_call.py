"""Calls that were made before, from Python to a kernel without Python code on the way.

What is remembered of a small call (`remembered`) is written down as integers, which a C function
compares with the arguments it is called with: a NumPy array is a structure whose fields stay in
place by NumPy's binary interface, all else is told by identity. It is the text of a kernel
(`codegen/native_call.h`), compiled and kept as all kernels are, as `foreign_call`'s is. Where the
interpreter, NumPy or Warp keep things elsewhere, there is none. What it knows of Torch's tensors is
`torch_native`'s.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np
import warp as wp

from ..arrays import Library
from ..arrays.libraries import NUMPY
from ..codegen import headers
from ..codegen.source import Source
from ..model import Model
from .compiling import Kernel
from .kernel import CAPTURE, Command, compile_kernel
from .kernel_cache import start_kernel_cache
from .native_threads import compile_threads
from .remembered import MISS, PLAIN, Key, KnownCall, PlannedCall

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
    "PyObject_SetAttr",
    "PyObject_CallOneArg",
    "PyLong_AsLongLong",
    "PyErr_Occurred",
    "PyErr_Clear",
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


class Methods:
    """The C functions as CPython takes them, and the launch that keeps them loaded."""

    def __init__(self, command: Command, addresses: Iterable[int]):
        self.command = command
        names = (b"native_call", b"native_forward", b"native_backward")
        self.call, self.forward, self.backward = (
            _Method(name, x, _FASTCALL, None) for name, x in zip(names, addresses, strict=True)
        )


@cache
def methods() -> Methods | None:
    """None where calls cannot go by them."""
    runtime: Any = getattr(wp._src.context, "runtime", None)
    if not hasattr(runtime, CAPTURE) or not _as_expected():
        return None
    start_kernel_cache()
    code = headers.piece("native_call.h", "call")
    source = Source("native_call", code, inputs={}, results={}, operations=0, bytes=0, target="cpu")
    kernel = Kernel(source, wp.get_device("cpu"), compile_kernel(source), "calls from Python")
    command, places = kernel.new_command(), (ctypes.c_int64 * 3)()
    if command.address is None:
        return None
    command.set([ctypes.addressof(places), *[0] * (source.layout.length - 1)])
    command.run()
    return Methods(command, places)


def compile_native_call(kernels: Iterable[Kernel]) -> None:
    """Compile the C function, or find it compiled, ahead of the first call that goes by it, if one of
    these kernels is called so."""
    if any(not kernel.device.is_cuda for kernel in kernels):
        methods()


def compile_c_functions(kernels: Collection[Kernel]) -> None:
    """Compile what small calls and shared launches of these kernels go by, ahead of the first one."""
    compile_native_call(kernels)
    compile_threads(kernels)


@runtime_checkable
class DifferentiatedPlan(Protocol):
    """How a call is carried out that its library differentiates."""

    forward: KnownCall

    def native(self, launch: Words) -> tuple[Any, Words] | None:
        """The library's function that makes a node of a call, and what the node is told; None where
        there is no such function. launch: of the forward pass."""
        ...


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
        self, key: Key, known: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Know a call from now on, if its kind allows."""
        plan = _plan(key, known, args, kwargs)
        if plan is not None and methods() is not None:
            self._know((plan, *self.plans[: MOST - 1]))

    def forget(self, key: Key) -> None:
        """Know a call no longer, as a model is gone."""
        self._know(tuple(x for x in self.plans if x.key != key))

    def clear(self) -> None:
        """Know none."""
        self._know(())

    def _know(self, plans: tuple[_NativePlan, ...]) -> None:
        method = methods() if plans else None
        self.entry = _unknown if method is None else new_function(method.call, _table(plans))
        # One that was forgotten in between, as any statement may collect garbage.
        alive = tuple(x for x in plans if all(model() is not None for model in x.known.models))
        if len(alive) < len(plans):
            self._know(alive)


class Words(np.ndarray):
    """Integers that the C functions read, and what they lead to, which has to live as long."""

    held: tuple[Any, ...]


def words_of(words: Iterable[int], *held: Any) -> Words:
    made = np.array([*words], np.int64).view(Words)
    made.held = held
    return made


def address(words: Words) -> int:
    return NUMPY.address(words)


class _NativePlan:
    """A call as the C function knows it."""

    def __init__(self, key: Key, known: KnownCall, words: Words):
        self.key, self.known, self.words = key, known, words
        self.torch = _torch_words() if known.library is not NUMPY else None


def _torch_words() -> Words | None:
    from .torch_native import torch_words

    return torch_words()


class _Table(Words):
    """What the C function that carries out calls reads."""

    plans: tuple[_NativePlan, ...]


def _table(plans: tuple[_NativePlan, ...]) -> _Table:
    torch = next((x.torch for x in plans if x.torch is not None), None)
    each = [address(x.words) for x in plans]
    table = words_of([*interpreter(torch), len(each), *each], torch).view(_Table)
    table.held, table.plans = (torch,), plans
    return table


def interpreter(torch: Words | None) -> list[int]:
    """What the C functions use of Python's, and of Torch's."""
    python = [_address(name) for name in _FUNCTIONS]
    runtime: Any = wp._src.context.runtime  # type: ignore[attr-defined]
    objects = [id(x) for x in (MISS, np.ndarray, runtime, sys.intern(CAPTURE), None)]
    return [*python, *objects, 0 if torch is None else address(torch)]


def launch_words(known: KnownCall) -> Words | None:
    """The launch of a call on arrays elsewhere; None where more than a launch is to be done."""
    job, results = known.job, len(known.places) - len(known.read)
    if not known.small or known.split or results > OPERANDS:
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
        len(known.fresh),
    )
    makers = zip(map(id, known.fresh), known.places[len(known.read) :], strict=False)
    rest = chain(*makers, bounds, job.arguments)
    return words_of([*words, *rest], command, *known.fresh)


def _plan(
    key: Key, planned: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> _NativePlan | None:
    """None where an argument is not told by identity, or where more than a launch is to be done."""
    twice = isinstance(planned, DifferentiatedPlan)
    known = planned.forward if twice else planned
    if not isinstance(known, KnownCall) or len(args) + len(kwargs) > OPERANDS:
        return None
    results, out = len(known.places) - len(known.read), kwargs.get("out")
    if known.outs and (results > 1 or known.named or type(out) is not np.ndarray):
        return None
    if known.named is not None and results < 2:
        return None
    held: list[Any] = [*kwargs, known.named]
    operands = _operands(known, args, kwargs, held)
    launch = None if operands is None else launch_words(known)
    if operands is None or launch is None:
        return None
    given = [*zip([None] * len(args), args, strict=True), *kwargs.items()]
    apply = node = model = 0
    if twice:
        parts, models = (
            planned.native(launch),
            [k for k, (_, x) in enumerate(given) if type(x) is Model],
        )
        if parts is None or len(models) != 1:
            return None
        held += parts
        apply, node, model = id(parts[0]), id(parts[1]), models[0]
    # Arrays that are read come first in pairs, `out` last.
    arrays = [k for k, (n, x) in enumerate(given) if type(x) is np.ndarray and n != "out"]
    which = [n for n, _ in given].index("out") if known.outs else -1
    number = [*arrays, which]
    pairs = [
        (number[p.one], number[p.other], *p[2:6], p.between is not None, p.between or 0)
        for p in known.pairs
    ]
    words = (
        address(launch),
        len(args),
        len(kwargs),
        which,
        len(pairs),
        0 if known.named is None else id(known.named),
        apply,
        node,
        model,
    )
    return _NativePlan(key, known, words_of([*words, *operands, *chain(*pairs)], launch, *held))


def _operands(
    known: KnownCall, args: tuple[Any, ...], kwargs: Mapping[str, Any], held: list[Any]
) -> list[int] | None:
    """Arguments as the header has them; what has to live as long goes to `held`."""
    words: list[int] = []
    read = iter(known.places)
    for name, x in chain(((None, x) for x in args), kwargs.items()):
        words.append(0 if name is None else id(name))
        if type(x) is Model:
            words.append(id(x))  # forgotten when it is gone
        elif type(x) in PLAIN:
            words.append(id(x))
            held.append(x)
        elif isinstance(x, known.library.array_type):
            place = known.places[-1] if name == "out" else next(read)
            array = array_words(known.library, x, place)
            if array is None:
                return None
            words += array
            held.append(x.dtype)
        else:
            return None
    return words


def array_words(library: Library, x: Any, place: int) -> list[int] | None:
    """An array as an operand, by the place of its address among a launch's arguments; None where it is
    none of the C functions'."""
    if type(x) is np.ndarray:
        return [0, id(x.dtype), place, x.ndim, *x.shape, *x.strides]
    if library.edge != "torch":
        return None
    from .torch_native import tensor_words

    return tensor_words(x, place)


def _unknown(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return MISS


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def new_function(method: _Method, words: Words) -> Any:
    """A C function as an object of Python's, which holds what it reads."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return make(ctypes.addressof(method), words, None)

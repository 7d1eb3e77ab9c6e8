"""Repeated calls that run a kernel without Python code.

A small planned call (`execution/repeat/planned_call`) is stored as integers, which a C function (`c_functions`)
compares with its arguments. A NumPy array is a structure with fixed fields in NumPy's binary
interface, a tensor is read through Torch (`torch_native`), and all other arguments are compared by
identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from ...arrays import Library
from ...model import Model
from ..compile import background
from ..compile.compiling import Kernel
from ..config import config
from ..repeat.call_cache import CallCache, unknown
from ..repeat.call_key import PLAIN, Key, leaves
from ..repeat.planned_call import DifferentiatedPlan, LaunchPlan, PlannedCall
from .c_functions import (
    OPERANDS,
    Words,
    address,
    interpreter,
    launch_words,
    methods,
    new_function,
    words_of,
)

MOST = 8
"""Number of calls that a function compares with; a new one replaces the oldest."""


def compile_native_call(kernels: Iterable[Kernel]) -> None:
    """Compile the C function, or find it compiled, before the first call that uses it, if one of
    these kernels can be called this way."""
    if any(not kernel.on_cuda for kernel in kernels):
        methods()


def is_ready() -> bool:
    """True if the C function need not be compiled. Otherwise it is compiled in the background, if
    kernels are."""
    if config.compile != "background" or methods.is_made():  # type: ignore[attr-defined]
        return True
    if not _asked:
        _asked.append(True)
        background.enqueue(methods, _asked.clear)
    return False


_asked: list[bool] = []
"""Not empty once the C function is to be compiled in the background."""


class NativeCalls:
    """The calls of one function that use the C function."""

    def __init__(self, cache: CallCache):
        self.cache = cache
        """It holds the entry: the C function with a table of its own. One statement replaces it, with
        everything that it refers to."""

    @property
    def plans(self) -> tuple[_NativePlan, ...]:
        table = getattr(self.cache.entry, "__self__", None)
        return table.plans if isinstance(table, _Table) else ()

    def add(
        self, key: Key, known: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Add a call, if its kind allows it."""
        plan = _plan(key, known, args, kwargs)
        if plan is not None and methods() is not None:
            self._know((plan, *self.plans[: MOST - 1]))

    def forget(self, key: Key) -> None:
        """Remove a call whose model no longer exists."""
        self._know(tuple(x for x in self.plans if x.key != key))

    def clear(self) -> None:
        """Remove all calls."""
        self._know(())

    def _know(self, plans: tuple[_NativePlan, ...]) -> None:
        method = methods() if plans else None
        self.cache.entry = unknown if method is None else new_function(method.call, _table(plans))
        # A model may have been freed meanwhile, because any statement may collect garbage.
        alive = tuple(x for x in plans if all(model() is not None for model in x.known.models))
        if len(alive) < len(plans):
            self._know(alive)


class _NativePlan:
    """A call in the form that the C function reads."""

    def __init__(self, key: Key, known: LaunchPlan, words: Words):
        self.key, self.known, self.words = key, known, words
        native = _native_of(known.library)
        self.torch: Words | None = native.torch_words() if native else None


def _native_of(library: Library) -> Any:
    """The module that reads a library's arrays for the C functions; None if there is none."""
    return _torch_native() if library.native else None


def _torch_native() -> Any:
    from . import torch_native

    return torch_native


class _Table(Words):
    """Data of the C function that runs calls."""

    plans: tuple[_NativePlan, ...]


def _table(plans: tuple[_NativePlan, ...]) -> _Table:
    torch = next((x.torch for x in plans if x.torch is not None), None)
    each = [address(x.words) for x in plans]
    table = words_of([*interpreter(torch), len(each), *each], torch).view(_Table)
    table.held, table.plans = (torch,), plans
    return table


def _plan(
    key: Key, planned: PlannedCall, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> _NativePlan | None:
    """The plan of a call; None if an argument cannot be compared by identity, or if the call needs
    more than a launch."""
    differentiated = planned if isinstance(planned, DifferentiatedPlan) else None
    known = planned if differentiated is None else differentiated.forward
    if not isinstance(known, LaunchPlan) or len(args) + len(kwargs) > OPERANDS:
        return None
    if not _is_one_launch(known, kwargs.get("out")):
        return None
    held: list[Any] = [*kwargs, known.named]
    operands = _operands(known, args, kwargs, held)
    launch = None if operands is None else launch_words(known)
    if operands is None or launch is None:
        return None
    given = [*zip([None] * len(args), args, strict=True), *kwargs.items()]
    apply = node = model = 0
    if differentiated is not None:
        parts = _torch_native().node_of(differentiated, launch)
        models = [k for k, (_, x) in enumerate(given) if type(x) is Model]
        if parts is None or len(models) != 1:
            return None
        held += parts
        apply, node, model = id(parts[0]), id(parts[1]), models[0]
    which = [n for n, _ in given].index("out") if known.outs else -1
    pairs = _pair_words(known, given, which)
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


def _is_one_launch(known: LaunchPlan, out: Any) -> bool:
    """True if a launch on the CPU is all that a call needs for its results."""
    results = len(known.places) - len(known.read)
    if known.outs and (results > 1 or known.named or type(out) is not np.ndarray):
        return False
    return not known.job.kernel.on_cuda and (known.named is None or results > 1)


def _pair_words(
    known: LaunchPlan, given: Sequence[tuple[str | None, Any]], which: int
) -> list[tuple[int, ...]]:
    """The pairs of arrays whose memory is compared, by the arguments' positions.

    given: arguments with their names.  which: the position of `out`, -1 without it.
    """
    # Arrays that are read come first in pairs, `out` last.
    arrays = [k for k, (n, x) in enumerate(given) if type(x) is np.ndarray and n != "out"]
    number = [*arrays, which]
    return [
        (number[p.one], number[p.other], *p[2:6], p.between is not None, p.between or 0)
        for p in known.pairs
    ]


def _operands(
    known: LaunchPlan, args: tuple[Any, ...], kwargs: Mapping[str, Any], held: list[Any]
) -> list[int] | None:
    """Arguments in the form of the header; objects that must live as long are added to `held`."""
    words: list[int] = []
    read = iter(known.places)
    arguments = [*zip(repeat(""), args, strict=False), *kwargs.items()]
    for name, x, library in leaves(arguments):
        words.append(id(name) if name else 0)
        if library is known.library:
            place = known.places[-1] if name == "out" else next(read)
            array = array_words(library, x, place)
            if array is None:
                return None
            words += array
            held.append(x.dtype)
        elif type(x) is Model:
            words.append(id(x))  # the call is forgotten when this object is freed
        elif type(x) in PLAIN:
            words.append(id(x))
            held.append(x)
        else:  # a container, or an array of another library
            return None
    return words


def array_words(library: Library, x: Any, place: int) -> list[int] | None:
    """An array as an operand, by the position of its address among a launch's arguments; None if
    the C functions cannot read it."""
    if type(x) is np.ndarray:
        return [0, id(x.dtype), place, x.ndim, *x.shape, *x.strides]
    native = _native_of(library)
    words: list[int] | None = native.tensor_words(x, place) if native else None
    return words

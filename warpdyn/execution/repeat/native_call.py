"""Calls that were made before, from Python to a kernel without Python code on the way.

What is remembered of a small call (`remembered`) is written down as integers, which a C function
(`c_functions`) compares with the arguments it is called with: a NumPy array is a structure whose
fields stay in place by NumPy's binary interface, a tensor is asked of Torch (`torch_native`), all else
is told by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...arrays import Library
from ...model import Model
from ..compile.compiling import Kernel
from ..launch.native_threads import compile_threads
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
from .remembered import MISS, PLAIN, Key, KnownCall, PlannedCall

MOST = 8
"""Calls that a function compares with; the next one takes the place of the first."""

Entry = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""The result by arguments, positional and by name; `MISS` where the call is not known."""


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


class _NativePlan:
    """A call as the C function knows it."""

    def __init__(self, key: Key, known: KnownCall, words: Words):
        self.key, self.known, self.words = key, known, words
        native = _native_of(known.library)
        self.torch: Words | None = native.torch_words() if native else None


def _native_of(library: Library) -> Any:
    """The module that knows a library's arrays for the C functions; None where there is none."""
    if not library.native:
        return None
    from . import torch_native

    return torch_native


class _Table(Words):
    """What the C function that carries out calls reads."""

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
    """None where an argument is not told by identity, or where more than a launch is to be done."""
    differentiated = planned if isinstance(planned, DifferentiatedPlan) else None
    known = planned if differentiated is None else differentiated.forward
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
    if differentiated is not None:
        parts, models = (
            differentiated.native(launch),
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
    arrays: Any = known.library.array_type
    read = iter(known.places)
    for name, x in chain(((None, x) for x in args), kwargs.items()):
        words.append(0 if name is None else id(name))
        if type(x) is Model:
            words.append(id(x))  # forgotten when it is gone
        elif type(x) in PLAIN:
            words.append(id(x))
            held.append(x)
        elif isinstance(x, arrays):
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
    native = _native_of(library)
    words: list[int] | None = native.tensor_words(x, place) if native else None
    return words


def _unknown(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return MISS

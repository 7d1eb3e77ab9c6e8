"""NumPy's functions of whole arrays for values: functions that move entries, functions that sum
them, and a few with their own implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.linear import solve_symmetric as _solve_symmetric
from .conditions import both, choose, either, negate, truth
from .elementary import NUMBERS, number, of_entries
from .reductions import REDUCTIONS
from .refusals import refuse
from .values import (
    ARRAY_FUNCTIONS,
    METHODS,
    REMEDIES,
    Values,
    array_of,
    check_options,
    function,
    nest_entries,
    numbers_of,
    objects,
    of,
    of_one_kind,
    truths,
    truths_of,
)


def _choose(condition: Any, if_so: Any, otherwise: Any) -> Any:
    return choose(truth(condition), number(if_so), number(otherwise))


def _choose_truth(condition: Any, if_so: Any, otherwise: Any) -> Any:
    holds = truth(condition)
    return either(both(holds, if_so), both(negate(holds), otherwise))


def where(condition: Any, *branches: Any) -> Values:
    """`np.where`, which needs both branches."""
    if len(branches) != 2:
        refuse("np.where needs three arguments in a kernel: np.where(condition, a, b)")
    arrays = [objects(x) for x in (condition, *branches)]
    form = _choose_truth if truths(arrays[1]) and truths(arrays[2]) else _choose
    return array_of(np.frompyfunc(form, 3, 1)(*arrays))


def clip(
    x: Any,
    a_min: Any = np._NoValue,  # type: ignore[attr-defined]
    a_max: Any = np._NoValue,  # type: ignore[attr-defined]
    out: Any = None,
    **bounds: Any,
) -> Values:
    """`np.clip`, with the bounds `a_min` and `a_max`, or `min` and `max`."""
    absent = np._NoValue  # type: ignore[attr-defined]
    if a_min is absent and a_max is absent:
        a_min, a_max = bounds.pop("min", None), bounds.pop("max", None)
    check_options("clip", {**bounds, "out": out})
    if a_min is absent or a_max is absent or {"min", "max"} & {*bounds}:
        refuse("np.clip needs two bounds: np.clip(x, lower, upper), or min= and max=")
    lower, upper = (None if bound is absent else bound for bound in (a_min, a_max))
    result = objects(x).copy(order="K")
    if lower is not None:
        result = objects(function("maximum")(result, objects(lower)))
    if upper is not None:
        result = objects(function("minimum")(result, objects(upper)))
    return of(result)


def _clip_method(x: Values, min: Any = None, max: Any = None, out: Any = None) -> Values:
    return clip(x, min, max, out)


def solve_symmetric(A: Any, b: Any) -> Any:
    """x with A x = b, for a small symmetric positive definite A: (n, n) and b: (n,) or (n, k).

    Use it inside a kernel, where `np.linalg.solve` does not exist; for NumPy arrays it calls that
    function. Without pivoting: A = Lᵀ D L, RBDA table 6.3.
    """
    if not isinstance(A, Values) and not isinstance(b, Values):
        return np.linalg.solve(A, b)
    matrix, right = objects(A), objects(b)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) != len(right):
        refuse(f"A must be (n, n) and b (n,) or (n, k), got {matrix.shape} and {right.shape}")
    rows = nest_entries(matrix)
    if right.ndim == 1:
        return of(np.array(_solve_symmetric(rows, nest_entries(right)), dtype=object))
    columns = [_solve_symmetric(rows, column) for column in nest_entries(right.T)]
    return of(np.array(columns, dtype=object).T)


def _rearranging_function(
    move: Callable[..., Any], plain: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Kernel version of a function that NumPy also has for arrays of objects; `plain` converts its
    arguments to such arrays."""

    def form(*args: Any, **options: Any) -> Any:
        check_options(move.__name__, options)
        result = move(*map(plain, args), **{k: plain(x) for k, x in options.items()})
        if isinstance(result, (list, tuple)):
            return type(result)(map(of, result))
        return of(of_one_kind(result) if isinstance(result, np.ndarray) else result)

    return form


def _moving_function(move: Callable[..., Any]) -> Callable[..., Any]:
    """Kernel version of a function that moves entries. Its result has the first argument's dtype in
    NumPy, also where it adds zeros or inserts numbers."""
    form = _rearranging_function(move, _plain)

    def of_first_kind(first: Any, *args: Any, **options: Any) -> Any:
        made = form(first, *args, **options)
        if move in FILLING and truths(objects(first)):
            return of(truths_of(made.entries))
        return made

    return of_first_kind


def _holds_values(x: Any) -> bool:
    """True if an argument contains a value, at any depth."""
    if isinstance(x, (list, tuple)):
        return any(map(_holds_values, x))
    return isinstance(x, Values) or (isinstance(x, np.ndarray) and x.dtype == object)


def _plain(x: Any) -> Any:
    """An argument with an array of entries instead of values, or of a list of values."""
    if isinstance(x, Values):
        return x.array
    return objects(x) if _holds_values(x) else x


def _sequence(x: Any) -> Any:
    """An argument that may be a list of arrays of different shapes."""
    if isinstance(x, (list, tuple)):
        return [objects(each) for each in x] if _holds_values(x) else x
    return _plain(x)


def _computing_function(move: Callable[..., Any]) -> Callable[..., Any]:
    """Kernel version of a function that adds and multiplies entries; they follow NumPy's rules."""
    form = _rearranging_function(move, _operand)

    def checked_form(*args: Any, **options: Any) -> Any:
        arrays = [objects(x) for x in args if _holds_values(x)]
        if move in OF_BITS and arrays and all(map(truths, arrays)):
            refuse(
                f"np.{move.__name__} of conditions alone has no form in a kernel: NumPy's is of bool; "
                "write x.astype(float)"
            )
        made = form(*args, **options)
        made = of(np.frompyfunc(_entry_of_operand, 1, 1)(made.entries))
        return array_of(made) if move in (np.tensordot, np.cross) else made

    return checked_form


def einsum(*args: Any, **options: Any) -> Values:
    """`np.einsum`. Of one array whose entries it does not add, NumPy returns a view."""
    arrays = [x for x in args if _holds_values(x)]
    if len(arrays) == 1 and isinstance(arrays[0], Values) and not truths(arrays[0].entries):
        like = np.zeros(arrays[0].shape)
        plain: list[Any] = [like if x is arrays[0] else x for x in args]
        if np.shares_memory(np.einsum(*plain, **options), like):
            return of(np.einsum(*map(_plain, args), **options))
    made: Values = _computing_function(np.einsum)(*args, **options)
    return made


class _Operand:
    """An entry inside NumPy's loops over objects."""

    __slots__ = ("entry",)

    def __init__(self, entry: Any):
        self.entry = entry

    def __add__(self, other: Any) -> _Operand:
        return _Operand(of_entries("add")(self.entry, _entry_of_operand(other)))

    def __mul__(self, other: Any) -> _Operand:
        return _Operand(of_entries("multiply")(self.entry, _entry_of_operand(other)))

    def __sub__(self, other: Any) -> _Operand:
        return _Operand(of_entries("subtract")(self.entry, _entry_of_operand(other)))

    def __rsub__(self, other: Any) -> _Operand:
        return _Operand(of_entries("subtract")(_entry_of_operand(other), self.entry))

    def __neg__(self) -> _Operand:
        return _Operand(of_entries("negative")(self.entry))

    __radd__, __rmul__ = __add__, __mul__


def _entry_of_operand(x: Any) -> Any:
    return x.entry if isinstance(x, _Operand) else number(x)


def _operand(x: Any) -> Any:
    """An argument with operands instead of values and numbers."""
    if _holds_values(x):
        return np.asarray(np.frompyfunc(_Operand, 1, 1)(numbers_of(objects(x))), dtype=object)
    return x


def _like(value: Any) -> Callable[..., Any]:
    """Kernel version of `np.zeros_like` or `np.ones_like`."""

    def form(
        a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, **_: Any
    ) -> Values:
        return full_like(a, value, dtype, order, subok, shape)

    return form


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    **_: Any,
) -> Values:
    """`np.full_like`."""
    entries = objects(a)
    made = np.full_like(entries, 0.0, object, order, subok, shape)
    made[...] = objects(fill_value)
    return array_of(_of_dtype(made, entries, dtype))


def _copy_function(a: Any, order: Any = "K", subok: bool = False) -> Values:
    return array_of(objects(a).copy(order))


def _of_dtype(made: Any, like: Any, dtype: Any) -> Values:
    """Entries as conditions or numbers: like the entries of `like`, or of the given dtype."""
    if dtype is not None:
        return of(made).astype(dtype)
    return of(truths_of(made) if truths(like) else numbers_of(made))


def _shape(a: Any) -> tuple[int, ...]:
    return tuple(objects(a).shape)


MOVING: tuple[Callable[..., Any], ...] = (
    np.reshape,
    np.ravel,
    np.transpose,
    np.moveaxis,
    np.swapaxes,
    np.squeeze,
    np.expand_dims,
    np.atleast_1d,
    np.atleast_2d,
    np.broadcast_to,
    np.tile,
    np.repeat,
    np.roll,
    np.flip,
    np.fliplr,
    np.flipud,
    np.rot90,
    np.split,
    np.array_split,
    np.take,
    np.append,
    np.insert,
    np.delete,
    np.diag,
    np.diagonal,
    np.diagflat,
    np.tril,
    np.triu,
)
"""Functions that move entries."""

JOINING: tuple[Callable[..., Any], ...] = (
    np.stack,
    np.concatenate,
    np.hstack,
    np.vstack,
    np.column_stack,
    np.dstack,
)
"""Functions of a list of arrays."""

ADDING: tuple[Callable[..., Any], ...] = (
    np.trace,
    np.cross,
    np.outer,
    np.kron,
    np.inner,
    np.dot,
    np.tensordot,
    np.cumsum,
    np.cumprod,
    np.diff,
)
"""Functions that add and multiply entries."""

OF_BITS = {*ADDING, np.einsum} - {np.trace, np.cumsum, np.cumprod}
"""Functions that NumPy computes in bool if all arguments are bool."""

FILLING = {np.diag, np.diagflat, np.tril, np.triu, np.insert}
"""Functions that put numbers between the entries that they move."""

for _function in MOVING:
    ARRAY_FUNCTIONS[_function] = _moving_function(_function)
for _function in JOINING:
    ARRAY_FUNCTIONS[_function] = _rearranging_function(_function, _sequence)
for _function in ADDING:
    ARRAY_FUNCTIONS[_function] = _computing_function(_function)
ARRAY_FUNCTIONS |= REDUCTIONS
ARRAY_FUNCTIONS |= {
    np.copy: _copy_function,
    np.einsum: einsum,
    np.where: where,
    np.clip: clip,
    np.vdot: lambda a, b: np.dot(np.ravel(a), np.ravel(b)),
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: full_like,
    np.shape: _shape,
    np.ndim: lambda a: len(_shape(a)),
    np.size: lambda a: objects(a).size,
}

REMEDIES |= {
    np.linalg.solve: "use wd.kernels.solve_symmetric(A, b), where A is symmetric and positive definite",
    np.linalg.inv: "use wd.kernels.solve_symmetric(A, np.eye(n)), where A is symmetric and positive definite",
    np.sort: "use np.minimum and np.maximum of pairs",
    np.argmax: "use np.where on comparisons",
    np.argmin: "use np.where on comparisons",
    np.array_equal: "use np.all(a == b)",
}

METHOD_NAMES = (
    "sum",
    "prod",
    "max",
    "min",
    "any",
    "all",
    "mean",
    "dot",
    "ravel",
    "transpose",
    "swapaxes",
    "squeeze",
    "diagonal",
    "trace",
    "cumsum",
    "repeat",
    "take",
)

METHODS |= {name: ARRAY_FUNCTIONS[getattr(np, name)] for name in METHOD_NAMES}
METHODS["flatten"] = lambda self, *order: self.ravel(*order).copy()
METHODS["tolist"] = lambda self: [x.tolist() if x.ndim else x for x in self]
METHODS["item"] = lambda self, *index: of(self.entries.item(*index))
METHODS["clip"] = _clip_method
# For arrays that hold single values, as in np.sin(np.array([x[0], 1.0])), NumPy's loops call a
# method.
METHODS |= {
    name: getattr(np, name) for name in NUMBERS if getattr(np, name).nin == 1 and name != "absolute"
}


def _reshape(self: Values, *shape: Any, **options: Any) -> Values:
    wanted = shape[0] if len(shape) == 1 else shape
    return of(self.array.reshape(wanted, **options))


def _transpose(self: Values, *axes: Any) -> Values:
    return of(self.array.transpose(*axes))


def _copy(self: Values, order: Any = "C") -> Values:
    return self if self.is_scalar else array_of(self.entries.copy(order))


METHODS |= {"reshape": _reshape, "transpose": _transpose}
METHODS["copy"] = _copy

"""NumPy's functions of whole arrays for values: those that move entries, those that sum them, and a
few that need a text of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.linear import solve_symmetric as _solve_symmetric
from ..algebra.scalar import sqrt
from .conditions import choose, truth
from .elementary import number
from .refusals import refuse
from .values import ARRAY_FUNCTIONS, METHODS, Values, function, nested, objects, of, reduced


def _choose(condition: Any, if_so: Any, otherwise: Any) -> Any:
    return choose(truth(condition), number(if_so), number(otherwise))


def where(condition: Any, *branches: Any) -> Values:
    """`np.where` with both branches."""
    if len(branches) != 2:
        refuse("np.where needs three arguments in a kernel: np.where(condition, a, b)")
    arrays = [objects(x) for x in (condition, *branches)]
    return of(np.frompyfunc(_choose, 3, 1)(*arrays))


def clip(x: Any, lower: Any = None, upper: Any = None, **bounds: Any) -> Values:
    """`np.clip`."""
    lower, upper = bounds.pop("min", lower), bounds.pop("max", upper)
    result = objects(x)
    if lower is not None:
        result = objects(function("maximum")(result, objects(lower)))
    if upper is not None:
        result = objects(function("minimum")(result, objects(upper)))
    return of(result)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Values:
    """`np.linalg.norm`: the root of the sum of squares."""
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and np.ndim(objects(x)) == 2):
        refuse(f"np.linalg.norm has ord=None and, of vectors, 2 in a kernel, got {ord!r}")
    entries = objects(x)
    squares = reduced("add", entries * entries, axis, keepdims)
    return of(np.frompyfunc(sqrt, 1, 1)(squares))


def solve_symmetric(A: Any, b: Any) -> Any:
    """x with A x = b, for a small symmetric positive definite A: (n, n) and b: (n,) or (n, k).

    Inside a kernel, where `np.linalg.solve` has no form; on NumPy's arrays it is that. Without
    pivots: A = Lᵀ D L, RBDA table 6.3.
    """
    if not isinstance(A, Values) and not isinstance(b, Values):
        return np.linalg.solve(A, b)
    matrix, right = objects(A), objects(b)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) != len(right):
        refuse(f"A must be (n, n) and b (n,) or (n, k), got {matrix.shape} and {right.shape}")
    rows = nested(matrix)
    if right.ndim == 1:
        return of(np.array(_solve_symmetric(rows, nested(right)), dtype=object))
    columns = [_solve_symmetric(rows, column) for column in nested(right.T)]
    return of(np.array(columns, dtype=object).T)


def _moving(move: Callable[..., Any], plain: Callable[[Any], Any]) -> Callable[..., Any]:
    """The form of a function that NumPy has for objects too; `plain` makes its arguments such."""

    def form(*args: Any, **options: Any) -> Any:
        result = move(*map(plain, args), **{k: plain(x) for k, x in options.items()})
        return type(result)(map(of, result)) if isinstance(result, (list, tuple)) else of(result)

    return form


def _plain(x: Any) -> Any:
    """An argument with arrays of entries in the place of values."""
    if isinstance(x, Values):
        return x.entries
    if isinstance(x, np.ndarray) and x.dtype == object:
        return objects(x)
    if isinstance(x, (list, tuple)) and any(isinstance(each, (Values, list, tuple)) for each in x):
        return type(x)(map(_plain, x))
    return x


def _numbers(x: Any) -> Any:
    """An argument with arrays of numbers in the place of values, conditions among them."""
    if isinstance(x, Values):
        return np.asarray(np.frompyfunc(number, 1, 1)(x.entries), dtype=object)
    return _plain(x)


def _reducing(name: str) -> Callable[..., Any]:
    def form(a: Any, axis: Any = None, keepdims: Any = False, **options: Any) -> Values:
        return of(reduced(name, objects(a), axis, keepdims is True, **options))

    return form


def mean(a: Any, axis: Any = None, keepdims: Any = False) -> Values:
    """`np.mean`."""
    entries = objects(a)
    total = objects(of(reduced("add", entries, axis, keepdims is True)))
    return of(total * (total.size / max(entries.size, 1)))


def _like(value: float) -> Callable[..., Any]:
    def form(a: Any, *_: Any, **options: Any) -> Values:
        shape = options.get("shape")
        return of(np.full(objects(a).shape if shape is None else shape, value, dtype=object))

    return form


def full_like(a: Any, value: Any, **_: Any) -> Values:
    """`np.full_like`."""
    return of(np.broadcast_to(objects(value), objects(a).shape).copy())


def _shape(a: Any) -> tuple[int, ...]:
    return tuple(objects(a).shape)


MOVING: tuple[Callable[..., Any], ...] = (
    np.stack,
    np.concatenate,
    np.hstack,
    np.vstack,
    np.column_stack,
    np.dstack,
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
    np.copy,
)
"""Functions that move entries."""

ADDING: tuple[Callable[..., Any], ...] = (
    np.trace,
    np.cross,
    np.outer,
    np.kron,
    np.inner,
    np.dot,
    np.tensordot,
    np.einsum,
    np.cumsum,
    np.cumprod,
    np.diff,
)
"""Functions that add and multiply entries."""

SUMS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
SUMS |= {"amax": "maximum", "amin": "minimum", "any": "logical_or", "all": "logical_and"}

for _function in MOVING:
    ARRAY_FUNCTIONS[_function] = _moving(_function, _plain)
for _function in ADDING:
    ARRAY_FUNCTIONS[_function] = _moving(_function, _numbers)
for _name, _ufunc in SUMS.items():
    ARRAY_FUNCTIONS[getattr(np, _name)] = _reducing(_ufunc)
ARRAY_FUNCTIONS |= {
    np.where: where,
    np.clip: clip,
    np.linalg.norm: norm,
    np.mean: mean,
    np.vdot: lambda a, b: np.dot(np.ravel(a), np.ravel(b)),
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: full_like,
    np.shape: _shape,
    np.ndim: lambda a: len(_shape(a)),
    np.size: lambda a: objects(a).size,
}

_REMEDIES: dict[Callable[..., Any], str] = {
    np.linalg.solve: "wd.solve_symmetric(A, b), where A is symmetric and positive definite",
    np.linalg.inv: "wd.solve_symmetric(A, np.eye(n)), where A is symmetric and positive definite",
    np.sort: "np.minimum and np.maximum of pairs",
    np.argmax: "np.where on comparisons",
    np.argmin: "np.where on comparisons",
    np.array_equal: "np.all(a == b)",
}


def _refused(name: str, remedy: str) -> Callable[..., Any]:
    def form(*_: Any, **__: Any) -> Any:
        refuse(f"np.{name} has no form in a kernel; use {remedy}")

    return form


ARRAY_FUNCTIONS |= {f: _refused(f.__name__, remedy) for f, remedy in _REMEDIES.items()}

METHOD_NAMES = (
    "sum",
    "prod",
    "max",
    "min",
    "any",
    "all",
    "mean",
    "clip",
    "dot",
    "reshape",
    "ravel",
    "transpose",
    "swapaxes",
    "squeeze",
    "diagonal",
    "trace",
    "copy",
    "cumsum",
    "repeat",
    "take",
)

METHODS |= {name: ARRAY_FUNCTIONS[getattr(np, name)] for name in METHOD_NAMES}
METHODS["flatten"] = ARRAY_FUNCTIONS[np.ravel]
METHODS["tolist"] = lambda self: [x.tolist() if x.ndim else x for x in self]
METHODS["item"] = lambda self: self.reshape(())


def _reshape(self: Values, *shape: Any, **options: Any) -> Values:
    wanted = shape[0] if len(shape) == 1 else shape
    return of(self.entries.reshape(wanted, **options))


def _transpose(self: Values, *axes: Any) -> Values:
    return of(self.entries.transpose(*axes))


METHODS |= {"reshape": _reshape, "transpose": _transpose}

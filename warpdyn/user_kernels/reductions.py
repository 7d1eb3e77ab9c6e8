"""Products of arrays, and functions that combine entries along axes: sums, largest entries, means,
norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elementary import of_entries, root_of_squares
from .refusals import refuse
from .values import (
    WHOLE_ARRAYS,
    Values,
    check_dtype,
    check_options,
    function,
    numbers_of,
    objects,
    of,
    truths,
    truths_of,
)


def product(a: Any, b: Any) -> Any:
    """a @ b, by sums that leave out zeros."""
    if not (a.ndim and b.ndim) or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        refuse(f"the product of shapes {a.shape} and {b.shape} is not defined")
    left = a if a.ndim > 1 else a[None]
    right = b if b.ndim > 1 else b[:, None]
    if truths(a) and truths(b):
        refuse(
            "@ of conditions alone has no form in a kernel; write x.astype(float), or np.any(a & b)"
        )
    products = function("multiply")(left[..., :, :, None], right[..., None, :, :])
    total = reduce_axes("add", products, axis=-2)
    if a.ndim == 1:
        total = total[..., 0, :]
    return total[..., 0].copy() if b.ndim == 1 else total


STARTS = {"add": 0.0, "multiply": 1.0, "logical_and": True, "logical_or": False}
"""Results of a reduction of nothing."""

REDUCED = {
    *STARTS,
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "logical_xor",
    "subtract",
    "divide",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
}
"""Functions that combine entries along axes."""


def reduce_axes(
    name: str,
    entries: Any,
    axis: int | tuple[int, ...] | None = 0,
    keepdims: Any = False,
    **options: Any,
) -> Any:
    """The entries along axes, combined by NumPy's function of two arguments."""
    if name not in REDUCED:
        refuse(f"np.{name}.reduce has no form in a kernel; there are {', '.join(sorted(REDUCED))}")
    more = {key for key, x in options.items() if _is_set(x)}
    if more - {"dtype"}:
        refuse(f"np.{name}.reduce has no {', '.join(sorted(more))} in a kernel")
    axes = _axes(name, entries, axis)
    if name in ("add", "multiply"):
        if not (truths(entries) and options.get("dtype") in (int, np.int64)):
            check_dtype(f"np.{name}.reduce", options.get("dtype"))
        entries = numbers_of(entries)  # NumPy counts conditions
    else:
        check_dtype(f"np.{name}.reduce", options.get("dtype"))
    if name.startswith("logical"):
        entries = truths_of(entries)  # also where a single entry is combined with nothing
    form = of_entries(name)
    result = entries if axes else entries.copy(order="K")
    for k in reversed(axes):
        moved = np.moveaxis(result, k, 0)
        rows = [moved[i : i + 1].reshape(moved.shape[1:]) for i in range(len(moved))]
        if not rows and name not in STARTS:
            refuse(f"np.{name} of no entries is not defined")
        total: Any = (
            rows[0].copy(order="K")
            if rows
            else np.full(moved.shape[1:], STARTS[name], dtype=object)
        )
        for row in rows[1:]:
            total = of(np.frompyfunc(form, 2, 1)(total, row)).entries
        result = total
        if _is_set(keepdims) and keepdims:
            result = np.expand_dims(result, k)
    return result


def _is_set(option: Any) -> bool:
    return option is not None and option is not np._NoValue  # type: ignore[attr-defined]


def _axes(name: str, entries: Any, axis: Any) -> list[int]:
    """The axes in order. NumPy itself refuses axes that do not exist."""
    like = np.zeros((1,) * entries.ndim, dtype=bool if truths(entries) else float)
    try:
        with np.errstate(all="ignore"):
            getattr(np, name).reduce(like, axis=axis)
    except (TypeError, ValueError) as error:
        refuse(f"np.{name} along axis {axis}: {error}")
    chosen = range(entries.ndim) if axis is None else np.atleast_1d(axis)
    return sorted({int(k) % entries.ndim for k in chosen}) if entries.ndim else []


def _summing_function(name: str) -> Callable[..., Any]:
    """Kernel version of `np.sum` or `np.prod`."""

    def form(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        **more: Any,
    ) -> Values:
        return of(reduce_axes(name, objects(a), axis, keepdims, dtype=dtype, out=out, **more))

    return form


def _choosing_function(name: str) -> Callable[..., Any]:
    """Kernel version of `np.max`, `np.min`, `np.any` or `np.all`."""

    def form(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any
    ) -> Values:
        return of(reduce_axes(name, objects(a), axis, keepdims, out=out, **more))

    return form


def _refuse_axes_of_number(name: str, entries: Any, axis: Any) -> None:
    """Raise for an axis of a single number. NumPy's sums accept 0 and -1, these functions do not."""
    if not entries.ndim and axis is not None and np.size(axis):
        refuse(f"np.{name} of a single number has no axis {axis}")


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any
) -> Values:
    """`np.mean`; NaN of no entries."""
    check_options("mean", {**more, "dtype": dtype, "out": out})
    entries = numbers_of(objects(a))
    _refuse_axes_of_number("mean", entries, axis)
    total = reduce_axes("add", entries, axis, keepdims)
    count = int(np.prod([entries.shape[k] for k in _axes("add", entries, axis)], dtype=int))
    return of(function("multiply")(total, 1 / count if count else np.nan))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Values:
    """`np.linalg.norm`: the root of the sum of squares."""
    entries = numbers_of(objects(x))
    axes = entries.ndim if axis is None else np.size(axis)
    if not (ord is None or (ord == 2 and axes == 1) or (ord == "fro" and axes == 2)):
        refuse(f"np.linalg.norm has ord=None and, of vectors, 2 in a kernel, got {ord!r}")
    _refuse_axes_of_number("linalg.norm", entries, axis)
    if axis is not None and axes not in (1, 2):
        refuse(f"np.linalg.norm has one axis or two, got {axis}")
    squares = objects(of(function("multiply")(entries, entries)))
    squares = reduce_axes("add", squares, axis, keepdims)
    return of(np.frompyfunc(root_of_squares, 1, 1)(squares))


WHOLE_ARRAYS |= {"matmul": product, "reduce": reduce_axes}

REDUCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _summing_function("add"),
    np.prod: _summing_function("multiply"),
    np.max: _choosing_function("maximum"),
    np.min: _choosing_function("minimum"),
    np.amax: _choosing_function("maximum"),
    np.amin: _choosing_function("minimum"),
    np.any: _choosing_function("logical_or"),
    np.all: _choosing_function("logical_and"),
    np.mean: mean,
    np.linalg.norm: norm,
}
"""Kernel versions of NumPy's functions."""

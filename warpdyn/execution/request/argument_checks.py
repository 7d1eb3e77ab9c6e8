"""Checks of a call's arguments. Each error says what is needed, what was passed and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, View, views
from ...arrays.libraries import NUMPY
from ...arrays.numpy_arrays import check_unmasked
from ...arrays.overlap import Extent, check_writable, extent, find_overlap
from ...arrays.protocol import dtype_name, rows_of
from .call import Call
from .inputs import Input

MOST_BY_VALUE = 512
"""Largest number of plain numbers of an input on CUDA, 4 KiB in the kernel's arguments. A kernel with
1,500 of them takes 10 s to compile."""


def array_of_numbers(x: Input, array: Any, first: View) -> Array:
    """An input that may be plain numbers, as an array of the first array's kind; on CUDA as a NumPy
    array (n,) or () of its dtype, which the launch passes by value.

    An array on the device would have to be filled before the launch. If it were filled inside a
    graph capture or on another stream, a later call could read it too early.
    """
    if first.library is NUMPY and getattr(array, "dtype", None) == _dtype(first):
        return array
    if isinstance(array, (list, tuple)) or (isinstance(array, np.ndarray) and array.ndim == 1):
        check_unmasked(x.label, array)
        if not isinstance(array, np.ndarray):
            views.check_entries(x.label, array)
        values = tuple(map(float, array))
        if first.device == "cpu":
            return views.numbers(first.library, first.single, values)
        if len(values) > MOST_BY_VALUE:
            raise ValueError(
                f"{x.label} has {len(values)} plain numbers, but a launch on {first.device} takes at "
                f"most {MOST_BY_VALUE}; pass an array of {first.library.name} there"
            )
        return np.array(values, _dtype(first))
    if isinstance(array, np.ndarray) and not array.ndim and first.device != "cpu":
        return array.astype(_dtype(first))
    if not hasattr(array, "shape"):
        raise TypeError(f"{x.label} must be numbers (x, y, z) or an array, got {array!r}")
    return array


def dtype_of_lists(arrays: Iterable[Any]) -> str:
    """The dtype that lists take next to these arguments: that of the first array of floats, without
    one float64."""
    dtypes = (dtype_name(x.dtype) for x in arrays if views.is_array(x))
    return next((x for x in dtypes if x in ("float32", "float64")), "float64")


def check_kind(name: str, v: View, first_name: str, first: View) -> None:
    """Raise for an array with another library, dtype or device than the first array."""
    if v.library is first.library and v.single == first.single and v.device == first.device:
        return
    for what, mine, its in (
        ("library", v.library.name, first.library.name),
        ("dtype", _dtype(v), _dtype(first)),
        ("device", v.device, first.device),
    ):
        if mine != its:
            raise TypeError(
                f"all arrays of a call must be of one {what}: "
                f"{first_name} is {its}, {name} is {mine}; convert {name} to {its}"
            )


def _dtype(v: View) -> str:
    return "float32" if v.single else "float64"


def result_arrays(call: Call, names: Sequence[str]) -> list[Array]:
    """The caller's arrays for the results, one for each."""
    if len(names) == 1 and not isinstance(call.out, (tuple, list)):
        return [call.out]
    if not isinstance(call.out, (tuple, list)) or len(call.out) != len(names):
        got = (
            f"{len(call.out)} of them"
            if isinstance(call.out, (tuple, list))
            else type(call.out).__name__
        )
        raise TypeError(
            f"out must be a tuple of {len(names)} arrays, for {', '.join(names)}; got {got}"
        )
    return list(call.out)


def check_outs(
    outs: Sequence[Array],
    wanted: Sequence[tuple[int, ...]],
    inputs: Mapping[str, View],
    first_name: str,
    first: View,
    over: Sequence[str | None],
    number: int,
) -> list[View]:
    """Raise for arrays that results cannot be written to; returns their views, with their `number`
    leading dimensions merged into one.

    `over`: for each result, the input whose array it may overwrite.
    """
    seen = dict(inputs)
    extents: dict[str, Extent] = {}
    checked = []
    for k, (out, shape) in enumerate(zip(outs, wanted, strict=True)):
        name = "out" if len(outs) == 1 else f"out[{k}]"
        v = views.view(name, out)
        check_kind(name, v, first_name, first)
        if v.shape != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(v.shape)}")
        check_writable(out, v)
        rows = v if number < 2 else rows_of(v, number)
        if rows is None:
            raise ValueError(
                f"{name} has leading dimensions {v.shape[:number]} that one stride "
                f"cannot cover (strides {v.strides[:number]}); pass a contiguous array"
            )
        v = rows
        # A result may overwrite its own input, but must not overlap any other array.
        if over[k] is not None and seen.get(str(over[k])) == v:
            del seen[str(over[k])]
        own = extent(v)
        other = find_overlap(v, seen, extents, own)
        if other is not None:
            raise ValueError(
                f"{name} shares memory with {other}; results are written while inputs are still "
                "read: pass another array"
            )
        seen[name], extents[name] = v, own
        checked.append(v)
    return checked

"""Values of several links or joints in one array of their library, with environments side by side.

A kernel reads such an array row by row in place, a vector of environments at a time. Values in rows
of one environment must be transposed first, which takes 25 % more time (rnea of panda with 94
varied numbers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .libraries import NUMPY, library_of, library_of_all
from .protocol import Array, dtype_name


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of an array, or of nested lists of numbers."""
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


def count_of(
    what: str, values: Mapping[str, Any], each: Sequence[int], envs: int | None
) -> int | None:
    """Number of environments of values of shape `each` or (B, *each); None if all are single."""
    rows = {} if envs is None else {"envs": envs}
    for name, x in values.items():
        shape = shape_of(x)
        if shape[len(shape) - len(each) :] != tuple(each) or len(shape) > len(each) + 1:
            sizes = "".join(f", {n}" for n in each)
            one = f"({', '.join(map(str, each))}{',' * (len(each) == 1)})" if each else "a number"
            raise ValueError(f'{what} of "{name}" must be {one} or (B{sizes or ","}), got {shape}')
        if len(shape) > len(each):
            rows[f'"{name}"'] = shape[0]
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{name}: {count}" for name, count in rows.items())
        raise ValueError(
            f"{what} is for different numbers of environments: {counts}; give all of them the same"
        )
    return next(iter(rows.values()), None)


def stack_values(
    values: Sequence[Any], shape: Sequence[int], count: int | None, dtype: Any = None
) -> Array:
    """(B, k, *shape) from k values of `shape` or (B, *shape); (k, *shape) if `count` is None.

    dtype: of the result; by default that of the first array among the values, or float64.
    """
    like = next((x for x in values if hasattr(x, "dtype")), None)
    kind = dtype or (np.float64 if like is None else like.dtype)
    return library_of_all(values).stack_values(values, tuple(shape), count, kind)


def first_array(values: Sequence[Any]) -> Array | None:
    """The array whose library and dtype plain numbers take: the first that is not NumPy's, else
    the first of NumPy; None if there are only numbers."""
    arrays = [x for x in values if dtype_name(getattr(x, "dtype", "")) in ("float32", "float64")]
    return next((x for x in arrays if library_of(x) is not NUMPY), next(iter(arrays), None))


def of_kind(array: Any, like: Any, dtype: Any = None) -> Array:
    """Numbers (B, ..) in the library and on the device of `like`, in its dtype or in `dtype`.
    Environments that lie side by side stay so."""
    library, name = library_of(like), dtype_name(dtype or like.dtype)
    if library is library_of(array):
        same: Array = library.move_to(array, name, None if library is NUMPY else like.device)
        return same
    host = library_of(array).to_host(array)
    if host.ndim < 2:
        return library.convert_like(np.asarray(host, dtype=name), name, like)  # type: ignore[no-any-return]
    memory = library.convert_like(
        np.ascontiguousarray(np.moveaxis(host, 0, -1), dtype=name), name, like
    )
    seen: Array = library.environment_first(memory, len(host))
    return seen

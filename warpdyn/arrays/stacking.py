"""Values of several links or joints in one array of their library, environments side by side.

A kernel reads such an array row by row where it lies, a vector of environments at a time; row after
row of one environment it has to transpose first, which costs a quarter more (rnea of panda with 94
numbers varied).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .libraries import library_of_all
from .protocol import Array


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of an array, or of nested lists of numbers."""
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


def count_of(
    what: str, values: Mapping[str, Any], each: Sequence[int], envs: int | None
) -> int | None:
    """Number of environments of values of shape `each` or (B, *each); None where all are single."""
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


def stacked(
    values: Sequence[Any], shape: Sequence[int], count: int | None, dtype: Any = None
) -> Array:
    """(B, k, *shape) of k values of `shape` or (B, *shape); (k, *shape) where `count` is None.

    dtype: of the result; else that of the first array among the values, or float64.
    """
    like = next((x for x in values if hasattr(x, "dtype")), None)
    kind = dtype or (np.float64 if like is None else like.dtype)
    return library_of_all(values).stacked(values, tuple(shape), count, kind)

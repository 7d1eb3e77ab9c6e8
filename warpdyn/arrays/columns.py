"""Columns of arrays: splitting and joining the last dimension.

The module imports no library that the caller has not imported. Torch and JAX operations keep
gradients and may be traced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .libraries import NUMPY, library_of
from .protocol import A, Array, Part

__all__ = ["Part", "column", "columns", "join_columns", "pick_columns"]


def columns(array: Array[A], chosen: slice) -> A:
    """array[..., chosen], a view if the library has views."""
    return array[(*[slice(None)] * (array.ndim - 1), chosen)]


def column(array: Array[A], k: int) -> A:
    """array[..., k]; a view of one entry if the library has no array without dimensions."""
    return library_of(array).entry(array, k)


def pick_columns(array: Array[A], chosen: Sequence[int]) -> A:
    """array[..., chosen], for columns in any order."""
    return library_of(array).pick_columns(array, chosen)


def join_columns(parts: Sequence[Part], like_first: Iterable[Any] = ()) -> Array:
    """The parts side by side; leading dimensions are broadcast against each other.

    Library, dtype and device are those of the first array among `like_first` and the parts that is
    not NumPy's, or else NumPy and the dtype of the first array of floats.
    """
    arrays = [x for x in (*like_first, *(part.values for part in parts)) if hasattr(x, "dtype")]
    others = (x for x in arrays if library_of(x) is not NUMPY)
    floats = (x for x in arrays if library_of(x) is NUMPY and x.dtype.kind == "f")
    like: Any = next(others, None)
    if like is None:
        like = next(floats, None)
    return library_of(like).join_columns(parts, like)

"""Arrays at the boundary of a call: views of the caller's arrays, and new ones of the same kind.

The array's `Library` handles the differences between libraries; this file names none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from . import layout
from .libraries import NUMPY, WARP, find_library, known, library_of, not_an_array
from .protocol import A, Array, Library, View, dtype_name
from .warp_arrays import find_device


def view(name: str, array: Array) -> View:
    """The view of an argument. TypeError names the accepted kinds and dtypes."""
    library = known.get(type(array)) or find_library(array)
    if library is None:
        raise not_an_array(name, array)
    return library.view(name, array)


def is_array(x: object) -> bool:
    """True for an array of a library, False for plain numbers or values of a kernel."""
    return (known.get(type(x)) or find_library(x)) is not None


def empty(
    library: Library,
    device: str,
    single: bool,
    count: int,
    shape: Sequence[int],
    side_by_side: bool,
) -> Array:
    """A new (count, *shape) array of a library.

    side_by_side: entries of neighbouring environments are neighbours in memory.
    """
    if side_by_side:
        memory = library.allocate(device, single, (*shape, layout.padded_count(count, single)))
        return library.environment_first(memory, count)
    return library.allocate(device, single, (count, *shape))


@lru_cache(maxsize=64)
def numbers(library: Library, single: bool, values: tuple[float, ...]) -> Array:
    """Plain numbers as a read-only array on the CPU; it is cached, so that repeated calls allocate
    nothing."""
    host = np.asarray(values, dtype=np.float32 if single else np.float64)
    return library.from_host(host, "cpu")


def has_none_or_text(values: Any) -> bool:
    """True for None and text, alone or in a list: NumPy takes them for NaN and for numbers."""
    rows = [values]
    while rows:
        entry = rows.pop()
        if entry is None or isinstance(entry, (str, bytes)):
            return True
        if isinstance(entry, (list, tuple)):
            rows.extend(entry)
    return False


def check_entries(name: str, values: Any) -> None:
    """Raise for None and text, alone or in a list."""
    if has_none_or_text(values):
        raise TypeError(f"{name} must be numbers, got {values!r}")


def column(name: str, value: Any, like: Array) -> Any:
    """A number for each row of `like`, (B, 1), or (1,) for one robot, without a copy; a plain number
    as a list of it.

    value: (B,), or one number.
    """
    if isinstance(value, (int, float, np.number)) or (
        isinstance(value, np.ndarray) and not value.ndim
    ):
        return [float(value)]
    rows = tuple(like.shape[:-1])
    if not hasattr(value, "shape"):
        raise TypeError(
            f"{name} must be a number, or an array with one for each row, got {type(value).__name__}"
        )
    if getattr(value, "ndim", 1) and tuple(value.shape) != rows:
        raise ValueError(
            f"{name} must be a number, or one for each row: {rows}, got {tuple(value.shape)}"
        )
    return library_of(like).as_column(value, like, rows)


def kind_of(like: Array | None, dtype: Any, device: Any) -> tuple[Library, str, bool]:
    """Library, device and precision of a new array.

    Those of `like`; else NumPy, or Warp where a device is named.
    """
    library, where, single = NUMPY, "cpu", False
    if like is not None:
        v = view("like", like)
        library, where, single = v.library, v.device, v.single
        if device is not None and str(device) != where:
            raise ValueError(
                f"like= is on {where}, not on {device}; give only one of like= and device="
            )
    elif device is not None:
        library, where = WARP, find_device(device).alias
    if dtype is not None:
        name = dtype_name(dtype)
        if name not in ("float32", "float64"):
            raise TypeError(f"dtype must be float32 or float64, got {dtype}")
        single = name == "float32"
    return library, where, single


def on_host(array: Any) -> np.ndarray:
    """Any array, or plain numbers, as float64 NumPy."""
    return np.asarray(library_of(array).to_host(array), dtype=float)


def cast(array: A, dtype: str) -> A:
    """The numbers as "bool" or "int32"."""
    return library_of(array).cast(array, dtype)

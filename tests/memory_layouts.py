"""Views of an array (B, ...) in many memory layouts, and a bitwise comparison."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def guarded_view(
    array: np.ndarray, shape: tuple[int, ...], take: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """A view of NaN-filled memory of `shape`, selected by `take`, that holds `array`."""
    memory = np.full(shape, np.nan, array.dtype)
    view = take(memory)
    view[...] = array
    assert view.shape == array.shape and np.shares_memory(view, memory)
    return view


def environments_last(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (*a.shape[1:], a.shape[0]), lambda m: np.moveaxis(m, -1, 0))


def padded_columns(a: np.ndarray) -> np.ndarray:
    return guarded_view(
        a, (*a.shape[1:], a.shape[0] + 5), lambda m: np.moveaxis(m, -1, 0)[: a.shape[0]]
    )


def padded_rows(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (*a.shape[:-1], a.shape[-1] + 3), lambda m: m[..., 2:-1])


def every_second(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (2 * a.shape[0], *a.shape[1:]), lambda m: m[1::2])


def backwards(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, a.shape, lambda m: m[::-1])


def entries_backwards(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, a.shape, lambda m: m[..., ::-1])


def columns_backwards(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (*a.shape[1:], a.shape[0]), lambda m: np.moveaxis(m[..., ::-1], -1, 0))


def every_third_entry(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (*a.shape[:-1], 3 * a.shape[-1]), lambda m: m[..., ::3])


def transpose(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, a.shape[::-1], lambda m: m.T)


def second_of_pairs(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (a.shape[0], 2, *a.shape[1:]), lambda m: m[:, 1])


def offset_by_one(a: np.ndarray) -> np.ndarray:
    return guarded_view(a, (a.size + 1,), lambda m: m[1:].reshape(a.shape))


LAYOUTS = (
    environments_last, padded_columns, padded_rows, every_second, backwards, entries_backwards, columns_backwards,
    every_third_entry, transpose, second_of_pairs, offset_by_one,
)  # fmt: skip


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return (
        a.shape == b.shape
        and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    )

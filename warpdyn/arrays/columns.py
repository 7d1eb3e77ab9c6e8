"""Columns of NumPy, Torch, JAX and Warp arrays: the last dimension taken apart and put together.

Nothing is imported that the caller has not imported. Torch and JAX operations keep gradients and may be traced.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from .views import Array

LIBRARIES = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "warp": "warp"}


class Part(NamedTuple):
    """Columns to join: (..., width), or (...) where `single`; plain numbers and lists too."""

    values: Any
    width: int
    single: bool


def library(array: Any) -> str:
    """ "numpy", "torch", "jax" or "warp"; plain numbers count as NumPy."""
    return LIBRARIES.get(type(array).__module__.partition(".")[0], "numpy")


def columns(array: Array, chosen: slice) -> Array:
    """array[..., chosen], a view where the library has views."""
    if library(array) == "warp":
        return array[(slice(None),) * (array.ndim - 1) + (chosen,)]
    return array[..., chosen]


def column(array: Array, k: int) -> Array:
    """array[..., k]; of a Warp vector a view of one entry, as Warp has no array without dimensions."""
    if library(array) == "warp":
        if array.ndim == 1:
            return array[k : k + 1]
        return array[(slice(None),) * (array.ndim - 1) + (k,)]
    return array[..., k]


def picked(array: Array, chosen: Sequence[int]) -> Array:
    """array[..., chosen], for columns in any order."""
    if library(array) == "warp":
        return joined([Part(columns(array, slice(k, k + 1)), 1, False) for k in chosen])
    return array[..., list(chosen)]


def joined(parts: Sequence[Part], like_first: Iterable[Any] = ()) -> Array:
    """The parts side by side in the library, dtype and device of the first array among `like_first` and them; leading
    dimensions are broadcast against each other."""
    arrays = [x for x in (*like_first, *(part.values for part in parts)) if hasattr(x, "dtype")]
    floats = (x for x in arrays if library(x) == "numpy" and x.dtype.kind == "f")
    like: Any = next((x for x in arrays if library(x) != "numpy"), next(floats, None))
    kind = library(like)
    if kind == "warp":
        return _joined_in_warp(parts, like)
    if kind == "torch":
        torch = sys.modules["torch"]

        def converted(x: Any) -> Any:
            return torch.as_tensor(x, dtype=like.dtype, device=like.device)

        cat, broadcast = torch.cat, torch.broadcast_to
    else:
        xp: Any = np if kind == "numpy" else sys.modules["jax"].numpy
        dtype = np.float64 if like is None else like.dtype

        def converted(x: Any) -> Any:
            return xp.asarray(x, dtype=dtype)

        cat, broadcast = xp.concatenate, xp.broadcast_to
    blocks = [converted(part.values) for part in parts]
    blocks = [x[..., None] if part.single else x for x, part in zip(blocks, parts, strict=True)]
    lead = np.broadcast_shapes(*(tuple(x.shape[:-1]) for x in blocks))
    return cat(
        [broadcast(x, (*lead, part.width)) for x, part in zip(blocks, parts, strict=True)], -1
    )


def _joined_in_warp(parts: Sequence[Part], like: Any) -> Array:
    leads = [
        tuple(x.shape if single else x.shape[:-1]) for x, _, single in parts if library(x) == "warp"
    ]
    if () in leads:  # one robot, whose single coordinates are vectors of one entry
        leads = [() if own == (1,) else own for own in leads]
    lead = leads[0]
    if any(own != lead for own in leads):
        raise ValueError(
            f"Warp arrays are not broadcast; their leading dimensions must be the same, got {leads}"
        )
    out = wp.empty((*lead, sum(part.width for part in parts)), dtype=like.dtype, device=like.device)
    start = 0
    for values, width, single in parts:
        if library(values) != "warp" or (single and values.ndim == 0):
            block = np.asarray(values, dtype=float)
            block = np.broadcast_to(block[..., None] if single else block, (*lead, width))
            values, single = wp.array(block, dtype=like.dtype, device=like.device), False
        target = column(out, start) if single else columns(out, slice(start, start + width))
        wp.copy(target, values)
        start += width
    return out

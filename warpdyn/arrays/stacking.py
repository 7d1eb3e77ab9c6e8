"""Values of several links or joints in one array of their own library, environments side by side in memory.

A kernel reads such an array row by row where it lies, a vector of environments at a time; row after row of one
environment it has to transpose first, which costs a quarter more (rnea of panda with 94 numbers varied).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def library_of(values: Iterable[Any]) -> Any:
    """The array module of the values: NumPy, Torch, JAX or Warp."""
    for x in values:
        name = type(x).__module__.partition(".")[0]
        if name in ("torch", "warp"):
            return sys.modules[name]
        if name in ("jax", "jaxlib"):
            return sys.modules["jax"].numpy
    return np


def shape_of(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


def count_of(
    what: str, values: Mapping[str, Any], own: Sequence[int], envs: int | None
) -> int | None:
    """Number of environments that values of shape `own` or (B, *own) are for; None where all are single."""
    rows = {} if envs is None else {"envs": envs}
    for name, x in values.items():
        shape = shape_of(x)
        if shape[len(shape) - len(own) :] != tuple(own) or len(shape) > len(own) + 1:
            sizes = "".join(f", {n}" for n in own)
            one = f"({', '.join(map(str, own))}{',' * (len(own) == 1)})" if own else "a number"
            raise ValueError(f'{what} of "{name}" must be {one} or (B{sizes or ","}), got {shape}')
        if len(shape) > len(own):
            rows[f'"{name}"'] = shape[0]
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{name}: {count}" for name, count in rows.items())
        raise ValueError(
            f"{what} is for different numbers of environments: {counts}; give all of them the same"
        )
    return next(iter(rows.values()), None)


def stacked(values: Sequence[Any], own: Sequence[int], count: int | None, dtype: Any = None) -> Any:
    """(B, k, *own) of k values of shape `own` or (B, *own); (k, *own) where `count` is None.

    dtype: of the result; else that of the first array among the values, or float64.
    """
    library = library_of(values)
    like = next((x for x in values if hasattr(x, "dtype")), None)
    dtype = dtype or (np.float64 if like is None else like.dtype)
    if library.__name__ == "warp":
        return _of_warp(library, values, own, count, dtype)
    if library.__name__ == "torch":
        arrays = [library.as_tensor(x, dtype=dtype, device=like.device) for x in values]  # type: ignore[union-attr]
    else:
        arrays = [library.asarray(x, dtype=dtype) for x in values]
    if count is None:
        return library.stack(arrays, 0)
    if library is np:
        memory = np.empty((len(values), *own, lead(count)), dtype)
        result = np.moveaxis(memory[..., :count], -1, 0)
        for k, x in enumerate(arrays):
            result[:, k] = x
        return result
    arrays = [library.broadcast_to(x, (count, *own)) for x in arrays]
    if library.__name__ == "torch":  # so that gradients pass
        memory = library.stack([x.movedim(0, -1) for x in arrays])
        return library.nn.functional.pad(memory, (0, lead(count) - count))[..., :count].movedim(
            -1, 0
        )
    return library.stack(arrays, 1)


def _of_warp(
    warp: Any, values: Sequence[Any], own: Sequence[int], count: int | None, dtype: Any
) -> Any:
    dtype = {"float32": warp.float32, "float64": warp.float64}[
        getattr(dtype, "__name__", str(dtype))
    ]
    device = next(x.device for x in values if isinstance(x, warp.array))
    if count is None:
        rows = [x.numpy() if isinstance(x, warp.array) else x for x in values]
        return warp.array(np.stack(rows), dtype=dtype, device=device)
    memory = warp.zeros((len(values), *own, lead(count)), dtype=dtype, device=device)
    result = memory[(*[slice(None)] * (len(own) + 1), slice(0, count))].transpose(
        [len(own) + 1, *range(len(own) + 1)]
    )
    for k, x in enumerate(values):
        if shape_of(x) == tuple(own):
            single = x.numpy() if isinstance(x, warp.array) else x
            x = np.broadcast_to(np.asarray(single, dtype=float), (count, *own))
        x = x if isinstance(x, warp.array) else warp.array(x, dtype=dtype, device=device)
        warp.copy(result[:, k], x)
    return result


def lead(count: int) -> int:
    """Numbers from one row to the next: whole vectors, and no large power of two, whose rows collide in the cache."""
    rounded = -(-count // 16) * 16
    return rounded + 16 if rounded % 128 == 0 else rounded

"""Resets of a simulation's environments on a CUDA device, in one launch without synchronisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Library
from ...arrays.protocol import dtype_name
from ...arrays.row_writes import RowWrite, write_rows


def reset_on_device(
    library: Library,
    where: Any,
    count: int | None,
    arrays: Mapping[str, Any],
    values: Mapping[str, Any],
) -> None:
    """Set rows of arrays (envs, ...) to values, or to zero where there are none.

    where: None for all rows; a mask (envs,) or indices (n,), of NumPy or on the device.
    count: the number of rows; None for a mask.
    values: for some of the arrays, by name: (width,) for all rows, (envs, width) with a row for
    each environment, or (n, width) with a row for each chosen one. With the last form a mask is
    read on the host, because its rows have to be counted. Nothing else waits for the device.
    """
    envs = next(iter(arrays.values())).shape[0]
    given = {
        name: x if hasattr(x, "shape") else np.asarray(x, dtype=float)
        for name, x in values.items()
        if x is not None
    }
    shapes = {name: tuple(x.shape) for name, x in given.items()}
    own = {name: shape for name, shape in shapes.items() if len(shape) > 1 and shape[0] != envs}
    if own and count is None:
        where = np.flatnonzero(library.to_host(where) if _mine(library, where) else where)
        count = len(where)
    for name, shape in shapes.items():
        width = arrays[name].shape[1]
        if shape not in ((width,), (envs, width), (count, width)):
            rows = envs if count is None else count
            raise ValueError(f"{name} must be ({width},) or ({rows}, {width}), got {shape}")
    # These arrays live until the launch is on its stream.
    given = {name: _of_kind(library, x, arrays[name]) for name, x in given.items()}
    writes = [
        RowWrite(
            library.view(name, array),
            library.view(name, given[name]) if name in given else None,
            name in own,
        )
        for name, array in arrays.items()
    ]
    like = next(iter(arrays.values()))
    index = None if where is None else library.row_index(where, like)
    write_rows(writes, index, library.stream(writes[0].array.device))
    library.mark_written(list(arrays.values()))


def _of_kind(library: Library, values: Any, like: Any) -> Any:
    """Values as an array of the dtype and on the device of `like`."""
    if _mine(library, values):
        return library.move_to(values, dtype_name(like.dtype), like.device)
    return library.convert_like(values, like.dtype, like)


def _mine(library: Library, values: Any) -> bool:
    return isinstance(values, library.array_type)

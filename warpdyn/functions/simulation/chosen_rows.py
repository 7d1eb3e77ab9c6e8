"""Rows of a simulation's arrays that a user chooses, and values for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array, Library, views
from ...execution.config import config

Rows = tuple[Any, int | None]
"""The index of rows in the arrays, and their number; None for a mask, whose number of rows is not
known."""


class ChosenRows:
    """Checks of rows and of values for arrays (envs, ...) of one library."""

    def __init__(self, library: Library, envs: int) -> None:
        self.library, self._envs = library, envs

    def rows(self, where: Any) -> Rows:
        """The rows of `where`: None for all, a mask (envs,), or indices."""
        if where is None:
            return slice(None), self._envs
        if not hasattr(where, "dtype"):
            where = np.asarray(where)
            where = where.astype(int) if not where.size else where
        elif isinstance(where, np.ndarray) or not (self._mine(where) or _on_device(where)):
            where = _in_numpy(where)
        shape, kind = tuple(where.shape), str(where.dtype)
        if "bool" in kind:
            if shape != (self._envs,):
                raise ValueError(f"a mask must be ({self._envs},), one for each robot; got {shape}")
            return where, None
        if kind == "torch.uint8":
            raise TypeError(
                "where is torch.uint8, a mask in Torch and indices elsewhere; use where.bool() or "
                "where.long()"
            )
        if len(shape) != 1 or "int" not in kind:
            raise TypeError(
                f"where must be a mask (envs,), or a list of whole numbers; got {shape} of {kind}"
            )
        on_cuda = self._mine(where) and self.library.on_cuda(where)
        if on_cuda and not config.debug:  # reading them would wait for the device
            return where, shape[0]
        host = np.asarray(self.on_host(where))
        wrong = host[(host < 0) | (host >= self._envs)]
        if wrong.size:
            raise IndexError(
                f"there are environments 0 to {self._envs - 1}; "
                f"got {', '.join(map(str, wrong[:5]))}"
            )
        return where, len(host)

    def check_values(self, name: str, values: Any, width: int, rows: Rows | None) -> Array:
        """Values for all rows, or for the rows to reset; raises for another shape."""
        if not hasattr(values, "shape"):
            try:
                views.check_entries(name, values)
                values = np.asarray(values, dtype=float)
            except (TypeError, ValueError):
                raise TypeError(
                    f"{name} must be an array of numbers, ({width},) or one row for each "
                    f"environment, got {values!r}"
                ) from None
        if "complex" in str(getattr(values, "dtype", "")):
            raise TypeError(f"{name} must be real numbers, got {values.dtype}")
        shape, chosen = tuple(values.shape), rows is not None and not isinstance(rows[0], slice)
        count = self._envs if rows is None else rows[1]
        if shape == (width,):
            return values
        # Rows of all environments may be given with indices, if these are in order.
        if rows is not None and chosen and shape == (self._envs, width):
            if count == self._envs and not self._in_order(rows[0]):
                raise ValueError(
                    f"{name} has a row for each of {count} environments, and where lists {count} in "
                    "another order; give both in the order of the environments"
                )
            return self.library.rows(values, rows[0]) if self._mine(values) else values[rows[0]]
        if count is None and rows is not None:
            count = int(np.asarray(self.on_host(rows[0])).sum())
        if shape != (count, width):
            raise ValueError(f"{name} must be ({width},) or ({count}, {width}), got {shape}")
        return values

    def of_start(self, start: Any, rows: Rows) -> Array:
        """The rows to reset of an array (envs, ...) of this library, in any order of indices."""
        return start if isinstance(rows[0], slice) else self.library.rows(start, rows[0])

    def _in_order(self, indices: Any) -> bool:
        return bool(np.array_equal(np.asarray(self.on_host(indices)), np.arange(self._envs)))

    def on_host(self, values: Array) -> Array:
        """The values as a NumPy array if they are an array of this library."""
        return self.library.to_host(values) if self._mine(values) else values

    def _mine(self, values: Any) -> bool:
        return isinstance(values, self.library.array_type)


def refuse_not_finite(name: str, values: Any) -> None:
    """Raise ValueError for an array with entries that are NaN or infinite."""
    host = views.on_host(values)
    if wrong := np.argwhere(~np.isfinite(host)).tolist():
        first = tuple(wrong[0])
        raise ValueError(
            f"{name} must be finite numbers; {len(wrong)} are not, the first at {first}: {host[first]}"
        )


def _in_numpy(where: Any) -> Any:
    """A mask, or indices as 64-bit integers: a library may read bytes as a mask."""
    if str(where.dtype) == "torch.uint8":
        return where
    where = np.asarray(where)
    return where.astype(np.int64, copy=False) if where.dtype.kind in "iu" else where


def _on_device(where: Any) -> bool:
    return str(getattr(where, "device", "cpu")) != "cpu"

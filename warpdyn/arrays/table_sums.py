"""Shares of the numbers of a table, each with its place, added up."""

from __future__ import annotations

from math import prod

import numpy as np


def summed(shares: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(rows, columns) sums in float64 of (.., 3) shares, rows and columns, the nearest ones of the
    table; in the order of the shares, so that equal shares give equal bits."""
    share, row, column = shares.reshape(-1, 3).astype(float).T
    rows, columns = shape
    at = _nearest(row, rows) * columns + _nearest(column, columns)
    return np.bincount(at, share, prod(shape)).reshape(shape)


def _nearest(index: np.ndarray, count: int) -> np.ndarray:
    return np.clip(np.nan_to_num(index, nan=0.0), 0, count - 1).astype(np.int64)

"""Sums of shares for the entries of a table; each share comes with its row and column."""

from __future__ import annotations

from math import prod

import numpy as np


def sum_into_table(shares: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(rows, columns) sums in float64 of (.., 3) shares, rows and columns, rounded to the nearest
    ones of the table. They are added in the order of the shares, so that equal shares give equal
    bits."""
    share, row, column = shares.reshape(-1, 3).astype(float).T
    rows, columns = shape
    at = _nearest(row, rows) * columns + _nearest(column, columns)
    return np.bincount(at, share, prod(shape)).reshape(shape)


def _nearest(index: np.ndarray, count: int) -> np.ndarray:
    return np.clip(np.nan_to_num(index, nan=0.0), 0, count - 1).astype(np.int64)

"""Random numbers of `random_rows` and `random_laws` on the CPU, drawn by NumPy.

A first call therefore waits for no compiler, and needs none. Uniform numbers have the bits of Warp's
kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from .protocol import View

SPLITMIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Increment and factors of SplitMix64."""

ENTRIES = 1 << 14
"""Number of entries that NumPy draws at a time; their hashes stay in the processor's cache."""


def draw_on_host(
    out: View, lower: Sequence[float], upper: Sequence[float], quaternions: Sequence[int], seed: int
) -> None:
    """The numbers of `random_rows.draw_rows`."""
    count, width = out.shape
    rows = array_of(out)
    of_rotations = [k + n for k in quaternions for n in range(4)]
    low, high = np.array(lower, float), np.array(upper, float)
    low[of_rotations] = high[of_rotations] = 0.0  # they may be infinite
    columns = np.arange(width, dtype=np.uint64)
    step = max(1, ENTRIES // width)
    for first in range(0, count, step):
        e = np.arange(first, min(first + step, count), dtype=np.uint64)[:, None]
        i = (e * np.uint64(width) + columns) * np.uint64(3)
        x = low + uniform(seed, i) * (high - low)
        for k in quaternions:
            a, b, c = (uniform(seed, i[:, k] + np.uint64(n)) for n in range(3))
            for angle, radius, at in ((b, 1.0 - a, k), (c, a, k + 2)):
                turn, root = 2.0 * np.pi * angle, np.sqrt(radius)
                x[:, at], x[:, at + 1] = root * np.sin(turn), root * np.cos(turn)
        rows[first : first + step] = x


def uniform(seed: int, i: np.ndarray) -> np.ndarray:
    """Numbers in [0, 1), with 53 random bits, of a seed and an array of indices."""
    gamma = SPLITMIX[0]
    key = _mix_bits(np.array([(seed + gamma) % 2**64], np.uint64)).reshape((1,) * i.ndim)
    z = _mix_bits(key + (i + np.uint64(1)) * np.uint64(gamma))
    return (z >> np.uint64(11)).astype(float) * 2.0**-53


def _mix_bits(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64. Products of whole numbers in NumPy's arrays wrap around."""
    first, second = map(np.uint64, SPLITMIX[1:])
    y = (x ^ (x >> np.uint64(30))) * first
    y = (y ^ (y >> np.uint64(27))) * second
    return y ^ (y >> np.uint64(31))


def inverse_erf(y: np.ndarray) -> np.ndarray:
    """The inverse of the error function, for |y| <= erf(2.2): from a table, and by two steps of Newton's
    method."""
    wanted = np.abs(y)
    x = np.interp(wanted, *_table_of_erf())
    for _ in range(2):
        x = x + (wanted - _erf(x)) * np.exp(x * x) * (0.5 * math.sqrt(math.pi))
    return np.copysign(x, y)


@cache
def _table_of_erf() -> tuple[np.ndarray, np.ndarray]:
    """The error function at 2,201 points, and the points. Numbers between two points are within 1e-6."""
    points = np.linspace(0.0, 2.2, 2201)
    return _erf(points), points


_erf = np.vectorize(math.erf, otypes=[float])


def array_of(view: View) -> np.ndarray:
    """A NumPy array on the memory of a view."""
    return np.asarray(_Memory(view))


class _Memory:
    """The memory of a view in the form that NumPy reads."""

    def __init__(self, view: View):
        size = 4 if view.single else 8
        self.__array_interface__ = {
            "data": (view.address, False),
            "shape": view.shape,
            "strides": tuple(stride * size for stride in view.strides),
            "typestr": f"=f{size}",
            "version": 3,
        }

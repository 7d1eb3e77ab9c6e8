"""Random numbers of `random_rows` and `random_laws` on the CPU, drawn by NumPy.

A first call therefore waits for no compiler, and needs none. Uniform numbers have the bits of Warp's
kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

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


CENTRAL, TAIL = (
    np.array(numbers)
    for numbers in (
        (
            (2509.0809287301226727, 5226.495278852854561),
            (33430.575583588128105, 28729.085735721942674),
            (67265.770927008700853, 39307.895800092710610),
            (45921.953931549871457, 21213.794301586595867),
            (13731.693765509461125, 5394.1960214247511077),
            (1971.5909503065514427, 687.18700749205790830),
            (133.14166789178437745, 42.313330701600911252),
            (3.3871328727963666080, 1.0),
        ),
        (
            (7.74545014278341407640e-4, 1.05075007164441684324e-9),
            (2.27238449892691845833e-2, 5.47593808499534494600e-4),
            (2.41780725177450611770e-1, 1.51986665636164571966e-2),
            (1.27045825245236838258, 1.48103976427480074590e-1),
            (3.64784832476320460504, 6.89767334985100004550e-1),
            (5.76949722146069140550, 1.67638483018380384940),
            (4.63033784615654529590, 2.05319162663775882187),
            (1.42343711074968357734, 1.0),
        ),
    )
)
"""Coefficients of numerators and denominators, the highest power first: Wichura (1988), The percentage
points of the normal distribution, Applied Statistics 37, algorithm AS 241."""


def normal_quantile(p: np.ndarray) -> np.ndarray:
    """Normal numbers, in standard deviations from the mean, below which the probability is 1/2 + p. They
    must be within 6.6 standard deviations."""
    r = 0.180625 - p * p
    x = p * _ratio(CENTRAL, r)
    is_tail = np.abs(p) > 0.425
    tail = p[is_tail]
    r = np.sqrt(-np.log(0.5 - np.abs(tail))) - 1.6
    x[is_tail] = np.copysign(_ratio(TAIL, r), tail)
    return x


def _ratio(coefficients: np.ndarray, r: np.ndarray) -> np.ndarray:
    """A ratio of two polynomials."""
    above, below = coefficients[0]
    for a, b in coefficients[1:]:
        above, below = above * r + a, below * r + b
    return above / below


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

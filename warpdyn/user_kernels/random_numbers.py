"""Counter-based random numbers of a kernel: a draw is a function of a key and its own index, so
that it does not depend on the batch, the order, threads or the device.

The public name is `wd.random`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ..algebra.scalar import Scalar, cos, log, sin, sqrt
from ..algebra.scalar import uniform as _uniform
from .elementary import number
from .refusals import refuse
from .values import Values, objects, of

LARGEST = 1 << 24
"""Counters are whole numbers below this limit, which float32 represents exactly."""


class Key(NamedTuple):
    """All inputs of a stream of random numbers."""

    seed: Any
    environment: Any
    count: Any
    stream: int

    def at(self, stream: int) -> Key:
        """Another stream with the same seed, environment and count, for another purpose."""
        return self._replace(stream=_checked_stream(stream))


def key(seed: Any, environment: Any, count: Any = 0, *, stream: int = 0) -> Key:
    """The key of a stream of random numbers: `wd.random.key(seed, robot.env, episode)`.

    seed: a known whole number, or a value. environment: `robot.env`, or another number. count: the
    number of the episode or step. Values must be whole numbers in [0, 2^24). stream: a known number
    below 64, a different one for each purpose.
    """
    return Key(seed, environment, count, _checked_stream(stream))


def uniform(key: Key, n: int | tuple[int, ...] = (), low: Any = 0.0, high: Any = 1.0) -> Values:
    """`n` numbers (or an array of shape `n`) in [low, high), uniformly distributed.

    They are multiples of 2^-24 of the range, and equal for equal keys. Rounding may reach `high`, or
    exceed it by one unit in the last place, if `low` is not 0. PCG4D of Jarzynski and
    Olano, J. Computer Graphics Techniques 9 (2020).
    """
    low, high = of(objects(low)), of(objects(high))
    return low + of(_draws(key, n)) * (high - low)


def normal(
    key: Key, n: int | tuple[int, ...] = (), mean: Any = 0.0, deviation: Any = 1.0
) -> Values:
    """`n` numbers (or an array of shape `n`) with the normal distribution.

    Box and Muller, Annals of Mathematical Statistics 29 (1958): two uniform draws for two numbers.
    """
    shape = (n,) if isinstance(n, (int, np.integer)) else tuple(n)
    count = int(np.prod(shape, dtype=int))
    pairs = _draws(key, 2 * ((count + 1) // 2)).reshape(-1, 2)
    made: list[Scalar] = []
    for first, second in pairs:
        radius = sqrt(-2.0 * log(1.0 - first))  # 1 - first is in (0, 1], so the logarithm is finite
        made += [radius * cos(2.0 * math.pi * second), radius * sin(2.0 * math.pi * second)]
    array: Any = np.empty(count, dtype=object)
    array[:] = made[:count]
    return of(objects(mean) + array.reshape(shape) * objects(deviation))


def _draws(key: Key, n: int | tuple[int, ...]) -> Any:
    """Numbers in [0, 1) as an array of entries."""
    if not isinstance(key, Key):
        refuse(
            f"random numbers need a key, wd.random.key(seed, robot.env), got {type(key).__name__}"
        )
    shape = (n,) if isinstance(n, (int, np.integer)) else tuple(n)
    count = int(np.prod(shape, dtype=int))
    if count >= 1 << 18:
        refuse(f"a key has 262,143 draws at most, {count} were asked for")
    seed, environment, number_of = (
        _counter(name, x) for name, x in zip(key._fields, key[:3], strict=False)
    )
    array: Any = np.empty(count, dtype=object)
    array[:] = [
        _uniform(seed, environment, number_of, float(key.stream << 18 | k)) for k in range(count)
    ]
    return array.reshape(shape)


def _counter(name: str, x: Any) -> Scalar:
    """A counter as a scalar; a known number of any size is reduced to below 2^24."""
    entries = objects(x)
    if entries.size != 1:
        refuse(f"the {name} of a key is one number, got shape {entries.shape}")
    value = number(entries.reshape(-1)[0])
    if isinstance(value, float):
        if value != math.floor(value) or value < 0:
            refuse(f"the {name} of a key must be a whole number of at least 0, got {x!r}")
        whole = int(x) if isinstance(x, int) else int(value)
        return float(whole if whole < LARGEST else crc32(str(whole).encode()) % LARGEST)
    return value


def _checked_stream(x: Any) -> int:
    if isinstance(x, Values) or not isinstance(x, (int, np.integer)) or not 0 <= x < 64:
        refuse(f"the stream of a key must be a known whole number of [0, 64), got {x!r}")
    return int(x)

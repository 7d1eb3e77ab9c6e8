"""Random numbers drawn on the device of the array: a hashed counter, the same on every device. NumPy
draws them on the CPU, so that no kernel has to be compiled.

Entry i of a draw is the hash of (seed, i): it depends on neither the size of the batch nor the
order of threads. The hash is the finaliser of SplitMix64: Steele, Lea and Flood, Fast splittable
pseudorandom number generators (2014).
"""
# mypy: disable-error-code="operator, valid-type, arg-type, var-annotated, index"

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import warp as wp

from .protocol import View
from .random_on_host import SPLITMIX, draw_on_host

GAMMA, FIRST, SECOND = (wp.constant(wp.uint64(x)) for x in SPLITMIX)
TURN = wp.constant(wp.float64(6.283185307179586))
UNIT = wp.constant(wp.float64(2.0**-53))
PLAIN, QUATERNION, WITHIN = 0, 1, 2
COLUMNS = 32
"""Number of columns of one launch, whose ranges are passed to it as vectors of this length."""
Ranges = wp.types.vector(length=COLUMNS, dtype=wp.float64)
Roles = wp.types.vector(length=COLUMNS, dtype=wp.int32)


@wp.func
def mix_bits(x: wp.uint64) -> wp.uint64:
    """The finaliser: every bit of the result depends on every bit of `x`."""
    y = (x ^ (x >> wp.uint64(30))) * FIRST
    y = (y ^ (y >> wp.uint64(27))) * SECOND
    return y ^ (y >> wp.uint64(31))


@wp.func
def uniform(seed: wp.uint64, index: wp.uint64) -> wp.float64:
    """A number in [0, 1) with 53 random bits."""
    z = mix_bits(mix_bits(seed + GAMMA) + (index + wp.uint64(1)) * GAMMA)
    return wp.float64(z >> wp.uint64(11)) * UNIT


@wp.kernel(enable_backward=False)
def draw_rows(
    out: wp.array2d(dtype=Any),
    first: int,
    lower: Ranges,
    upper: Ranges,
    roles: Roles,
    seed: wp.uint64,
):
    """Draw columns of one environment's row, from `first` on. A column WITHIN a quaternion is
    written with its first."""
    e = wp.tid()
    width = out.shape[1]
    for j in range(wp.min(COLUMNS, width - first)):
        k = first + j
        i = (wp.uint64(e) * wp.uint64(width) + wp.uint64(k)) * wp.uint64(3)
        role = roles[j]
        a = uniform(seed, i)
        if role == PLAIN:
            out[e, k] = out.dtype(lower[j] + a * (upper[j] - lower[j]))
        elif role == QUATERNION:
            # Shoemake: the square of a radius and two angles, each uniform
            b = TURN * uniform(seed, i + wp.uint64(1))
            c = TURN * uniform(seed, i + wp.uint64(2))
            r, s = wp.sqrt(wp.float64(1.0) - a), wp.sqrt(a)
            out[e, k] = out.dtype(r * wp.sin(b))
            out[e, k + 1] = out.dtype(r * wp.cos(b))
            out[e, k + 2] = out.dtype(s * wp.sin(c))
            out[e, k + 3] = out.dtype(s * wp.cos(c))


@lru_cache(maxsize=2)
def _kernel(single: bool) -> wp.Kernel:
    rows = wp.array2d(dtype=wp.float32 if single else wp.float64)
    return wp.overload(draw_rows, [rows, int, Ranges, Ranges, Roles, wp.uint64])


def draw(
    out: View,
    lower: Sequence[float],
    upper: Sequence[float],
    quaternions: Sequence[int],
    seed: int,
    stream: Any,
) -> None:
    """Fill rows with numbers drawn uniformly between `lower` and `upper`.

    Four columns from each of `quaternions` are a uniform rotation (Shoemake, Uniform random
    rotations, Graphics Gems III, 1992).
    """
    count, width = out.shape
    if not count or not width:
        return
    if out.device == "cpu":
        draw_on_host(out, lower, upper, quaternions, seed)
    else:
        _draw_with_kernel(out, lower, upper, quaternions, seed, stream)


def _draw_with_kernel(
    out: View,
    lower: Sequence[float],
    upper: Sequence[float],
    quaternions: Sequence[int],
    seed: int,
    stream: Any = None,
) -> None:
    count, width = out.shape
    roles = [PLAIN] * width
    for first in quaternions:
        roles[first : first + 4] = [QUATERNION, WITHIN, WITHIN, WITHIN]
    dtype, size = (wp.float32, 4) if out.single else (wp.float64, 8)
    strides = (out.strides[0] * size, out.strides[1] * size)
    rows = wp.array(
        ptr=out.address, shape=out.shape, strides=strides, dtype=dtype, device=out.device
    )
    for first in range(0, width, COLUMNS):
        ranges = (
            _vector(kind, tuple(values[first : first + COLUMNS]))
            for kind, values in ((Ranges, lower), (Ranges, upper), (Roles, roles))
        )
        wp.launch(
            _kernel(out.single),
            dim=count,
            inputs=[rows, first, *ranges, wp.uint64(seed % 2**64)],
            device=out.device,
            stream=stream,
        )


@lru_cache(maxsize=64)
def _vector(kind: Any, values: tuple[float, ...]) -> Any:
    """Values as a vector of COLUMNS entries. It lies on the host and is copied at each launch."""
    return kind(*values, *[0] * (COLUMNS - len(values)))

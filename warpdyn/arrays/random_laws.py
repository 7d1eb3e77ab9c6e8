"""Variations of a model's numbers, drawn on the device of the array; on the CPU by NumPy
(`random_laws_on_host`).

A row of `draws` is for one link or joint, an *owner*: the index of the law in `LAWS`, its two
numbers, and 1 to scale or 0 to add. Number c of owner i of environment e is drawn from the hash of
(seed, e, i, c), independently of all other draws.
"""
# mypy: disable-error-code="operator, valid-type, arg-type, var-annotated, misc"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import warp as wp

from .protocol import View
from .random_laws_on_host import (
    LOG_UNIFORM,
    NORMAL,
    WITHIN_REACH,
    inertias,
    numbers,
    placements,
)
from .random_on_host import ENTRIES, array_of
from .random_rows import uniform
from .warp_arrays import copied_from_host

Law = Literal["uniform", "log-uniform", "normal"]
LAWS: tuple[Law, ...] = get_args(Law)
PROBABILITY = wp.constant(wp.float64(WITHIN_REACH))
ROOT_TWO = wp.constant(wp.float64(math.sqrt(2.0)))


@wp.func
def draw_by_law(
    draws: wp.array2d(dtype=wp.float64), k: int, seed: wp.uint64, index: wp.uint64
) -> wp.float64:
    """A number drawn by the law in row k of `draws`."""
    law, a, b = int(draws[k, 0]), draws[k, 1], draws[k, 2]
    u = uniform(seed, index)
    if law == LOG_UNIFORM:
        return a * wp.pow(b / a, u)
    if law == NORMAL:
        return a + b * ROOT_TWO * wp.erfinv((wp.float64(2.0) * u - wp.float64(1.0)) * PROBABILITY)
    return a + u * (b - a)


@wp.func
def place(e: int, owner: int, owners: int, c: int) -> wp.uint64:
    """Counter of number c of an owner in environment e. Each owner has eight counters of its own."""
    return (wp.uint64(e) * wp.uint64(owners) + wp.uint64(owner)) * wp.uint64(8) + wp.uint64(c)


@wp.kernel(enable_backward=False)
def draw_numbers(
    out: wp.array3d(dtype=Any),
    nominal: wp.array2d(dtype=wp.float64),
    draws: wp.array2d(dtype=wp.float64),
    owner: wp.array(dtype=wp.int32),
    owners: int,
    seed: wp.uint64,
):
    """nominal * factor, one factor for all numbers of an owner, or nominal + a number for each."""
    e, k = wp.tid()
    for c in range(out.shape[2]):
        if draws[k, 3] == wp.float64(1.0):
            out[e, k, c] = out.dtype(
                nominal[k, c] * draw_by_law(draws, k, seed, place(e, owner[k], owners, 0))
            )
        else:
            out[e, k, c] = out.dtype(
                nominal[k, c] + draw_by_law(draws, k, seed, place(e, owner[k], owners, c))
            )


@wp.kernel(enable_backward=False)
def draw_inertias(
    out: wp.array3d(dtype=Any),
    nominal: wp.array2d(dtype=wp.float64),
    draws: wp.array2d(dtype=wp.float64),
    owner: wp.array(dtype=wp.int32),
    owners: int,
    seed: wp.uint64,
    masses: wp.array(dtype=wp.float64),
    mass_draws: wp.array2d(dtype=wp.float64),
    mass_seed: wp.uint64,
):
    """Second moments of mass xx xy xz yy yz zz of a body stretched along its axes, with any
    density.

    With Σ = tr(J) / 2 - J, Σ' = r S Σ S: r the ratio of masses and S diagonal, S² drawn.
    """
    e, k = wp.tid()
    half, i = wp.float64(0.5), owner[k]
    ratio = draw_by_law(mass_draws, k, mass_seed, place(e, i, owners, 0))
    if mass_draws[k, 3] == wp.float64(0.0):
        ratio = wp.where(
            masses[k] > wp.float64(0.0), wp.float64(1.0) + ratio / masses[k], wp.float64(1.0)
        )
    x = draw_by_law(draws, k, seed, place(e, i, owners, 0))
    y = draw_by_law(draws, k, seed, place(e, i, owners, 1))
    z = draw_by_law(draws, k, seed, place(e, i, owners, 2))
    trace = half * (nominal[k, 0] + nominal[k, 3] + nominal[k, 5])
    a, b, c = x * (trace - nominal[k, 0]), y * (trace - nominal[k, 3]), z * (trace - nominal[k, 5])
    out[e, k, 0] = out.dtype(ratio * (b + c))
    out[e, k, 3] = out.dtype(ratio * (a + c))
    out[e, k, 5] = out.dtype(ratio * (a + b))
    out[e, k, 1] = out.dtype(ratio * wp.sqrt(x * y) * nominal[k, 1])
    out[e, k, 2] = out.dtype(ratio * wp.sqrt(x * z) * nominal[k, 2])
    out[e, k, 4] = out.dtype(ratio * wp.sqrt(y * z) * nominal[k, 4])


@wp.kernel(enable_backward=False)
def draw_placements(
    out: wp.array3d(dtype=Any),
    nominal: wp.array2d(dtype=wp.float64),
    draws: wp.array2d(dtype=wp.float64),
    owner: wp.array(dtype=wp.int32),
    owners: int,
    seed: wp.uint64,
    tilts: wp.array2d(dtype=wp.float64),
    tilt_seed: wp.uint64,
):
    """x y z moved along the parent's axes, qx qy qz qw rotated by a vector in the joint's axes."""
    e, k = wp.tid()
    i, half = owner[k], wp.float64(0.5)
    for c in range(3):
        out[e, k, c] = out.dtype(
            nominal[k, c] + draw_by_law(draws, k, seed, place(e, i, owners, c))
        )
    x = half * draw_by_law(tilts, k, tilt_seed, place(e, i, owners, 0))
    y = half * draw_by_law(tilts, k, tilt_seed, place(e, i, owners, 1))
    z = half * draw_by_law(tilts, k, tilt_seed, place(e, i, owners, 2))
    angle = wp.sqrt(x * x + y * y + z * z)
    s = wp.where(angle > wp.float64(1.0e-12), wp.sin(angle) / angle, wp.float64(1.0))
    x, y, z, w = s * x, s * y, s * z, wp.cos(angle)
    a, b, c_, d = nominal[k, 3], nominal[k, 4], nominal[k, 5], nominal[k, 6]
    out[e, k, 3] = out.dtype(d * x + a * w + b * z - c_ * y)
    out[e, k, 4] = out.dtype(d * y + b * w + c_ * x - a * z)
    out[e, k, 5] = out.dtype(d * z + c_ * w + a * y - b * x)
    out[e, k, 6] = out.dtype(d * w - a * x - b * y - c_ * z)


def vary(
    kernel: wp.Kernel,
    out: View,
    nominal: Any,
    draws: Any,
    owner: Any,
    owners: int,
    seed: int,
    more: Sequence[Any],
    stream: Any,
) -> None:
    """Fill (B, k, c) with variations of the numbers `nominal` (k, c).

    Arrays are NumPy's; integers in `more` are seeds.
    """
    if not out.shape[0]:
        return
    if out.device == "cpu":
        on_host = {draw_numbers: numbers, draw_inertias: inertias, draw_placements: placements}
        found = array_of(out)
        step = max(1, ENTRIES // (out.shape[1] * out.shape[2]))
        for first in range(0, len(found), step):
            rows = found[first : first + step]
            on_host[kernel](rows, first, nominal, draws, owner, owners, seed, *more)
    else:
        _vary_with_kernel(kernel, out, nominal, draws, owner, owners, seed, more, stream)


def _vary_with_kernel(
    kernel: wp.Kernel,
    out: View,
    nominal: Any,
    draws: Any,
    owner: Any,
    owners: int,
    seed: int,
    more: Sequence[Any],
    stream: Any = None,
) -> None:
    # Warp wraps the memory of any library, so one kernel serves all of them.
    dtype, size = (wp.float32, 4) if out.single else (wp.float64, 8)
    strides = tuple(s * size for s in out.strides)
    rows = wp.array(
        ptr=out.address, shape=out.shape, strides=strides, dtype=dtype, device=out.device
    )

    def there(x: Any) -> Any:
        if isinstance(x, int):
            return wp.uint64(x % 2**64)
        return copied_from_host(x, wp.float64, out.device)

    def launch() -> None:
        inputs = [
            rows,
            there(nominal),
            there(draws),
            copied_from_host(owner, wp.int32, out.device),
            owners,
            there(seed),
        ]
        wp.launch(kernel, dim=out.shape[:2], inputs=[*inputs, *map(there, more)], device=out.device)

    # The copies are made, read and freed on the stream of the launch.
    with wp.ScopedStream(stream, sync_enter=False):
        launch()

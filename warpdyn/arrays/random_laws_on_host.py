"""Variations of a model's numbers on the CPU, drawn by NumPy: the kernels of `random_laws`.

The arguments are those of the kernels. Numbers of all environments, owners and components are computed
together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .protocol import View
from .random_on_host import array_of, inverse_erf, uniform

LOG_UNIFORM, NORMAL = 1, 2
"""Numbers of laws; 0: uniform."""

REACH = 3.0
"""Largest distance of normal numbers from the mean, in standard deviations."""

Rows = Sequence[Sequence[float]]
Numbers = Sequence[float]


def numbers(
    out: View, nominal: Rows, draws: Rows, owner: Sequence[int], owners: int, seed: int
) -> None:
    """nominal * factor, one factor for all numbers of an owner, or nominal + a number for each."""
    found, first = array_of(out), np.asarray(nominal, float)
    drawn = _numbers_by_law(out.shape[0], draws, owner, owners, seed, first.shape[1])
    scales = np.asarray(draws, float)[:, 3, None] == 1.0
    found[...] = np.where(scales, first * drawn[..., :1], first + drawn)


def inertias(
    out: View,
    nominal: Rows,
    draws: Rows,
    owner: Sequence[int],
    owners: int,
    seed: int,
    masses: Numbers,
    mass_draws: Rows,
    mass_seed: int,
) -> None:
    """Second moments of mass xx xy xz yy yz zz of a body stretched along its axes, with any
    density."""
    found, (xx, xy, xz, yy, yz, zz) = array_of(out), np.asarray(nominal, float).T
    envs, mass = out.shape[0], np.asarray(masses, float)
    ratio = _numbers_by_law(envs, mass_draws, owner, owners, mass_seed, 1)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        added = np.where(mass > 0.0, 1.0 + ratio / mass, 1.0)
    ratio = np.where(np.asarray(mass_draws, float)[:, 3] == 0.0, added, ratio)
    x, y, z = np.moveaxis(_numbers_by_law(envs, draws, owner, owners, seed, 3), -1, 0)
    trace = 0.5 * (xx + yy + zz)
    a, b, c = x * (trace - xx), y * (trace - yy), z * (trace - zz)
    found[..., 0], found[..., 3], found[..., 5] = ratio * (b + c), ratio * (a + c), ratio * (a + b)
    found[..., 1] = ratio * np.sqrt(x * y) * xy
    found[..., 2] = ratio * np.sqrt(x * z) * xz
    found[..., 4] = ratio * np.sqrt(y * z) * yz


def placements(
    out: View,
    nominal: Rows,
    draws: Rows,
    owner: Sequence[int],
    owners: int,
    seed: int,
    tilts: Rows,
    tilt_seed: int,
) -> None:
    """x y z moved along the parent's axes, qx qy qz qw rotated by a vector in the joint's axes."""
    found, first = array_of(out), np.asarray(nominal, float)
    envs = out.shape[0]
    found[..., :3] = first[:, :3] + _numbers_by_law(envs, draws, owner, owners, seed, 3)
    half = 0.5 * np.moveaxis(_numbers_by_law(envs, tilts, owner, owners, tilt_seed, 3), -1, 0)
    angle = np.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])
    turns = angle > 1e-12
    x, y, z = half * np.where(turns, np.sin(angle) / np.where(turns, angle, 1.0), 1.0)
    w, (a, b, c, d) = np.cos(angle), first[:, 3:].T
    found[..., 3] = d * x + a * w + b * z - c * y
    found[..., 4] = d * y + b * w + c * x - a * z
    found[..., 5] = d * z + c * w + a * y - b * x
    found[..., 6] = d * w - a * x - b * y - c * z


def _numbers_by_law(
    envs: int, draws: Rows, owner: Sequence[int], owners: int, seed: int, components: int
) -> np.ndarray:
    """Numbers (envs, k, components) by the laws in rows of `draws`."""
    e = np.arange(envs, dtype=np.uint64)[:, None, None]
    each = np.asarray(owner, np.uint64)[:, None]
    index = (e * np.uint64(owners) + each) * np.uint64(8) + np.arange(components, dtype=np.uint64)
    u = uniform(seed, index)
    for k, (law, a, b, _) in enumerate(draws):
        x = u[:, k]
        if int(law) == LOG_UNIFORM:
            u[:, k] = a * (b / a) ** x
        elif int(law) == NORMAL:
            within = math.erf(REACH / math.sqrt(2.0))
            u[:, k] = a + b * math.sqrt(2.0) * inverse_erf((2.0 * x - 1.0) * within)
        else:
            u[:, k] = a + x * (b - a)
    return u

"""Variations of a model's numbers on the CPU, drawn by NumPy: the kernels of `random_laws`.

The functions write the environments from `first` on into `found`. Their other arguments are those of
the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .random_on_host import normal_quantile, uniform

LOG_UNIFORM, NORMAL = 1, 2
"""Numbers of laws; 0: uniform."""

REACH = 3.0
"""Largest distance of normal numbers from the mean, in standard deviations."""

Rows = Sequence[Sequence[float]]
Numbers = Sequence[float]


WITHIN_REACH = math.erf(REACH / math.sqrt(2.0))
"""Probability of a normal number within this distance."""


def numbers(
    found: np.ndarray,
    first: int,
    nominal: Rows,
    draws: Rows,
    owner: Sequence[int],
    owners: int,
    seed: int,
) -> None:
    """nominal * factor, one factor for all numbers of an owner, or nominal + a number for each."""
    means, envs = np.asarray(nominal, float), _environments(found, first)
    drawn = _numbers_by_law(envs, draws, owner, owners, seed, means.shape[1])
    scales = np.asarray(draws, float)[:, 3, None] == 1.0
    found[...] = np.where(scales, means * drawn[..., :1], means + drawn)


def inertias(
    found: np.ndarray,
    first: int,
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
    xx, xy, xz, yy, yz, zz = np.asarray(nominal, float).T
    envs, mass = _environments(found, first), np.asarray(masses, float)
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
    found: np.ndarray,
    first: int,
    nominal: Rows,
    draws: Rows,
    owner: Sequence[int],
    owners: int,
    seed: int,
    tilts: Rows,
    tilt_seed: int,
) -> None:
    """x y z moved along the parent's axes, qx qy qz qw rotated by a vector in the joint's axes."""
    poses, envs = np.asarray(nominal, float), _environments(found, first)
    found[..., :3] = poses[:, :3] + _numbers_by_law(envs, draws, owner, owners, seed, 3)
    half = 0.5 * np.moveaxis(_numbers_by_law(envs, tilts, owner, owners, tilt_seed, 3), -1, 0)
    angle = np.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])
    turns = angle > 1e-12
    x, y, z = half * np.where(turns, np.sin(angle) / np.where(turns, angle, 1.0), 1.0)
    w, (a, b, c, d) = np.cos(angle), poses[:, 3:].T
    found[..., 3] = d * x + a * w + b * z - c * y
    found[..., 4] = d * y + b * w + c * x - a * z
    found[..., 5] = d * z + c * w + a * y - b * x
    found[..., 6] = d * w - a * x - b * y - c * z


def _environments(found: np.ndarray, first: int) -> np.ndarray:
    """Numbers of the environments of `found`."""
    return np.arange(first, first + len(found), dtype=np.uint64)


def _numbers_by_law(
    envs: np.ndarray, draws: Rows, owner: Sequence[int], owners: int, seed: int, components: int
) -> np.ndarray:
    """Numbers (envs, k, components) by the laws in rows of `draws`."""
    each = np.asarray(owner, np.uint64)[:, None]
    place = (envs[:, None, None] * np.uint64(owners) + each) * np.uint64(8)
    u = uniform(seed, place + np.arange(components, dtype=np.uint64))
    law, a, b = np.asarray(draws, float)[:, :3].T[..., None]
    powers, normal = np.flatnonzero(law == LOG_UNIFORM), np.flatnonzero(law == NORMAL)
    drawn = a + u * (b - a)
    if powers.size:
        low, high = a[powers], b[powers]
        drawn[:, powers] = low * (high / low) ** u[:, powers]
    if normal.size:
        deviations = normal_quantile((u[:, normal] - 0.5) * WITHIN_REACH)
        drawn[:, normal] = a[normal] + b[normal] * deviations
    return drawn

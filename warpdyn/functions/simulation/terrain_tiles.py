"""Heights of square tiles of ground: bumps, slopes, stairs, blocks, ditches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from ..whole_numbers import whole_number

TerrainKind = Literal["rough", "slope", "stairs", "steps", "gaps", "sunken_slope", "sunken_stairs"]

KINDS: tuple[TerrainKind, ...] = get_args(TerrainKind)

PLATFORM = 1.0
"""Half the width of the level ground in the middle of a tile [m]."""

RIM = 0.25
"""Half the width of the level ground between two tiles [m]."""

TREAD = 0.3
"""Depth of a stair [m]."""

BLOCK = 0.4
"""Width of a block [m]."""

DITCH = 1.0
"""Depth of a ditch [m]."""


def tile(kind: TerrainKind, difficulty: float, size: float, cell: float, seed: int) -> np.ndarray:
    """(n, n) heights [m] of a tile, zero along its edges."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if not 0.0 <= difficulty <= 1.0:
        raise ValueError(f"difficulty must be a number from 0 to 1, got {difficulty}")
    if not 0.0 < cell < math.inf:
        raise ValueError(f"cell must be a distance above 0 [m], got {cell!r}")
    seed = whole_number("seed", seed, least=0)
    least = 2.0 * (PLATFORM + RIM) + 2.0
    if not least <= size < math.inf:
        raise ValueError(f"size must be at least {least:g} m, got {size}")
    count = round(size / cell) + 1
    along = (np.arange(count) - 0.5 * (count - 1)) * cell
    x, y = np.meshgrid(along, along, indexing="ij")
    from_middle = np.maximum(np.abs(x), np.abs(y))
    heights = _SHAPES[kind](x, y, from_middle, difficulty, 0.5 * size, np.random.default_rng(seed))
    return np.where(from_middle < 0.5 * size - RIM + 1e-9, heights, 0.0)


def tiles(
    kinds: Sequence[TerrainKind],
    levels: int,
    size: float,
    cell: float,
    seed: int,
    hardest: Mapping[TerrainKind, float],
) -> tuple[np.ndarray, np.ndarray]:
    """Heights of adjacent tiles, which share their edges, and the middle of each tile with its
    height, relative to the first node."""
    seed, levels = whole_number("seed", seed, least=0), whole_number("levels", levels, least=0)
    if not kinds or levels < 1:
        raise ValueError(f"a map has at least one kind and one level, got {kinds}, {levels}")
    if unknown := set(hardest) - set(kinds):
        raise ValueError(
            f"hardest has unknown kinds {', '.join(sorted(unknown))}; the kinds are {', '.join(kinds)}"
        )
    step = round(size / cell)
    heights = np.zeros((levels * step + 1, len(kinds) * step + 1))
    origins = np.zeros((levels, len(kinds), 3))
    for level in range(levels):
        for k, kind in enumerate(kinds):
            difficulty = hardest.get(kind, 1.0) * level / max(levels - 1, 1)
            # Each tile has its own random numbers, which do not depend on its neighbours.
            number = int(np.random.SeedSequence([seed, level, k]).generate_state(1)[0])
            made = tile(kind, difficulty, size, cell, number)
            i, j = level * step, k * step
            heights[i : i + step + 1, j : j + step + 1] = made
            middle = made[step // 2, step // 2]
            origins[level, k] = (i + step / 2) * cell, (j + step / 2) * cell, middle
    return heights, origins


def _rough(
    x: np.ndarray, y: np.ndarray, out: np.ndarray, d: float, half: float, rng: Any
) -> np.ndarray:
    """Bumps with a largest height of 1 to 8 cm, at nodes 0.2 m apart, bilinear between them."""
    nodes = int(2 * half / 0.2) + 2
    bumps = rng.uniform(-1.0, 1.0, (nodes, nodes)) * (0.01 + 0.07 * d)
    u, w = (x + half) / 0.2, (y + half) / 0.2
    i, j = np.minimum(u.astype(int), nodes - 2), np.minimum(w.astype(int), nodes - 2)
    s, t = u - i, w - j
    across = bumps[i, j] * (1 - t) + bumps[i, j + 1] * t
    beyond = bumps[i + 1, j] * (1 - t) + bumps[i + 1, j + 1] * t
    return _around_platform(out, across * (1 - s) + beyond * s)


def _slope(
    x: np.ndarray, y: np.ndarray, out: np.ndarray, d: float, half: float, rng: Any
) -> np.ndarray:
    """A pyramid of 3 to 27 degrees."""
    return (0.05 + 0.45 * d) * np.clip(half - RIM - out, 0.0, half - RIM - PLATFORM)


def _stairs(
    x: np.ndarray, y: np.ndarray, out: np.ndarray, d: float, half: float, rng: Any
) -> np.ndarray:
    """Stairs of 3 to 20 cm that lead up to the platform."""
    steps = np.floor((half - RIM - out) / TREAD + 1e-9) + 1.0
    most = math.floor((half - RIM - PLATFORM) / TREAD + 1e-9)
    return (0.03 + 0.17 * d) * np.clip(steps, 0.0, most)


def _steps(
    x: np.ndarray, y: np.ndarray, out: np.ndarray, d: float, half: float, rng: Any
) -> np.ndarray:
    """Blocks of random heights, with a largest height of 3 to 20 cm above or below the ground."""
    blocks = rng.uniform(-1.0, 1.0, (int(2 * half / BLOCK) + 1,) * 2) * (0.03 + 0.17 * d)
    i, j = ((z + half) / BLOCK + 1e-9 for z in (x, y))
    return _around_platform(out, blocks[i.astype(int), j.astype(int)])


def _gaps(
    x: np.ndarray, y: np.ndarray, out: np.ndarray, d: float, half: float, rng: Any
) -> np.ndarray:
    """Ditches of 5 to 60 cm width around the platform, 1 m apart."""
    width = 0.05 + 0.55 * d
    behind = np.mod(out - PLATFORM - 0.25, 1.0 + width)
    ditch = (out > PLATFORM + 0.25) & (behind < width)
    return np.where(ditch, -DITCH, 0.0)


def _around_platform(out: np.ndarray, heights: np.ndarray) -> np.ndarray:
    return np.where(out > PLATFORM, heights, 0.0)


_SHAPES: dict[str, Callable[..., np.ndarray]] = {
    "rough": _rough,
    "slope": _slope,
    "stairs": _stairs,
    "steps": _steps,
    "gaps": _gaps,
    "sunken_slope": lambda *numbers: -_slope(*numbers),  # leads up from the platform
    "sunken_stairs": lambda *numbers: -_stairs(*numbers),
}
"""Heights of a tile, by kind. Arguments: x, y, the larger of both distances from the tile's middle,
the difficulty, half the tile's size, and a random generator."""

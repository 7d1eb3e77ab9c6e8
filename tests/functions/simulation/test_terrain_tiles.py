"""Generated ground: what each kind is, and how tiles stand beside each other."""

from __future__ import annotations

import numpy as np
import pytest
from documented_numbers import check_numbers

from warpdyn.functions.simulation.terrain_tiles import (
    BLOCK,
    DITCH,
    KINDS,
    PLATFORM,
    RIM,
    TREAD,
    tile,
    tiles,
)

SIZE, CELL = 8.0, 0.1


def of(kind, difficulty: float, seed: int = 0) -> np.ndarray:
    return tile(kind, difficulty, SIZE, CELL, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tile_has_level_edges_and_a_level_middle(kind) -> None:
    """So that tiles fit side by side, and a robot stands where it begins."""
    heights = of(kind, 1.0)
    assert heights.shape == (81, 81) and np.isfinite(heights).all()
    assert not np.any([heights[0], heights[-1], heights[:, 0], heights[:, -1]])
    assert np.ptp(heights[31:50, 31:50]) == 0 and np.ptp(heights) > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_difficulty_and_seed(kind) -> None:
    """Harder tiles are rougher, equal seeds equal; other seeds others, where there is chance."""
    steepest = [np.abs(np.diff(of(kind, d), axis=0)).sum() for d in (0.0, 0.5, 1.0)]
    assert steepest[0] < steepest[2] and np.array_equal(of(kind, 0.5, 3), of(kind, 0.5, 3))
    assert np.array_equal(of(kind, 0.5, 3), of(kind, 0.5, 4)) == (kind not in ("rough", "steps"))


def test_shapes() -> None:
    """Rises of stairs are 0.2 m at most and equal; a pyramid's sides have one slope; a ditch its
    depth."""
    stairs = np.diff(of("stairs", 1.0)[:41, 40])
    assert set(np.round(stairs, 9)) == {0.0, 0.2}
    slope = np.diff(of("slope", 1.0)[5:30, 40]) / CELL
    assert np.allclose(slope, 0.5)
    assert set(np.unique(of("gaps", 0.5))) == {0.0, -DITCH}
    for kind in ("slope", "stairs"):
        assert np.array_equal(of(f"sunken_{kind}", 0.4), -of(kind, 0.4))


def test_tiles_share_edges_and_say_where_their_middles_are() -> None:
    heights, origins = tiles(("stairs", "rough"), 3, SIZE, CELL, 0, {})
    assert heights.shape == (241, 161) and origins.shape == (3, 2, 3)
    for x, y, z in origins.reshape(-1, 3):
        assert heights[round(x / CELL), round(y / CELL)] == z
    assert (np.diff(origins[:, 0, 2]) > 0).all()  # stairs lead higher from level to level
    again, _ = tiles(("stairs", "rough"), 3, SIZE, CELL, 0, {})
    assert np.array_equal(heights, again)


def test_the_hardest_tile_of_a_kind() -> None:
    """Levels rise to it; other kinds are as they were."""
    kinds, middle = ("stairs", "rough"), slice(0, 81)
    plain, _ = tiles(kinds, 3, SIZE, CELL, 0, {})
    low, _ = tiles(kinds, 3, SIZE, CELL, 0, {"stairs": 0.5})
    assert np.array_equal(low[160:, middle], of("stairs", 0.5))
    assert np.array_equal(low[80:161, middle], of("stairs", 0.25))
    assert np.array_equal(low[:, 81:], plain[:, 81:])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("hills", 0.5, 8.0, 0.1, 0), "kind must be one of rough"),
        (("rough", 1.5, 8.0, 0.1, 0), "difficulty"),
        (("rough", 0.5, 1.0, 0.1, 0), "size must be at least"),
        (("rough", 0.5, 8.0, 0.0, 0), "cell must be"),
    ],
)
def test_what_is_no_tile_is_refused(arguments, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        tile(*arguments)
    with pytest.raises(ValueError, match="at least one kind"):
        tiles((), 1, 8.0, 0.1, 0, {})
    with pytest.raises(ValueError, match="hardest has unknown kinds slope; the kinds are stairs"):
        tiles(("stairs",), 1, 8.0, 0.1, 0, {"slope": 0.5})


@pytest.mark.parametrize(
    ("kind", "easy", "hard"),
    [
        ("rough", 0.01, 0.08),
        ("steps", 0.03, 0.2),
        ("slope", 0.05, 0.5),
        ("stairs", 0.03, 0.2),
        ("gaps", DITCH, DITCH),
    ],
)
def test_sizes_of_each_kind_are_those_of_its_description(
    kind: str, easy: float, hard: float
) -> None:
    """Largest heights above and below the ground; of slopes the rise by metre, of stairs by step."""
    for difficulty, size in ((0.0, easy), (0.5, 0.5 * (easy + hard)), (1.0, hard)):
        heights = of(kind, difficulty, 5)
        if kind in ("slope", "stairs"):
            rises = np.diff(heights, axis=0) / (CELL if kind == "slope" else 1.0)
            assert rises.max() == pytest.approx(size) and rises.min() == pytest.approx(-size)
        elif kind == "gaps":
            assert heights.min() == -size and heights.max() == 0.0
        else:
            assert 0.9 * size < heights.max() <= size and 0.9 * size < -heights.min() <= size


def grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates of the nodes of a tile about its middle, and the larger distance from it."""
    along = np.linspace(-SIZE / 2, SIZE / 2, 81)
    x, y = np.meshgrid(along, along, indexing="ij")
    return x, y, np.maximum(np.abs(x), np.abs(y))


def within(heights: np.ndarray) -> np.ndarray:
    """The heights where a tile may have some: away from its edge and from its platform."""
    _, _, out = grid()
    return np.where((out > PLATFORM) & (out < SIZE / 2 - RIM + 1e-9), heights, 0.0)


def test_rough_ground_is_bilinear_between_its_nodes() -> None:
    """Heights at nodes 0.2 m apart from the edge on, from the generator of the tile's seed."""
    bumps = np.random.default_rng(7).uniform(-1.0, 1.0, (42, 42)) * (0.01 + 0.07 * 0.6)
    nodes = np.arange(42) * 0.2 - SIZE / 2
    along = np.linspace(-SIZE / 2, SIZE / 2, 81)
    half = np.stack([np.interp(along, nodes, column) for column in bumps.T], axis=1)
    whole = np.stack([np.interp(along, nodes, row) for row in half])
    np.testing.assert_allclose(of("rough", 0.6, 7), within(whole), atol=1e-12)


def test_blocks_have_one_height_each() -> None:
    """From the edge on, from the generator of the tile's seed."""
    count = int(SIZE / BLOCK) + 1
    blocks = np.random.default_rng(7).uniform(-1.0, 1.0, (count, count)) * (0.03 + 0.17 * 0.6)
    x, y, _ = grid()
    i, j = (np.floor((z + SIZE / 2) / BLOCK + 1e-9).astype(int) for z in (x, y))
    np.testing.assert_allclose(of("steps", 0.6, 7), within(blocks[i, j]), atol=1e-15)


@pytest.mark.parametrize("difficulty", [0.0, 0.3, 1.0])
def test_ditches_and_stairs_are_where_they_belong(difficulty: float) -> None:
    """From the platform on: level ground of 0.25 m, then ditches 1 m apart, and treads."""
    _, _, out = grid()
    width = 0.05 + 0.55 * difficulty
    ditch, begin = np.zeros_like(out, bool), PLATFORM + 0.25
    while begin < SIZE:
        ditch |= (out >= begin) & (out < begin + width) & (out > PLATFORM + 0.25)
        begin += 1.0 + width
    behind = np.mod(out - PLATFORM - 0.25 + 1e-6, 1.0 + width)
    clear = (behind > 2e-6) & (np.abs(behind - width) > 2e-6)  # not at an edge
    found, wanted = of("gaps", difficulty), np.where(ditch, -DITCH, 0.0)
    assert np.array_equal(found[clear], np.where(out < SIZE / 2 - RIM, wanted, 0.0)[clear])
    rise, room = 0.03 + 0.17 * difficulty, SIZE / 2 - RIM
    treads = np.minimum(np.floor((room - out) / TREAD + 1e-9) + 1, (room - PLATFORM) // TREAD)
    stairs = np.where(out < room + 1e-9, rise * treads, 0.0)
    np.testing.assert_allclose(of("stairs", difficulty), stairs, atol=1e-12)
    slope = (0.05 + 0.45 * difficulty) * np.clip(room - out, 0.0, room - PLATFORM)
    np.testing.assert_allclose(of("slope", difficulty), slope, atol=1e-12)


def test_documented_numbers() -> None:
    check_numbers(
        "functions.simulation.terrain_tiles",
        PLATFORM=1.0,
        RIM=0.25,
        TREAD=0.3,
        BLOCK=0.4,
        DITCH=1.0,
    )

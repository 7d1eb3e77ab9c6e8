"""Generated ground: each kind of tile, and how tiles join."""

from __future__ import annotations

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
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
    """Tiles join at the edges, and a robot stands at its beginning."""
    heights = of(kind, 1.0)
    assert heights.shape == (81, 81) and np.isfinite(heights).all()
    assert not np.any([heights[0], heights[-1], heights[:, 0], heights[:, -1]])
    assert np.ptp(heights[31:50, 31:50]) == 0 and np.ptp(heights) > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_roughness_grows_with_difficulty_and_depends_on_the_seed(kind) -> None:
    """Equal seeds give equal tiles. Kinds without randomness ignore the seed."""
    steepest = [np.abs(np.diff(of(kind, d), axis=0)).sum() for d in (0.0, 0.5, 1.0)]
    assert steepest[0] < steepest[2] and np.array_equal(of(kind, 0.5, 3), of(kind, 0.5, 3))
    assert np.array_equal(of(kind, 0.5, 3), of(kind, 0.5, 4)) == (kind not in ("rough", "steps"))


def test_tiles_have_the_shapes_of_their_kinds() -> None:
    """Steps of stairs are at most 0.2 m and equal, and a pyramid has one slope.

    Sunken kinds are mirrored.
    """
    stairs = np.diff(of("stairs", 1.0)[:41, 40])
    assert set(np.round(stairs, 9)) == {0.0, 0.2}
    slope = np.diff(of("slope", 1.0)[5:30, 40]) / CELL
    assert np.allclose(slope, 0.5)
    assert set(np.unique(of("gaps", 0.5))) == {0.0, -DITCH}
    for kind in ("slope", "stairs"):
        assert np.array_equal(of(f"sunken_{kind}", 0.4), -of(kind, 0.4))


def test_tiles_share_edges_and_have_origins_at_their_middles() -> None:
    heights, origins = tiles(("stairs", "rough"), 3, SIZE, CELL, 0, {})
    assert heights.shape == (241, 161) and origins.shape == (3, 2, 3)
    for x, y, z in origins.reshape(-1, 3):
        assert heights[round(x / CELL), round(y / CELL)] == z
    assert (np.diff(origins[:, 0, 2]) > 0).all()  # stairs lead higher from level to level
    again, _ = tiles(("stairs", "rough"), 3, SIZE, CELL, 0, {})
    assert np.array_equal(heights, again)


def test_hardest_sets_the_last_level_of_a_kind() -> None:
    """Levels rise to it, and other kinds do not change."""
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
def test_invalid_tiles_are_refused(arguments, error: str) -> None:
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
def test_sizes_of_each_kind_equal_the_documented_ones(kind: str, easy: float, hard: float) -> None:
    """Largest heights above and below the ground, the rise per metre of slopes, and per step of
    stairs.
    """
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
    """The heights where a tile is uneven: away from its edge and its platform."""
    _, _, out = grid()
    return np.where((out > PLATFORM) & (out < SIZE / 2 - RIM + 1e-9), heights, 0.0)


def test_rough_ground_interpolates_random_nodes() -> None:
    """Nodes are 0.2 m apart from the edge on, from the generator of the tile's seed."""
    bumps = np.random.default_rng(7).uniform(-1.0, 1.0, (42, 42)) * (0.01 + 0.07 * 0.6)
    nodes = np.arange(42) * 0.2 - SIZE / 2
    along = np.linspace(-SIZE / 2, SIZE / 2, 81)
    half = np.stack([np.interp(along, nodes, column) for column in bumps.T], axis=1)
    whole = np.stack([np.interp(along, nodes, row) for row in half])
    np.testing.assert_allclose(of("rough", 0.6, 7), within(whole), atol=1e-12)


def test_blocks_have_one_random_height_each() -> None:
    """The blocks begin at the edge of the tile.

    Their heights come from a generator with the tile's seed.
    """
    count = int(SIZE / BLOCK) + 1
    blocks = np.random.default_rng(7).uniform(-1.0, 1.0, (count, count)) * (0.03 + 0.17 * 0.6)
    x, y, _ = grid()
    i, j = (np.floor((z + SIZE / 2) / BLOCK + 1e-9).astype(int) for z in (x, y))
    np.testing.assert_allclose(of("steps", 0.6, 7), within(blocks[i, j]), atol=1e-15)


@pytest.mark.parametrize("difficulty", [0.0, 0.3, 1.0])
def test_ditches_stairs_and_slopes_are_at_their_documented_places(difficulty: float) -> None:
    """The platform has 0.25 m of level ground around it. Ditches 1 m apart, or treads, follow."""
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


def test_a_step_of_stairs_begins_one_tread_behind_the_last() -> None:
    """The first one begins behind the rim, and the last one is the platform."""
    cell = 0.05
    rim, tread, platform = (round(x / cell) for x in (RIM, TREAD, PLATFORM))
    steps = np.clip((np.arange(81) - rim) // tread + 1, 0, (80 - rim - platform) // tread)
    heights = tile("stairs", 1.0, SIZE, cell, 0)[:81, 80]
    np.testing.assert_allclose(heights, 0.2 * steps, atol=1e-12)


def test_rough_ground_continues_beyond_the_last_node() -> None:
    """A grid of whole cells may be wider than its tile."""
    heights = tile("rough", 1.0, 7.6, 1.0, 0)
    assert heights.shape == (9, 9) and np.isfinite(heights).all() and np.ptp(heights) > 0.0


def test_a_generated_map_has_the_heights_and_cells_of_its_tile() -> None:
    found = wd.HeightMap.generate("stairs", 0.7, size=6.0, cell=0.1, seed=3)
    assert np.array_equal(found.heights, tile("stairs", 0.7, 6.0, 0.1, 3))
    assert found.cell == 0.1 and found.extent == pytest.approx((6.0, 6.0))

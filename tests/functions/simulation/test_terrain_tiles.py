"""Generated ground: what each kind is, and how tiles stand beside each other."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.functions.simulation.terrain_tiles import DITCH, KINDS, tile, tiles

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
    with pytest.raises(ValueError, match="hardest is of slope; the kinds are stairs"):
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

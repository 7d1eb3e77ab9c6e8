"""Heights, slopes and axes of the ground."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algorithms.simulation.uneven_ground import MappedGround, SlopingGround, terrain_of

HEIGHTS = np.random.default_rng(0).normal(size=(5, 4)).tolist()
GRID = (-1.0, 2.0, 1.0 / 0.5)  # x and y of the first node, nodes a metre
GROUND = MappedGround(HEIGHTS, GRID)


def test_heights_interpolate_the_map_bilinearly() -> None:
    for i in range(5):
        for j in range(4):
            assert GROUND.below(-1.0 + 0.5 * i, 2.0 + 0.5 * j).height == HEIGHTS[i][j]
    middle = GROUND.below(-0.75, 2.25)
    assert middle.height == pytest.approx(np.mean(np.array(HEIGHTS)[:2, :2]))


@pytest.mark.parametrize("ground", [GROUND, SlopingGround((0.3, -0.2), 0.7)])
def test_slopes_are_derivatives_of_heights_and_axes_are_orthogonal(ground) -> None:
    """Slopes are compared with differences of heights. The normal is orthogonal to both tangents,
    and x stays in the world's xz plane.
    """
    e = 1e-6
    for x, y in np.random.default_rng(1).uniform([-0.9, 2.1], [0.9, 3.4], (20, 2)):
        patch = ground.below(x, y)
        along_x = (ground.below(x + e, y).height - ground.below(x - e, y).height) / (2 * e)
        along_y = (ground.below(x, y + e).height - ground.below(x, y - e).height) / (2 * e)
        assert patch.along_x == pytest.approx(along_x, abs=1e-7)
        assert patch.along_y == pytest.approx(along_y, abs=1e-7)
        R = np.array([list(row) for row in patch.axes().matrix.rows], dtype=float)
        assert np.allclose(R.T @ R, np.eye(3), atol=1e-15) and np.linalg.det(R) > 0
        normal = np.array([-along_x, -along_y, 1.0])
        assert np.allclose(R[:, 2], normal / np.linalg.norm(normal), atol=1e-7)
        assert R[1, 0] == 0 and R[0, 0] > 0


def test_beyond_its_edge_the_map_continues_level() -> None:
    """The height is that of the edge, with a slope only along the edge."""
    beyond = GROUND.below(7.0, 2.25)
    assert beyond.along_x == 0
    assert beyond.height == pytest.approx(0.5 * (HEIGHTS[4][0] + HEIGHTS[4][1]))
    corner = GROUND.below(-9.0, -9.0)
    assert corner == (HEIGHTS[0][0], 0.0, 0.0, 1.0)


def test_an_offset_moves_the_map() -> None:
    moved = MappedGround(HEIGHTS, GRID, offset=(0.25, 0.5, 0.1))
    here, there = moved.below(-0.3, 2.2), GROUND.below(-0.05, 2.7)
    assert here.height == pytest.approx(there.height - 0.1) and here[1:] == pytest.approx(there[1:])


def test_the_arrays_of_a_step_select_the_ground() -> None:
    assert terrain_of({"friction": 1}) is None
    assert terrain_of({"slope": (0.1, 0.0), "level": (0.5,)}).below(1.0, 3.0) == (0.6, 0.1, 0, 1)
    shares = [[0.5] * 4] * 5
    ground = terrain_of({"heights": HEIGHTS, "map_grid": GRID, "map_friction": shares})
    assert ground.below(0.1, 2.3).friction == 0.5

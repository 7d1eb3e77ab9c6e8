"""Tables in a user's kernel."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd

MODEL = wd.load_robot("cartpole")
RNG = np.random.default_rng(0)
HEIGHTS = RNG.normal(size=(4, 5))


@wd.kernel
def look_up(robot, q, heights: wd.kernels.table((4, 5)), place: (2,)):
    ground = wd.HeightMap(heights, 1.0, origin=(0.0, 0.0), offset=place)
    scan = robot.height_scan(q, np.zeros((1, 2)), terrain=ground)
    return heights.look(place[0], np.floor(place[1])), scan[0] * place[0]


def test_a_kernel_looks_up_a_table_and_uses_it_as_a_terrain() -> None:
    """The oracle and NumPy give the same numbers. One table serves all environments."""
    q, place = np.zeros((6, 2)), RNG.uniform(0, 4, (6, 2))
    near, scan = look_up(MODEL, q, HEIGHTS, place)
    i, j = np.minimum(place[:, 0].astype(int), 3), np.floor(place[:, 1]).astype(int)
    assert np.array_equal(near, HEIGHTS[i, j])
    assert np.allclose(
        np.array(wd.oracle(look_up, MODEL, q, HEIGHTS, place)), [near, scan], atol=1e-12
    )
    by = wd.vjp(
        *(look_up, MODEL, q, HEIGHTS, place),
        cotangents=(np.ones(6), 0 * near),
        wrt="heights",
    )
    assert by.shape == (4, 5) and by.sum() == pytest.approx(6)


def test_a_table_is_looked_up_at_arrays_of_places() -> None:
    """Rows and columns of any shape, and with broadcasting. A table has a shape."""

    @wd.kernel
    def around(robot, q, heights: wd.kernels.table((4, 5))):
        assert heights.shape == (4, 5) and heights.ndim == 2
        return heights.look(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[4.0, 3.0], [0.0, 1.0]]))

    wanted = [[HEIGHTS[0, 4], HEIGHTS[1, 3]], [HEIGHTS[2, 0], HEIGHTS[3, 1]]]
    assert np.array_equal(wd.oracle(around, MODEL, np.zeros((1, 2)), HEIGHTS)[0], wanted)


def test_invalid_uses_of_a_table_are_refused() -> None:
    def index_table(robot, q, heights: wd.kernels.table((4, 5))):
        return heights[0, 0] * q[0]

    with pytest.raises(TypeError, match=r"table.look\(row, column\)"):
        wd.kernel(index_table)(MODEL, np.zeros((2, 2)), HEIGHTS)

    def unequal(robot, q, heights: wd.kernels.table((4, 5))):
        return heights.look(q, q[0])

    with pytest.raises(TypeError, match=r"look\(row, column\) needs .* got \(2,\) and \(\)"):
        wd.kernel(unequal)(MODEL, np.zeros((2, 2)), HEIGHTS)

    def convert_table(robot, q, heights: wd.kernels.table((4, 5))):
        return np.asarray(heights)

    with pytest.raises(TypeError, match="a table has no numbers before the kernel runs"):
        wd.kernel(convert_table)(MODEL, np.zeros((2, 2)), HEIGHTS)

    def constant(robot, q):
        return robot.height_scan(q, np.zeros((1, 2)), terrain=wd.HeightMap(HEIGHTS, 1.0))

    with pytest.raises(TypeError, match=r"wd.kernels.table\(\(rows, columns\)\)"):
        wd.kernel(constant)(MODEL, np.zeros((2, 2)))
    with pytest.raises(TypeError, match="rows and columns, and no default"):

        @wd.kernel
        def flat(robot, q, heights: wd.kernels.table((4,))):
            return q

    with pytest.raises(ValueError, match=r"\(4, 5\)"):
        look_up(MODEL, np.zeros((2, 2)), HEIGHTS.T.copy(), np.zeros((2, 2)))

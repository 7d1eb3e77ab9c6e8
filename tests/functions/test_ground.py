"""What contacts are made of: numbers for all, for each environment and each point."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.ground import ground_arrays

MODEL = wd.load_robot("quadruped")


def test_a_number_is_of_all_points_and_the_weight_says_the_stiffness() -> None:
    arrays = ground_arrays(MODEL, wd.Ground(friction=0.5), 4, np.zeros((3, MODEL.nq)))
    assert arrays["friction"] == ((0.5,) * 4, (4,))
    stiffness, shape = arrays["stiffness"]
    assert shape == (1,) and stiffness[0] * 0.005 == pytest.approx(9.81 * MODEL.total_mass)


def test_an_array_of_environments_is_a_column() -> None:
    each = np.array([1e4, 2e4, 3e4])
    arrays = ground_arrays(MODEL, wd.Ground(stiffness=each), 4, np.zeros((3, MODEL.nq)))
    assert np.shape(arrays["stiffness"][0]) == (3, 1)
    each[1] = 5e4
    assert arrays["stiffness"][0][1, 0] == 5e4  # a view: what is written later counts


@pytest.mark.parametrize(
    ("ground", "error"),
    [
        (wd.Ground(friction=-0.1), "friction must be at least 0"),
        (wd.Ground(friction=(0.5, -0.1, 0.5, 0.5)), "friction must be at least 0"),
        (wd.Ground(stiffness=0.0), "stiffness must be above 0"),
        (wd.Ground(dissipation=-1.0), "dissipation must be 0 or more"),
        (wd.Ground(push_out=0), "push_out must be above 0"),
    ],
)
def test_numbers_that_no_ground_has_are_refused(ground: wd.Ground, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        ground_arrays(MODEL, ground, 4, np.zeros((3, MODEL.nq)))

"""Numbers that are one for all environments, one for each coordinate, or arrays."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.functions.simulation.varied_numbers import for_all, for_each, is_number, whole_number


def test_a_number_is_one_for_each() -> None:
    assert for_each("kp", 3, 4, 0.0) == (3.0,) * 4
    rows = np.ones((2, 4))
    assert for_each("kp", rows, 4, 0.0) is rows
    assert is_number(np.float32(1)) and not is_number("1") and not is_number(rows)


def test_a_number_for_all_is_a_column_of_arrays() -> None:
    like = np.zeros((3, 7))
    assert for_all("k", 2, like) == (2.0,)
    assert for_all("k", np.arange(3.0), like).shape == (3, 1)


def test_what_is_out_of_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kp must be at least 0, got -1"):
        for_each("kp", -1, 4, 0.0)
    with pytest.raises(ValueError, match=r"k must be above 0, got 0"):
        for_all("k", 0, np.zeros(3), above=0.0)
    with pytest.raises(TypeError, match="got a mapping"):
        for_each("kp", {"hip": 1.0}, 4, 0.0)


@pytest.mark.parametrize("number", [0, -1, 1.0, True, "4", None])
def test_a_count_is_a_whole_number(number: object) -> None:
    assert whole_number("envs", np.int64(3)) == 3
    with pytest.raises(ValueError, match="envs must be a whole number of at least 1, got"):
        whole_number("envs", number)

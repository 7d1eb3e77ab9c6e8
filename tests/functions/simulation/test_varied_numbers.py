"""Numbers that are one for all environments, one per coordinate, or arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from warpdyn.functions.simulation.varied_numbers import for_all, for_each, is_number


def test_one_number_is_repeated_for_each_coordinate() -> None:
    assert for_each("kp", 3, 4) == (3.0,) * 4
    rows = np.ones((2, 4))
    assert for_each("kp", rows, 4) is rows
    assert is_number(np.float32(1)) and not is_number("1") and not is_number(rows)


def test_one_number_per_environment_becomes_a_column() -> None:
    like = np.zeros((3, 7))
    assert for_all("k", 2, like) == (2.0,)
    assert for_all("k", np.arange(3.0), like).shape == (3, 1)


def test_numbers_out_of_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"kp must be at least 0, got -1"):
        for_each("kp", -1, 4)
    with pytest.raises(ValueError, match=r"k must be above 0, got 0"):
        for_all("k", 0, np.zeros(3), above=0.0)
    with pytest.raises(TypeError, match="got a mapping"):
        for_each("kp", {"hip": 1.0}, 4)


@pytest.mark.parametrize("above", [None, 0.0, 0.5])
def test_arrays_have_the_bounds_of_numbers(above: float | None) -> None:
    """The bound itself and NaN in each form. The error names the first wrong entry."""
    bound, like = above or 0.0, np.zeros((3, 7))
    words = "at least 0" if above is None else f"above {bound:g}"
    for wrong in (bound - 1.0, math.nan, *([] if above is None else [bound])):
        with pytest.raises(ValueError, match=f"^k must be {words}, got {wrong}$"):
            for_all("k", wrong, like, above)
        for array, where in (
            (np.array([bound + 1.0, wrong, wrong]), r" at \[1\]"),
            (np.array([[bound + 1.0], [bound + 2.0], [wrong]]), r" at \[2, 0\]"),
        ):
            with pytest.raises(ValueError, match=f"^k must be {words}, got {wrong:g}{where}$"):
                for_all("k", array, like, above)
    least = bound if above is None else bound + 1e-9
    assert for_all("k", least, like, above) == (least,)
    assert for_all("k", np.full(3, least), like, above).tolist() == [[least]] * 3


def test_infinite_numbers_are_refused_if_they_must_be_finite() -> None:
    """An infinity is refused as a number, in a sequence and in an array.

    It is accepted elsewhere.
    """
    like, inf = np.zeros((3, 7)), math.inf
    for value in (inf, np.array([1.0, inf, 2.0])):
        with pytest.raises(ValueError, match=r"^k must be finite, got inf"):
            for_all("k", value, like, finite=True)
        with pytest.raises(ValueError, match=r"^kp must be finite, got inf"):
            for_each("kp", value, 3, finite=True)
    with pytest.raises(ValueError, match=r"^kp must be finite, got \(1.0, inf\)$"):
        for_each("kp", (1.0, inf), 2, finite=True)
    assert for_each("effort", inf, 2) == (inf, inf)


def test_sequences_have_the_bounds_of_numbers() -> None:
    """Each entry of a tuple or an array is checked, and the bound is accepted."""
    for numbers in ((0.0, 1.0), [0.0, 1.0], np.array([0.0, 1.0])):
        assert for_each("kp", numbers, 2) is numbers
    with pytest.raises(ValueError, match=r"^kp must be at least 0, got \(0.7, -0.1\)$"):
        for_each("kp", (0.7, -0.1), 2)
    with pytest.raises(ValueError, match=r"^kp must be at least 0, got -0.1 at \[1\]$"):
        for_each("kp", np.array([0.7, -0.1]), 2)
    whole = np.array([-1, 1])  # refused where its dtype is checked
    assert for_each("kp", whole, 2) is whole and for_each("kp", np.zeros(0), 0, above=1.0).size == 0


@pytest.mark.parametrize("numbers", [(0.5, 1.5), [0.5, 1.5], np.array([0.5, 1.5]), 1.5])
def test_an_upper_bound_holds_in_each_form(numbers: Any) -> None:
    """An array of restitutions above 1 was accepted, and the number was not."""
    with pytest.raises(ValueError, match=r"^e must be at most 1, got .*1\.5"):
        for_each("e", numbers, 2, most=1.0)
    assert for_each("e", np.ones(2), 2, most=1.0).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("numbers", [(0.5, 0.0), [0.5, 0.0], np.array([0.5, 0.0]), 0.0])
def test_an_open_lower_bound_holds_in_each_form(numbers: Any) -> None:
    """An array of no-load speeds with a zero gave NaN, and the number was refused."""
    with pytest.raises(ValueError, match=r"^speed must be above 0, got .*0"):
        for_each("speed", numbers, 2, above=0.0)

"""Elementary functions on numbers; `test_recorder.py` has them on symbols."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.algebra.scalar import (
    absolute,
    atan2,
    cos,
    floor,
    maximum,
    minimum,
    nearest_row,
    select_less,
    select_less_equal,
    sign,
    sin,
    sqrt,
    uniform,
)
from warpdyn.recording.program import record

NUMBERS = st.floats(-1e6, 1e6)


@given(NUMBERS, NUMBERS)
def test_elementary_functions_on_numbers_are_pythons(x: float, y: float) -> None:
    """sin, cos, sqrt, floor, minimum, maximum and select_less of floats equal those of `math` and
    Python.
    """
    assert sin(x) == math.sin(x) and cos(x) == math.cos(x) and sqrt(abs(x)) == math.sqrt(abs(x))
    assert minimum(x, y) == min(x, y) and maximum(x, y) == max(x, y)
    assert floor(x) == math.floor(x)
    assert select_less(x, y, 1.0, 2.0) == (1.0 if x < y else 2.0)


def test_whole_numbers_are_accepted_as_constants() -> None:
    """Python's int."""
    assert sin(0) == 0.0 and cos(0) == 1.0 and sqrt(4) == 2.0 and select_less(1, 2, 3, 4) == 3


PAIRS = [(x, y) for x in (-2.0, 0.0, 0.5, 3.0) for y in (-2.0, 0.5, 4.0)]


@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize(
    "function",
    [
        minimum,
        maximum,
        atan2,
        lambda x, y: select_less(x, y, 1.0, 2.0),
        lambda x, y: select_less_equal(x, y, x, y),
        lambda x, y: sign(x) + 2.0 * sign(y),
        lambda x, y: uniform(absolute(x), 3.0, absolute(y), 7.0),
    ],
)
def test_numbers_and_symbols_can_be_mixed(function: Any, known: tuple[int, ...]) -> None:
    """Any operand may be a number, and the program gives Python's result."""
    for pair in PAIRS:

        def text(x: list, pair: Any = pair) -> list:
            return [function(*(pair[k] if k in known else x[k] for k in (0, 1)))]

        found = record(text, {"x": (2,)}).on_numbers({"x": list(pair)})["out"]
        assert found == [function(*pair)]


def test_random_numbers_equal_the_published_pcg4d() -> None:
    """The upper 24 bits of its first word."""

    def pcg4d(*v: int) -> int:
        a, b, c, d = ((x * 1664525 + 1013904223) % 2**32 for x in v)
        for last in (False, True):
            a = (a + b * d) % 2**32
            b = (b + c * a) % 2**32
            c = (c + a * b) % 2**32
            d = (d + b * c) % 2**32
            if not last:
                a, b, c, d = (x ^ (x >> 16) for x in (a, b, c, d))
        return a

    for counters in ((0, 0, 0, 0), (1, 2, 3, 4), (2**24 - 1, 5, 99, 0), (7, 0, 2**23, 1)):
        found = uniform(*map(float, counters))
        assert found == (pcg4d(*counters) >> 8) / 2**24 and 0.0 <= found < 1.0


@pytest.mark.parametrize(
    ("index", "row"), [(-1.0, 0), (0.0, 0), (0.9, 0), (1.0, 1), (1.9, 1), (2.0, 2), (9.0, 2)]
)
def test_nearest_row_clips_the_index(index: float, row: int) -> None:
    assert nearest_row(index, 3) == row and nearest_row(math.inf, 3) == 2
    assert nearest_row(math.nan, 3) == nearest_row(-math.inf, 3) == nearest_row(5.0, 1) == 0

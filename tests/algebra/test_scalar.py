"""Elementary functions on numbers; `test_recorder.py` has them on symbols."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from warpdyn.algebra.scalar import cos, floor, maximum, minimum, select_less, sin, sqrt

NUMBERS = st.floats(-1e6, 1e6)


@given(NUMBERS, NUMBERS)
def test_on_numbers_they_are_pythons_own(x: float, y: float) -> None:
    """sin, cos, sqrt, floor, minimum, maximum and select_less of floats are those of `math` and of Python."""
    assert sin(x) == math.sin(x) and cos(x) == math.cos(x) and sqrt(abs(x)) == math.sqrt(abs(x))
    assert minimum(x, y) == min(x, y) and maximum(x, y) == max(x, y)
    assert floor(x) == math.floor(x)
    assert select_less(x, y, 1.0, 2.0) == (1.0 if x < y else 2.0)


def test_whole_numbers_count_as_numbers() -> None:
    """Python integers are constants too."""
    assert sin(0) == 0.0 and cos(0) == 1.0 and sqrt(4) == 2.0 and select_less(1, 2, 3, 4) == 3

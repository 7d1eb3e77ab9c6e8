"""Operations on numbers: where Python raises, they give what a kernel gives."""

from __future__ import annotations

from math import inf, isnan

import pytest

from warpdyn.recording.on_numbers import ON_NUMBERS


@pytest.mark.parametrize(
    ("operation", "x", "wanted"),
    [
        ("rcp", 0.0, inf),
        ("rcp", -0.0, -inf),
        ("rsqrt", 0.0, inf),
        ("exp", 1e4, inf),
        ("log", 0.0, -inf),
        ("floor", -inf, -inf),
    ],
)
def test_what_python_raises(operation: str, x: float, wanted: float) -> None:
    assert ON_NUMBERS[operation](x) == wanted


@pytest.mark.parametrize(
    ("operation", "x"), [("sqrt", -1.0), ("log", -1.0), ("rsqrt", -1.0), ("sin", inf)]
)
def test_what_is_no_number(operation: str, x: float) -> None:
    assert isnan(ON_NUMBERS[operation](x))

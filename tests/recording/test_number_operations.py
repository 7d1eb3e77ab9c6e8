"""Operations on numbers follow the arithmetic of a kernel, which raises no exception."""

from __future__ import annotations

from math import inf, isnan

import pytest

from warpdyn.recording.number_operations import ON_NUMBERS


@pytest.mark.parametrize(
    ("operation", "x", "wanted"),
    [
        ("rcp", 0.0, inf),
        ("rcp", -0.0, -inf),
        ("rsqrt", 0.0, inf),
        ("log", 0.0, -inf),
        ("exp", 1e3, inf),
    ],
)
def test_poles_are_infinite(operation: str, x: float, wanted: float) -> None:
    """Python raises an exception at each of them."""
    assert ON_NUMBERS[operation](x) == wanted


@pytest.mark.parametrize(
    ("operation", "x"), [("sqrt", -1.0), ("log", -1.0), ("rsqrt", -1.0), ("sin", inf)]
)
def test_values_outside_the_domain_are_nan(operation: str, x: float) -> None:
    """Python raises an exception here too."""
    assert isnan(ON_NUMBERS[operation](x))


def test_fused_operations_multiply_and_add() -> None:
    """A product plus, minus, or subtracted from a third number."""
    assert [ON_NUMBERS[name](2.0, 3.0, 1.0) for name in ("fma", "fms", "fnma")] == [7.0, 5.0, -5.0]

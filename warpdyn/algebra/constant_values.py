"""Values that count as constants, or as other values, where an algorithm is differentiated."""

from __future__ import annotations

from collections.abc import Sequence

from .scalar import Scalar


def as_constants(values: Sequence[Scalar]) -> list[Scalar]:
    """The same values without derivatives."""
    return [x if isinstance(x, (int, float)) else x.operation("constant", x) for x in values]


def with_slope_of(other: Scalar, value: Scalar) -> Scalar:
    """A value with the derivatives of another one, which equals it except for rounding. Programs
    without derivatives do not compute the other one."""
    if isinstance(other, (int, float)):
        return as_constants([value])[0]
    if isinstance(value, (int, float)):
        return value + (other - as_constants([other])[0])
    return value.operation("constant", value, other)

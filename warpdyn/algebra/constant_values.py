"""Values that count as constants where an algorithm is differentiated."""

from __future__ import annotations

from collections.abc import Sequence

from .scalar import Scalar


def as_constants(values: Sequence[Scalar]) -> list[Scalar]:
    """The same values without derivatives."""
    return [x if isinstance(x, (int, float)) else x.operation("constant", x) for x in values]

"""Counts and seeds that users pass: whole numbers of Python or NumPy within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole_number(
    name: str,
    number: Any,
    least: int | None = 1,
    most: int | None = None,
    error: type[ValueError] = ValueError,
) -> int:
    """The number as Python's int; otherwise an `error` names the argument and its bounds.

    Truth values and floats are not whole numbers. Without bounds, as for a seed, only the type can
    be wrong, which is a TypeError.
    """
    is_whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    if is_whole and (least is None or number >= least) and (most is None or number <= most):
        return int(number)
    if least is None:
        raise TypeError(f"{name} must be a whole number, got {number!r}")
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise error(f"{name} must be a whole number {bounds}, got {number!r}")

"""Shapes of rewards: functions of an error or of a number and its bounds."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

AT_MARGIN = 0.1
"""Value of `within` at the margin."""


def near(error: Any, width: float) -> Any:
    """exp(-error² / width²): 1 at zero error. ValueError: the width is not positive."""
    if isinstance(width, Real) and not width > 0.0:
        raise ValueError(f"near: width must be positive, got {width!r}")
    error = np.asarray(error)
    return np.exp(-np.sum(error * error) / width**2)


def whole_steps(seconds: float, step_seconds: float) -> int:
    """The number of steps in a time, rounded, and at least 1."""
    return max(round(seconds / step_seconds), 1)


def every(age: Any, steps: float) -> Any:
    """True if `age` is a multiple of `steps`, and not 0.

    steps: a whole number of at least 1; rounding errors of a quotient such as 3.0 / 0.02 are
    accepted. ValueError for others.
    """
    n = round(steps) if np.isfinite(steps) else 0
    if n < 1 or abs(steps - n) > 1e-6 * n:
        raise ValueError(f"every: steps must be a whole number of at least 1, got {steps!r}")
    return (age > 0.5) & (age - n * np.floor(age * (1.0 / n) + 0.5 / n) < 0.5)


def within(x: Any, lower: float, upper: float, margin: float) -> Any:
    """1 between two bounds; outside it falls like a bell curve, to 0.1 at a distance of `margin`.
    With a margin of 0 it is 0 outside.

    The function `tolerance` of the DeepMind Control Suite (Tassa et al., arXiv 1801.00690).
    ValueError: `lower` is above `upper`, or the margin is negative.
    """
    if isinstance(lower, Real) and isinstance(upper, Real) and not lower <= upper:
        raise ValueError(f"within: lower must be at most upper, got {lower!r} and {upper!r}")
    if isinstance(margin, Real) and not margin >= 0.0:
        raise ValueError(f"within: margin must be 0 or more, got {margin!r}")
    outside = beyond(x, lower, upper)
    if isinstance(margin, Real) and margin == 0.0:
        return np.where(outside > 0.0, 0.0, 1.0)
    return np.exp(np.log(AT_MARGIN) * (outside / margin) ** 2)


def beyond(x: Any, lower: Any, upper: Any) -> Any:
    """The distance of each entry outside two bounds; 0 between them."""
    return np.maximum(x - upper, 0.0) + np.maximum(lower - x, 0.0)


def sum_of_squares(x: Any) -> Any:
    """The sum of the squares of all entries."""
    x = np.asarray(x) if not hasattr(x, "shape") else x
    return np.sum(x * x)


def wrap_angle(angle: Any) -> Any:
    """The same angle within -pi and pi [rad]."""
    return angle - 2.0 * np.pi * np.floor((angle + np.pi) / (2.0 * np.pi))

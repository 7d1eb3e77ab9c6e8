"""Simulation numbers that users can vary: one number for all environments, or an array."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ...arrays import Array, views

Varied: TypeAlias = Sequence[float] | Array
"""Numbers of a kernel: constants at the first launch, or an array that each launch reads."""

Shaped = dict[str, tuple[Any, tuple[int, ...]]]
"""Arrays of a call by name, each with the shape of one environment's part."""


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating))


def for_each(
    name: str,
    value: Any,
    count: int,
    *,
    above: float | None = None,
    most: float = math.inf,
    finite: bool = False,
) -> Varied:
    """A number for each of `count` entries, or an array of them: at least 0, or above `above`, and
    at most `most`. `finite`: infinity is refused."""
    if isinstance(value, (Mapping, str, bytes)):
        kind = "mapping" if isinstance(value, Mapping) else "string"
        raise TypeError(f"{name} must be a number or an array, got a {kind}")
    _check_host(name, value, above, finite, most)
    numbers = (float(value),) * count if is_number(value) else value
    if isinstance(numbers, (tuple, list)):
        if any(isinstance(x, (str, Sequence, Mapping)) for x in numbers):
            raise TypeError(
                f"{name} must be a number or an array of {count} numbers, got {value!r}"
            )
        if not all(x >= 0.0 if above is None else x > above for x in numbers):
            raise ValueError(f"{name} must be {_lower_limit(above)}, got {value}")
        if finite and not all(x < math.inf for x in numbers):
            raise ValueError(f"{name} must be finite, got {value}")
        if not all(x <= most for x in numbers):
            raise ValueError(f"{name} must be at most {most:g}, got {value}")
    return numbers


def for_all(
    name: str, value: Any, like: Any, above: float | None = None, *, finite: bool = False
) -> Varied:
    """One number for all environments, or a column with one number for each. `finite`: infinity is
    refused."""
    if is_number(value):
        if not (value >= 0.0 if above is None else value > above):
            raise ValueError(f"{name} must be {_lower_limit(above)}, got {value}")
        if finite and not value < math.inf:
            raise ValueError(f"{name} must be finite, got {value}")
        return (float(value),)
    _check_host(name, value, above, finite)
    return views.column(name, value, like) if views.is_array(like) else [value]


def _lower_limit(above: float | None) -> str:
    return "at least 0" if above is None else f"above {above:g}"


def _check_host(
    name: str, value: Any, above: float | None, finite: bool, most: float = math.inf
) -> None:
    """Raise for a NumPy array with numbers that are too small, too large, NaN or, if `finite`,
    infinite. Other arrays are not checked here, because reading them would take longer than the step
    (`wd.config.debug` checks them)."""
    if not (isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size):
        return
    smallest = value.min()  # NaN if one entry is NaN
    if not (smallest >= 0.0 if above is None else smallest > above):
        wrong = ~(value >= 0.0 if above is None else value > above)
        _refuse_entry(name, value, wrong, _lower_limit(above))
    if finite and not value.max() < math.inf:
        _refuse_entry(name, value, ~(value < math.inf), "finite")
    if most < math.inf and not value.max() <= most:
        _refuse_entry(name, value, ~(value <= most), f"at most {most:g}")


def _refuse_entry(name: str, value: np.ndarray, wrong: np.ndarray, need: str) -> NoReturn:
    index = tuple(np.argwhere(wrong)[0].tolist())
    where = f" at [{', '.join(map(str, index))}]" if index else ""
    raise ValueError(f"{name} must be {need}, got {value[index]:g}{where}")

"""Operations of a program as functions of numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import copysign, inf, isinf, nan
from typing import Any

from ..algebra import scalar


def _as_in_a_kernel(
    function: Callable[[Any], Any], otherwise: Callable[[float], Any]
) -> Callable[[Any], Any]:
    """A function of a scalar that returns inf or NaN where Python raises."""

    def run_without_raising(x: Any) -> Any:
        try:
            return function(x)
        except (ValueError, ArithmeticError):
            return otherwise(x)

    return run_without_raising


ON_NUMBERS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "rcp": _as_in_a_kernel(lambda x: 1.0 / x, lambda x: copysign(inf, x)),
    "fma": lambda x, y, z: x * y + z,
    "fms": lambda x, y, z: x * y - z,
    "fnma": lambda x, y, z: z - x * y,
    "abs": scalar.absolute,
    "select": scalar.select_less,
    "select_equal": scalar.select_less_equal,
    "uniform": scalar.uniform,
    "min": scalar.minimum,
    "max": scalar.maximum,
    "rsqrt": _as_in_a_kernel(scalar.rsqrt, lambda x: inf if x == 0 else nan),
    "floor": lambda x: x if isinstance(x, float) and isinf(x) else scalar.floor(x),
    "atan2": scalar.atan2,
    "constant": lambda *x: x[0] if scalar.is_number(x[0]) else x[0].operation("constant", *x),
    "exp": _as_in_a_kernel(scalar.exp, lambda x: inf),
    "log": _as_in_a_kernel(scalar.log, lambda x: -inf if x == 0 else nan),
    **{
        name: _as_in_a_kernel(getattr(scalar, name), lambda x: nan)
        for name in ("sin", "cos", "sqrt")
    },
}
"""The operations of statements, as functions of numbers."""

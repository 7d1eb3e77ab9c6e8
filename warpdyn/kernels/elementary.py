"""NumPy's functions of single entries as functions of scalars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..algebra import scalar
from ..algebra.scalar import Scalar, as_number, is_number
from . import conditions
from .refusals import refuse


def power(x: Scalar, p: Scalar) -> Scalar:
    """x to the power p: by products where p is a whole number, by a root where it is 0.5, else exp(p log x)."""
    if is_number(x) and is_number(p):
        return float(as_number(x) ** as_number(p))
    if not is_number(p):
        return scalar.exp(p * scalar.log(x))
    exponent = as_number(p)
    if exponent in (0.5, -0.5):
        return scalar.sqrt(x) if exponent > 0 else scalar.rsqrt(x)
    if exponent != math.floor(exponent) or abs(exponent) > 64:
        return scalar.exp(exponent * scalar.log(x))
    result: Scalar = 1.0
    for bit in bin(abs(int(exponent)))[2:]:
        result = result * result * (x if bit == "1" else 1.0)
    return result if exponent >= 0 else 1.0 / result


def tan(x: Scalar) -> Scalar:
    return scalar.sin(x) / scalar.cos(x)


def arcsin(x: Scalar) -> Scalar:
    return scalar.atan2(x, scalar.sqrt((1.0 - x) * (1.0 + x)))


def arccos(x: Scalar) -> Scalar:
    return scalar.atan2(scalar.sqrt((1.0 - x) * (1.0 + x)), x)


def tanh(x: Scalar) -> Scalar:
    """By exp(-2|x|), which does not overflow."""
    if is_number(x):
        return math.tanh(as_number(x))
    e = scalar.exp(-2.0 * scalar.absolute(x))
    return scalar.sign(x) * ((1.0 - e) / (1.0 + e))


def sinh(x: Scalar) -> Scalar:
    e = scalar.exp(x)
    return 0.5 * (e - 1.0 / e)


def cosh(x: Scalar) -> Scalar:
    e = scalar.exp(x)
    return 0.5 * (e + 1.0 / e)


def hypot(x: Scalar, y: Scalar) -> Scalar:
    return scalar.sqrt(x * x + y * y)


def floor_divide(x: Scalar, y: Scalar) -> Scalar:
    return scalar.floor(x / y)


def remainder(x: Scalar, y: Scalar) -> Scalar:
    """x - y floor(x / y), of y's sign."""
    return x - y * scalar.floor(x / y)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """The larger one; not a number where either is not, as NumPy has it."""
    return _either_nan(scalar.maximum, x, y)


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """The smaller one; not a number where either is not, as NumPy has it."""
    return _either_nan(scalar.minimum, x, y)


def _either_nan(choose: Callable[[Scalar, Scalar], Scalar], x: Scalar, y: Scalar) -> Scalar:
    """A choice that hands on its first operand where that is not a number, and its second one too."""
    if is_number(y) and y == y:
        return choose(x, y)
    if is_number(x) and x == x:
        return choose(y, x)
    return conditions.choose(conditions.less_equal(y, y), choose(x, y), y)


NUMBERS: Mapping[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "true_divide": lambda x, y: x / y,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "mod": remainder,
    "power": power,
    "float_power": power,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "sqrt": scalar.sqrt,
    "absolute": scalar.absolute,
    "fabs": scalar.absolute,
    "sign": scalar.sign,
    "floor": scalar.floor,
    "ceil": lambda x: -scalar.floor(-x),
    "rint": lambda x: scalar.floor(x + 0.5),
    "exp": scalar.exp,
    "exp2": lambda x: scalar.exp(math.log(2.0) * x),
    "log": scalar.log,
    "log2": lambda x: scalar.log(x) * (1.0 / math.log(2.0)),
    "log10": lambda x: scalar.log(x) * (1.0 / math.log(10.0)),
    "sin": scalar.sin,
    "cos": scalar.cos,
    "tan": tan,
    "arcsin": arcsin,
    "arccos": arccos,
    "arctan": lambda x: scalar.atan2(x, 1.0),
    "arctan2": scalar.atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "hypot": hypot,
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "radians": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "degrees": lambda x: x * (180.0 / math.pi),
    "maximum": maximum,
    "minimum": minimum,
    "fmax": scalar.maximum,
    "fmin": scalar.minimum,
    "less": conditions.less,
    "less_equal": conditions.less_equal,
    "greater": lambda x, y: conditions.less(y, x),
    "greater_equal": lambda x, y: conditions.less_equal(y, x),
    "equal": conditions.equal,
    "not_equal": lambda x, y: conditions.contrary(conditions.equal(x, y)),
    "isfinite": conditions.finite,
    "isnan": lambda x: conditions.contrary(conditions.less_equal(x, x)),
    "isinf": lambda x: conditions.less_equal(float("inf"), scalar.absolute(x)),
}
"""Functions of numbers, by the names of NumPy's."""

TRUTHS: Mapping[str, Callable[..., Any]] = {
    "logical_and": conditions.both,
    "bitwise_and": conditions.both,
    "logical_or": conditions.either,
    "bitwise_or": conditions.either,
    "logical_xor": conditions.differ,
    "bitwise_xor": conditions.differ,
    "logical_not": conditions.contrary,
    "invert": conditions.contrary,
}
"""Functions of conditions, by the names of NumPy's."""


def of_entries(name: str) -> Callable[..., Any]:
    """NumPy's function of this name for single entries."""
    if name in TRUTHS:
        form = TRUTHS[name]
        return lambda *values: form(*map(conditions.truth, values))
    if name not in NUMBERS:
        refuse(
            f"np.{name} has no form in a kernel; there are {', '.join(sorted({*NUMBERS, *TRUTHS}))}"
        )
    form = NUMBERS[name]
    return lambda *values: form(*map(number, values))


def number(x: Any) -> Scalar:
    """An entry as a number: a condition is 1 where it holds, else 0."""
    if isinstance(x, (bool, conditions.Condition)):
        return conditions.flag(x)
    return float(x) if isinstance(x, int) else x

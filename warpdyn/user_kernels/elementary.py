"""NumPy's functions of single entries as functions of scalars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..algebra import scalar
from ..algebra.constant_values import as_constants
from ..algebra.scalar import Scalar, is_number
from . import arithmetic, conditions
from .conditions import Truth
from .refusals import refuse


def tan(x: Scalar) -> Scalar:
    return scalar.sin(x) / scalar.cos(x)


def arcsin(x: Scalar) -> Scalar:
    return scalar.atan2(x, scalar.sqrt((1.0 - x) * (1.0 + x)))


def arccos(x: Scalar) -> Scalar:
    return scalar.atan2(scalar.sqrt((1.0 - x) * (1.0 + x)), x)


SMALL = 1.0
"""Numbers below this have their hyperbolic sine from its series, because e^x - e^-x loses digits."""

RANGE = (1e-37, 1e37)
"""Numbers whose reciprocal is a normal number of float32."""

SERIES = tuple(1.0 / math.factorial(2 * k + 1) for k in range(9))
"""Coefficients of sinh(x) = x + x³/3! + x⁵/5! ..., up to x¹⁷. The rest is below 1e-17 for |x| < 1."""


def tanh(x: Scalar) -> Scalar:
    """sinh / cosh for small numbers, else from exp(-2|x|), which does not overflow. |x| is a product,
    because its slope at 0 must not be 0."""
    is_small, of_small = _sinh_of_small(x)
    side = conditions.choose(conditions.less(x, 0.0), -1.0, 1.0)
    e = scalar.exp(-2.0 * (side * x))
    ratio = of_small / scalar.sqrt(1.0 + of_small * of_small)
    return conditions.choose(is_small, ratio, side * ((1.0 - e) / (1.0 + e)))


def sinh(x: Scalar) -> Scalar:
    is_small, of_small = _sinh_of_small(x)
    e = scalar.exp(x)
    return conditions.choose(is_small, of_small, 0.5 * (e - 1.0 / e))


def _sinh_of_small(x: Scalar) -> tuple[Truth, Scalar]:
    """True if |x| is below `SMALL`, and its hyperbolic sine then; else 0."""
    is_small = conditions.less(scalar.absolute(x), SMALL)
    small = conditions.choose(is_small, x, 0.0)
    total: Scalar = 0.0
    for coefficient in reversed(SERIES[1:]):
        total = (total + coefficient) * (small * small)
    return is_small, small + small * total


def cosh(x: Scalar) -> Scalar:
    e = scalar.exp(x)
    return 0.5 * (e + 1.0 / e)


def root_of_squares(total: Scalar) -> Scalar:
    """The root of a sum of squares; its slope at 0 is 0."""
    if is_number(total):
        return arithmetic.on_numbers("sqrt", total)
    above = conditions.less(0.0, total)
    root = scalar.sqrt(conditions.choose(above, total, 1.0))
    return conditions.choose(above, root, total)


def hypot(x: Scalar, y: Scalar) -> Scalar:
    """Infinite if either is infinite, even if the other one is NaN.

    The larger one is factored out, so that squares of large and of small numbers stay in the range
    of float32.
    """
    larger = fmax(scalar.absolute(x), scalar.absolute(y))
    infinite = conditions.less_equal(math.inf, larger)
    is_scaled = conditions.less(RANGE[0], larger)
    (scale,) = as_constants([conditions.choose(is_scaled, scalar.minimum(larger, RANGE[1]), 1.0)])
    u, w = x / scale, y / scale
    return conditions.choose(infinite, math.inf, scale * root_of_squares(u * u + w * w))


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """The larger one; NaN if either is NaN, as in NumPy."""
    return _either_nan(scalar.maximum, x, y)


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """The smaller one; NaN if either is NaN, as in NumPy."""
    return _either_nan(scalar.minimum, x, y)


def _either_nan(choose: Callable[[Scalar, Scalar], Scalar], x: Scalar, y: Scalar) -> Scalar:
    """`choose`, which returns its first operand if that is NaN, extended to a NaN second operand."""
    if is_number(y) and y == y:
        return choose(x, y)
    if is_number(x) and x == x:
        return choose(y, x)
    return conditions.choose(conditions.less_equal(y, y), choose(x, y), y)


def fmax(x: Scalar, y: Scalar) -> Scalar:
    """The larger one; the other one if either is NaN."""
    return _other_of_nan(scalar.maximum, x, y)


def fmin(x: Scalar, y: Scalar) -> Scalar:
    """The smaller one; the other one if either is NaN."""
    return _other_of_nan(scalar.minimum, x, y)


def _other_of_nan(choose: Callable[[Scalar, Scalar], Scalar], x: Scalar, y: Scalar) -> Scalar:
    """`choose`, which returns its first operand if the second is NaN, extended to a NaN first one."""
    if is_number(x) and x == x:
        return choose(x, y)
    return conditions.choose(conditions.less_equal(x, x), choose(x, y), y)


NUMBERS: Mapping[str, Callable[..., Any]] = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
    "true_divide": arithmetic.divide,
    "floor_divide": lambda x, y: arithmetic.divide_with_remainder(x, y)[0],
    "remainder": lambda x, y: arithmetic.divide_with_remainder(x, y)[1],
    "mod": lambda x, y: arithmetic.divide_with_remainder(x, y)[1],
    "power": arithmetic.power,
    "float_power": arithmetic.power,
    "negative": arithmetic.negative,
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": arithmetic.reciprocal,
    "sqrt": scalar.sqrt,
    "absolute": scalar.absolute,
    "fabs": scalar.absolute,
    "sign": arithmetic.sign,
    "floor": scalar.floor,
    "ceil": lambda x: -scalar.floor(-x),
    "rint": arithmetic.rint,
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
    "fmax": fmax,
    "fmin": fmin,
    "less": conditions.less,
    "less_equal": conditions.less_equal,
    "greater": lambda x, y: conditions.less(y, x),
    "greater_equal": lambda x, y: conditions.less_equal(y, x),
    "equal": conditions.equal,
    "not_equal": lambda x, y: conditions.negate(conditions.equal(x, y)),
    "isfinite": conditions.finite,
    "isnan": lambda x: conditions.negate(conditions.less_equal(x, x)),
    "isinf": lambda x: conditions.less_equal(float("inf"), scalar.absolute(x)),
}
"""Functions of numbers, by NumPy's names."""

TRUTHS: Mapping[str, Callable[..., Any]] = {
    "logical_and": conditions.both,
    "logical_or": conditions.either,
    "logical_xor": conditions.differ,
    "logical_not": conditions.negate,
}
"""Functions of conditions, by NumPy's names; a number counts as True if it differs from 0."""

BITWISE: Mapping[str, Callable[..., Any]] = {
    "bitwise_and": conditions.both,
    "bitwise_or": conditions.either,
    "bitwise_xor": conditions.differ,
    "invert": conditions.negate,
}
"""Bitwise functions, defined for conditions and not for numbers."""

OF_TRUTHS: Mapping[str, Callable[..., Any]] = {
    "add": conditions.either,
    "multiply": conditions.both,
    "maximum": conditions.either,
    "minimum": conditions.both,
    "fmax": conditions.either,
    "fmin": conditions.both,
    "absolute": lambda x: x,
}
"""NumPy's functions of numbers for bool arguments, whose result is bool again."""

NOT_OF_TRUTHS = {
    **dict.fromkeys(("subtract", "negative", "positive", "sign"), "NumPy has none"),
    **dict.fromkeys(
        ("floor_divide", "remainder", "mod", "reciprocal"), "NumPy divides them as small integers"
    ),
    **dict.fromkeys(("power", "float_power", "square"), "NumPy takes them for small integers"),
    **dict.fromkeys(("floor", "ceil"), "NumPy's versions differ"),
}
"""Functions of numbers that do not accept conditions alone, with the reason."""


def of_entries(name: str) -> Callable[..., Any]:
    """NumPy's function of this name for single entries."""
    if name in TRUTHS:
        form = TRUTHS[name]
        return lambda *values: form(*map(conditions.truth, values))
    if name in BITWISE:
        return lambda *values: _bitwise(name, values)
    if name not in NUMBERS:
        refuse(
            f"np.{name} has no form in a kernel; there are "
            f"{', '.join(sorted({*NUMBERS, *TRUTHS, *BITWISE}))}"
        )
    return lambda *values: _of_values(name, values)


def _bitwise(name: str, values: tuple[Any, ...]) -> Truth:
    if not all(isinstance(x, (bool, conditions.Condition)) for x in values):
        sign = {"invert": "~", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}[name]
        refuse(
            f"{sign} (np.{name}) needs conditions, comparisons such as x > 0, and here is a number; "
            "compare it (x != 0), or use np.logical_and, np.logical_or, np.logical_not; "
            "~n of an integer is -n - 1"
        )
    return BITWISE[name](*values)  # type: ignore[no-any-return]


def _of_values(name: str, values: tuple[Any, ...]) -> Any:
    """A function of numbers, applied to entries that may be conditions."""
    if all(isinstance(x, (bool, conditions.Condition)) for x in values):
        if name in OF_TRUTHS:
            return OF_TRUTHS[name](*values)
        if name in NOT_OF_TRUTHS:
            refuse(
                f"np.{name} of conditions alone has no form in a kernel: {NOT_OF_TRUTHS[name]}; "
                "write x.astype(float), or join them by & | ^ ~"
            )
    numbers = tuple(map(number, values))
    known = all(map(is_number, numbers)) and name not in COMPARISONS
    zeros = any(isinstance(x, arithmetic.StructuralZero) for x in numbers)
    if known and not (zeros and name in KEEPS_ZEROS):
        return arithmetic.on_numbers(name, *numbers)
    return NUMBERS[name](*numbers)


KEEPS_ZEROS = ("add", "subtract", "multiply", "divide", "true_divide", "negative", "positive")
"""Functions that treat a `StructuralZero` specially."""

COMPARISONS = {
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "isfinite",
    "isnan",
    "isinf",
}
"""Functions of numbers that return conditions."""


def number(x: Any) -> Scalar:
    """An entry as a number: a condition is 1 if it holds, else 0."""
    if isinstance(x, (bool, conditions.Condition)):
        return conditions.flag(x)
    return float(x) if isinstance(x, int) else x

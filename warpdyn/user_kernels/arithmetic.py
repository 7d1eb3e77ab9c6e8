"""Sums, products, quotients, remainders and powers of entries, by NumPy's rules.

`Symbol` folds 0 x to 0 and x - x to 0, which is correct for finite x. The algorithms rely on it:
their inputs are finite by contract. A user's expression may contain NaN or inf, so this module
folds nothing that would hide them. The one exception is a `StructuralZero`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import scalar
from ..algebra.scalar import Scalar, as_number, is_number
from ..recording.recorder import Symbol, together
from .conditions import Truth, both, choose, either, equal, less, less_equal, negate


class StructuralZero(float):
    """A 0 in a robot's result that is 0 at every state, such as an entry of a Jacobian.

    Sums and products leave it out, whatever the other operand is.
    """


ZERO = StructuralZero(0.0)

LARGEST_PRODUCT = 1024
"""The largest whole exponent for which a power is computed by products."""


def on_numbers(name: str, *numbers: Scalar) -> float:
    """NumPy's function of this name, for known numbers."""
    with np.errstate(all="ignore"):
        return float(getattr(np, name)(*map(np.float64, map(as_number, numbers))))


def add(x: Scalar, y: Scalar) -> Scalar:
    """x + y; the difference of two multiples of one value is NaN if the value is inf or NaN."""
    if isinstance(x, StructuralZero):
        return y
    if isinstance(y, StructuralZero):
        return x
    if not (isinstance(x, Symbol) and isinstance(y, Symbol)):
        return x + y
    x, y = together(x, y)  # type: ignore[assignment]
    assert isinstance(x, Symbol) and isinstance(y, Symbol)
    graph = x.graph
    if x.negative == y.negative:
        return x + y
    # In this order, because the difference of equal values is 0, not -0.
    first, second = (y, x) if x.negative else (x, y)
    return Symbol(graph, graph.node("sub", first.index, second.index))


def subtract(x: Scalar, y: Scalar) -> Scalar:
    return add(x, negative(y))


def negative(x: Scalar) -> Scalar:
    return x if isinstance(x, StructuralZero) else -x


def multiply(x: Scalar, y: Scalar) -> Scalar:
    """x y; 0 y is NaN if y is inf or NaN."""
    if isinstance(x, StructuralZero) or isinstance(y, StructuralZero):
        return ZERO
    if isinstance(y, Symbol):
        x, y = y, x
    if isinstance(x, Symbol) and is_number(y) and y == 0:
        # The constant is on the right, so that `Graph.split_factor` does not join it with other factors.
        product = x.graph.node("mul", x.index, 0.0)
        return Symbol(x.graph, product, x.negative != (math.copysign(1.0, as_number(y)) < 0))
    return x * y


def divide(x: Scalar, y: Scalar) -> Scalar:
    """x / y; a number over 0 is inf, 0 / 0 is NaN."""
    if is_number(y) and is_number(x):
        return ZERO if isinstance(x, StructuralZero) and y != 0 else on_numbers("divide", x, y)
    return multiply(x, reciprocal(y))


def reciprocal(x: Scalar) -> Scalar:
    return on_numbers("reciprocal", x) if is_number(x) else 1.0 / x


def divide_with_remainder(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """x // y and x % y, the remainder in [0, y) or, for a negative y, in (y, 0].

    The quotient is rounded and may thus be one too large or too small. The remainder shows this.
    """
    # Both operands change their sign for a negative divisor, and the remainder changes it back. So
    # it is -0 there, as NumPy's.
    turned = less(y, 0.0)
    size, dividend = scalar.absolute(y), choose(turned, negative(x), x)
    ratio = divide(x, y)
    whole = scalar.floor(ratio)
    rest = subtract(dividend, multiply(size, whole))
    step = subtract(_one_where(less(rest, 0.0)), _one_where(less_equal(size, rest)))
    step = choose(equal(y, 0.0), 0.0, step)
    quotient, rest = subtract(whole, step), add(rest, multiply(size, step))
    # The difference is NaN where the remainder is, and keeps a quotient of -0.
    quotient = choose(equal(y, 0.0), ratio, subtract(quotient, subtract(rest, rest)))
    if not (is_number(y) and math.isfinite(as_number(y))):
        # Division by infinity: zero, or one step back if the signs differ.
        infinite = both(equal(size, math.inf), less(scalar.absolute(x), math.inf))
        differ = less(dividend, 0.0)
        quotient = choose(infinite, choose(differ, -1.0, ratio), quotient)
        rest = choose(infinite, choose(differ, size, dividend), rest)
    return quotient, choose(turned, negative(rest), rest)


def _one_where(condition: Any) -> Scalar:
    return choose(condition, 1.0, 0.0)


def rint(x: Scalar) -> Scalar:
    """The nearest whole number; halves are rounded to the even one."""
    below = scalar.floor(x)
    rest, above = subtract(x, below), below + 1.0
    even = equal(subtract(below, 2.0 * scalar.floor(0.5 * below)), 0.0)
    return choose(
        less(rest, 0.5), below, choose(less(0.5, rest), above, choose(even, below, above))
    )


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1; NaN for NaN."""
    return choose(less(0.0, x), 1.0, choose(less(x, 0.0), -1.0, subtract(x, x)))


def power(x: Scalar, p: Scalar) -> Scalar:
    """x to the power p: by products if p is a known whole number, by a root if it is 0.5."""
    if is_number(x) and is_number(p):
        return on_numbers("power", x, p)
    if not is_number(p):
        return _general_power(x, p)
    exponent = float(as_number(p))
    if exponent == 0.5:
        return scalar.sqrt(x)
    if exponent == -0.5:
        # C's pow loses the sign of a zero or an infinity here; a root keeps it.
        root = scalar.rsqrt(choose(equal(x, 0.0), 0.0, x))
        return choose(equal(x, -math.inf), 0.0, root)
    if not (exponent.is_integer() and abs(exponent) <= LARGEST_PRODUCT):
        return _general_power(x, p)
    result: Scalar = 1.0
    for bit in bin(abs(int(exponent)))[2:]:
        result = multiply(multiply(result, result), x if bit == "1" else 1.0)
    return result if exponent >= 0 else reciprocal(result)


def _general_power(x: Scalar, p: Scalar) -> Scalar:
    """exp(p log |x|), with the sign of a whole power of a negative number, NaN for other powers of
    a negative number, and the values of C's pow at 0, at 1 and for p = 0."""
    if is_number(x) and x != 1 and 0 < as_number(x) < math.inf:
        return scalar.exp(multiply(p, math.log(as_number(x))))
    size, large = scalar.absolute(x), scalar.absolute(p)
    at_zero = equal(x, 0.0)
    regular_size = both(less(0.0, size), less(size, math.inf))
    one = either(
        both(equal(p, 0.0), negate(regular_size)),
        either(
            both(equal(x, 1.0), negate(less(large, math.inf))),
            both(equal(size, 1.0), equal(large, math.inf)),
        ),
    )
    # The logarithm of 1 where no other logarithm is needed, because its slope is finite.
    regular = choose(either(at_zero, one), 1.0, size)
    log = on_numbers("log", regular) if is_number(regular) else scalar.log(regular)
    general = scalar.exp(multiply(p, log))
    whole = _is_whole(p)
    odd = both(whole, negate(_is_whole(multiply(p, 0.5))))
    odd = both(odd, less(large, math.inf))
    of_negative = choose(odd, negative(general), general)
    defined = either(whole, equal(size, math.inf))
    of_negative = choose(defined, of_negative, math.nan)
    result = choose(less(x, 0.0), of_negative, general)
    small = choose(less(p, 1.0), scalar.sqrt(choose(at_zero, x, 1.0)), 0.0)
    # Odd powers keep the sign of a zero.
    infinite = choose(odd, reciprocal(x), math.inf)
    small = choose(odd, choose(equal(p, 1.0), x, multiply(x, multiply(x, x))), small)
    of_zero = choose(less(p, 0.0), infinite, small)
    of_zero = choose(equal(p, p), of_zero, math.nan)
    return choose(one, 1.0, choose(at_zero, of_zero, result))


def _is_whole(x: Scalar) -> Truth:
    return equal(on_numbers("floor", x) if is_number(x) else scalar.floor(x), x)

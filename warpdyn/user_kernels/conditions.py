"""Conditions on values: results of comparisons, by which `np.where` chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..algebra.scalar import (
    Scalar,
    absolute,
    is_number,
    maximum,
    minimum,
    select_less,
    select_less_equal,
)


@dataclass(frozen=True)
class Condition:
    """x < y, or x <= y if `equal`; the opposite if `negated`."""

    x: Scalar
    y: Scalar
    equal: bool = False
    negated: bool = False

    def choose(self, if_so: Scalar, otherwise: Scalar) -> Scalar:
        """`if_so` where the condition holds, else `otherwise`."""
        select = select_less_equal if self.equal else select_less
        first, second = (otherwise, if_so) if self.negated else (if_so, otherwise)
        return select(self.x, self.y, first, second)


Truth = bool | Condition
"""A known condition, or one on recorded values."""


def less(x: Scalar, y: Scalar) -> Truth:
    """x < y."""
    return bool(x < y) if _are_numbers(x, y) else Condition(x, y)  # type: ignore[operator]


def less_equal(x: Scalar, y: Scalar) -> Truth:
    """x <= y."""
    return bool(x <= y) if _are_numbers(x, y) else Condition(x, y, equal=True)  # type: ignore[operator]


def equal(x: Scalar, y: Scalar) -> Truth:
    """x == y; False for NaN."""
    return both(less_equal(x, y), less_equal(y, x))


def finite(x: Scalar) -> Truth:
    """x is neither NaN nor infinite."""
    return less(absolute(x), float("inf"))


def choose(condition: Truth, if_so: Scalar, otherwise: Scalar) -> Scalar:
    """`if_so` where the condition holds, else `otherwise`."""
    if isinstance(condition, Condition):
        return condition.choose(if_so, otherwise)
    return if_so if condition else otherwise


def both(a: Truth, b: Truth) -> Truth:
    """a and b."""
    if isinstance(a, Condition) and isinstance(b, Condition):
        return Condition(0.5, minimum(flag(a), flag(b)))
    known, other = (b, a) if isinstance(a, Condition) else (a, b)
    return other if known else False


def either(a: Truth, b: Truth) -> Truth:
    """a or b."""
    if isinstance(a, Condition) and isinstance(b, Condition):
        return Condition(0.5, maximum(flag(a), flag(b)))
    known, other = (b, a) if isinstance(a, Condition) else (a, b)
    return True if known else other


def negate(a: Truth) -> Truth:
    """Not a."""
    return replace(a, negated=not a.negated) if isinstance(a, Condition) else not a


def differ(a: Truth, b: Truth) -> Truth:
    """Exactly one of a and b."""
    return either(both(a, negate(b)), both(negate(a), b))


def flag(condition: Truth) -> Scalar:
    """The condition as a number: 1 if it holds, else 0."""
    return choose(condition, 1.0, 0.0)


def truth(x: Scalar | Truth) -> Truth:
    """A value as a condition: True if it differs from zero."""
    if isinstance(x, (bool, Condition)):
        return x
    return negate(equal(x, 0.0))


def _are_numbers(x: Scalar, y: Scalar) -> bool:
    return is_number(x) and is_number(y)

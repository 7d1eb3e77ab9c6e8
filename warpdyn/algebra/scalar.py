"""Elementary functions of a scalar that may be a number or a recorded symbol.

Algorithms call these instead of `math`, so that one text serves for both. A symbol
(`warpdyn.recording.recorder.Symbol`) answers through methods of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias


class Recorded(Protocol):
    """A scalar that is known only when the program runs, with a float's arithmetic."""

    def __add__(self, other: Any, /) -> Scalar: ...
    def __radd__(self, other: Any, /) -> Scalar: ...
    def __sub__(self, other: Any, /) -> Scalar: ...
    def __rsub__(self, other: Any, /) -> Scalar: ...
    def __mul__(self, other: Any, /) -> Scalar: ...
    def __rmul__(self, other: Any, /) -> Scalar: ...
    def __truediv__(self, other: Any, /) -> Scalar: ...
    def __rtruediv__(self, other: Any, /) -> Scalar: ...
    def __neg__(self) -> Scalar: ...
    def sin(self) -> Scalar: ...
    def cos(self) -> Scalar: ...
    def sqrt(self) -> Scalar: ...
    def exp(self) -> Scalar: ...
    def log(self) -> Scalar: ...
    def absolute(self) -> Scalar: ...
    def floor(self) -> Scalar: ...
    def atan2(self, y: Any, x: Any) -> Scalar: ...
    def select_less(self, x: Any, y: Any, if_less: Any, otherwise: Any) -> Scalar: ...
    def each(self, text: Any, shared: Any, columns: Any) -> Any: ...


Scalar: TypeAlias = float | Recorded
"""A Python float, or a recorded symbol with the same arithmetic."""


def is_number(x: Scalar) -> bool:
    """Known while a program is recorded."""
    return isinstance(x, (int, float))


def as_number(x: Scalar) -> float:
    """The number that a scalar is, where it can be no symbol."""
    assert isinstance(x, (int, float)), f"a number is needed here, got {x!r}"
    return x


def sin(x: Scalar) -> Scalar:
    return math.sin(x) if isinstance(x, (int, float)) else x.sin()


def cos(x: Scalar) -> Scalar:
    return math.cos(x) if isinstance(x, (int, float)) else x.cos()


def sqrt(x: Scalar) -> Scalar:
    return math.sqrt(x) if isinstance(x, (int, float)) else x.sqrt()


def exp(x: Scalar) -> Scalar:
    return math.exp(x) if isinstance(x, (int, float)) else x.exp()


def log(x: Scalar) -> Scalar:
    return math.log(x) if isinstance(x, (int, float)) else x.log()


def absolute(x: Scalar) -> Scalar:
    return abs(x) if isinstance(x, (int, float)) else x.absolute()


def floor(x: Scalar) -> Scalar:
    """The largest whole number that is not above x."""
    return x // 1.0 if isinstance(x, (int, float)) else x.floor()


def atan2(y: Scalar, x: Scalar) -> Scalar:
    if isinstance(y, (int, float)) and isinstance(x, (int, float)):
        return math.atan2(y, x)
    symbol: Any = x if isinstance(y, (int, float)) else y
    return symbol.atan2(y, x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return select_less(0.0, x, 1.0, select_less(x, 0.0, -1.0, 0.0))


def minimum(x: Scalar, y: Scalar) -> Scalar:
    return select_less(y, x, y, x)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    return select_less(x, y, y, x)


def select_less(x: Scalar, y: Scalar, if_less: Scalar, otherwise: Scalar) -> Scalar:
    """`if_less` where x < y, else `otherwise`; the branch that a Python `if` must not take on
    symbols."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return if_less if x < y else otherwise
    symbol: Any = y if isinstance(x, (int, float)) else x
    return symbol.select_less(x, y, if_less, otherwise)


Text = Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]


def each(
    text: Text, shared: Sequence[Scalar], columns: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """[text(shared, column) for each column]; on symbols, where that would be long, recorded once
    and called."""
    values = [x for values in (shared, *columns) for x in values]
    symbol = next((x for x in values if not isinstance(x, (int, float))), None)
    if symbol is None:
        return [list(text(shared, column)) for column in columns]
    return symbol.each(text, shared, columns)

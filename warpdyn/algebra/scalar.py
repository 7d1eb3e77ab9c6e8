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
    def rsqrt(self) -> Scalar: ...
    def exp(self) -> Scalar: ...
    def log(self) -> Scalar: ...
    def absolute(self) -> Scalar: ...
    def floor(self) -> Scalar: ...
    def atan2(self, y: Any, x: Any) -> Scalar: ...
    def minimum(self, x: Any, y: Any) -> Scalar: ...
    def maximum(self, x: Any, y: Any) -> Scalar: ...
    def select_less(self, x: Any, y: Any, if_less: Any, otherwise: Any) -> Scalar: ...
    def each(self, function: Any, shared: Any, columns: Any) -> Any: ...
    def repeat(self, step: Any, state: Any, times: int, until: Any) -> Any: ...


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


def rsqrt(x: Scalar) -> Scalar:
    """1 / sqrt(x)."""
    return 1.0 / math.sqrt(x) if isinstance(x, (int, float)) else x.rsqrt()


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """y where it is less than x, else x: where x is not a number, neither is the minimum."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return y if y < x else x
    symbol: Any = y if isinstance(x, (int, float)) else x
    return symbol.minimum(x, y)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """y where x is less than y, else x: where x is not a number, neither is the maximum."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return y if x < y else x
    symbol: Any = y if isinstance(x, (int, float)) else x
    return symbol.maximum(x, y)


def select_less(x: Scalar, y: Scalar, if_less: Scalar, otherwise: Scalar) -> Scalar:
    """`if_less` where x < y, else `otherwise`; the branch that a Python `if` must not take on
    symbols."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return if_less if x < y else otherwise
    symbol: Any = y if isinstance(x, (int, float)) else x
    return symbol.select_less(x, y, if_less, otherwise)


ColumnFunction = Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]
"""A function of values that all columns share, and of one column."""


def each(
    function: ColumnFunction, shared: Sequence[Scalar], columns: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """[function(shared, column) for each column]; on symbols, where that would be long, recorded
    once and called.

    A column may be added, subtracted, multiplied; other functions are for what is shared.
    """
    values = [x for values in (shared, *columns) for x in values]
    symbol = next((x for x in values if not isinstance(x, (int, float))), None)
    if symbol is None:
        return [list(function(shared, column)) for column in columns]
    return symbol.each(function, shared, columns)


def repeat(
    step: Callable[[list[Scalar]], Sequence[Scalar]],
    state: Sequence[Scalar],
    times: int,
    until: Callable[[Sequence[Scalar]], Scalar] | None = None,
) -> list[Scalar]:
    """The state after `times` steps, each of which gives the next numbers of the state for the
    present ones.

    With `until` it ends for an environment after the step whose state makes until(state) positive.
    On symbols the step is recorded once and rolled; it may read values from around it, and what it
    computes from these alone is computed before the loop.
    """
    after = list(state)
    for n in range(times):
        before = after
        symbol = next((x for x in before if not isinstance(x, (int, float))), None)
        if symbol is not None:
            return list(symbol.repeat(step, before, times - n, until))
        # On numbers it is computed here; a step that reads symbols from outside shows it by its
        # result.
        after = list(step(list(before)))
        symbol = next((x for x in after if not isinstance(x, (int, float))), None)
        if symbol is not None:
            return list(symbol.repeat(step, before, times - n, until))
        ended = 0.0 if until is None else until(after)
        if not isinstance(ended, (int, float)):
            return list(ended.repeat(step, before, times - n, until))
        if ended > 0:
            break
    return after

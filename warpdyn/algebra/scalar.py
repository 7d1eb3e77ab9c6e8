"""Elementary functions of a scalar that may be a number or a recorded symbol.

Algorithms call these instead of `math`, so that the same code serves for both. A symbol
(`warpdyn.recording.recorder.Symbol`) has methods of the same names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias


class RecordedScalar(Protocol):
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
    def operation(self, name: str, /, *values: Any) -> Scalar: ...
    def minimum(self, x: Any, y: Any) -> Scalar: ...
    def maximum(self, x: Any, y: Any) -> Scalar: ...
    def each(self, function: Any, shared: Any, columns: Any) -> Any: ...
    def repeat(self, step: Any, state: Any, times: int, until: Any) -> Any: ...
    def sweep(self, step: Any, states: Any, paths: Any, rows: Any) -> Any: ...
    def loop(self, n: int, step: Any, state: Any, arrays: Any, needed: Any, last: Any) -> Any: ...


Scalar: TypeAlias = float | RecordedScalar
"""A Python float, or a recorded symbol with the same arithmetic."""


def is_number(x: Scalar) -> bool:
    """True if the value is known while a program is recorded."""
    return isinstance(x, (int, float))


def is_zero(x: Scalar) -> bool:
    """True if the value is a number, not a symbol, and zero."""
    return is_number(x) and x == 0.0


def as_number(x: Scalar) -> float:
    """The number that a scalar is, for scalars that cannot be symbols."""
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
    """The largest integer that is not above x."""
    return x // 1.0 if isinstance(x, (int, float)) else x.floor()


def atan2(y: Scalar, x: Scalar) -> Scalar:
    if isinstance(y, (int, float)) and isinstance(x, (int, float)):
        return math.atan2(y, x)
    return _symbol(y, x).operation("atan2", y, x)


def sign(x: Scalar) -> Scalar:
    """The sign: -1, 0 or 1."""
    return select_less(0.0, x, 1.0, select_less(x, 0.0, -1.0, 0.0))


def rsqrt(x: Scalar) -> Scalar:
    """1 / sqrt(x)."""
    return 1.0 / math.sqrt(x) if isinstance(x, (int, float)) else x.rsqrt()


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """y if it is less than x, else x. If x is NaN, so is the minimum."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return y if y < x else x
    return _symbol(x, y).minimum(x, y)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """y if x is less than y, else x. If x is NaN, so is the maximum."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return y if x < y else x
    return _symbol(x, y).maximum(x, y)


def select_less(x: Scalar, y: Scalar, if_less: Scalar, otherwise: Scalar) -> Scalar:
    """`if_less` if x < y, else `otherwise`; it replaces a Python `if`, which cannot branch on
    symbols."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return if_less if x < y else otherwise
    return _symbol(x, y).operation("select", x, y, if_less, otherwise)


def select_less_equal(x: Scalar, y: Scalar, if_so: Scalar, otherwise: Scalar) -> Scalar:
    """`if_so` if x <= y, else `otherwise`; as for `select_less`, `otherwise` if either is NaN."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return if_so if x <= y else otherwise
    return _symbol(x, y).operation("select_equal", x, y, if_so, otherwise)


class RecordedTable(Protocol):
    """A table whose numbers are known only when the program runs."""

    def look(self, row: Scalar, column: Scalar, /) -> Scalar: ...


Table: TypeAlias = Sequence[Sequence[float]] | RecordedTable
"""RowArray of numbers that are the same for every environment, or a recorded table."""


def look(table: Table, row: Scalar, column: Scalar) -> Scalar:
    """The number of a table at an integer row and column.

    Beyond the table it is the nearest one; for a NaN index, the one at index 0.
    """
    if not isinstance(table, (list, tuple)):
        return table.look(row, column)  # type: ignore[union-attr]
    line = table[nearest_row(as_number(row), len(table))]
    return line[nearest_row(as_number(column), len(line))]


def nearest_row(index: float, count: int) -> int:
    """The integer in [0, count) for an index."""
    return int(min(index, count - 1.0)) if index > 0 else 0


WORD = 0xFFFFFFFF
"""The largest number of 32 bits."""


def uniform(seed: Scalar, stream: Scalar, count: Scalar, draw: Scalar) -> Scalar:
    """A number in [0, 1), a multiple of 2^-24, that is a hash of four counters: integers in
    [0, 2^24).

    PCG4D of Jarzynski and Olano, Hash functions for GPU rendering, J. Computer Graphics Techniques
    9 (2020), listing 5; the first of its four words. Equal in float32 and float64, on any device.
    """
    counters = (seed, stream, count, draw)
    if not all(isinstance(x, (int, float)) for x in counters):
        return _symbol(*counters).operation("uniform", *counters)
    a, b, c, d = ((int(as_number(x)) * 1664525 + 1013904223) & WORD for x in counters)
    for last in (False, True):
        a = (a + b * d) & WORD
        b = (b + c * a) & WORD
        c = (c + a * b) & WORD
        d = (d + b * c) & WORD
        if not last:
            a, b, c, d = (x ^ (x >> 16) for x in (a, b, c, d))
    return (a >> 8) * 2.0**-24


def _symbol(*values: Scalar) -> RecordedScalar:
    """The first of the values that is not a number."""
    return next(x for x in values if not isinstance(x, (int, float)))


ColumnFunction = Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]
"""A function of values that all columns share, and of one column."""


def each(
    function: ColumnFunction, shared: Sequence[Scalar], columns: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """[function(shared, column) for each column]. On symbols, a function with many operations is
    recorded once for all columns that are zero in the same places, and called.
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
    """The state after `times` steps, each of which computes the next numbers of the state from the
    present ones.

    With `until` it ends for an environment after the step whose state makes until(state) positive.
    On symbols the step is recorded once and rolled. It may read outside values; anything that it
    computes from these alone is computed before the loop.
    """
    after = list(state)
    for n in range(times):
        before = after
        symbol = next((x for x in before if not isinstance(x, (int, float))), None)
        if symbol is not None:
            return list(symbol.repeat(step, before, times - n, until))
        # Numbers are computed here; a step that reads symbols from outside is recognised by its
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


RowStep = Callable[[list[Scalar], list[Scalar]], tuple[Sequence[Scalar], Sequence[Scalar]]]
"""A function of a state and a row that returns the next state and the values of this step."""


def sweep(
    step: RowStep,
    states: Sequence[Sequence[Scalar]],
    paths: Sequence[Sequence[int]],
    rows: Sequence[Sequence[Scalar]],
) -> tuple[list[list[list[Scalar]]], list[list[Scalar]]]:
    """Steps along rows of numbers: path n begins with states[n] and visits rows[k] for each k of
    paths[n].

    Returns for each path the values of its steps, and for each path its last state. On symbols the
    step is recorded once for all rows and paths. It reads its state and its row only.
    """
    entries = (x for entries in (*states, *rows) for x in entries)
    symbol = next((x for x in entries if not isinstance(x, (int, float))), None)
    if symbol is not None:
        found: tuple[list[list[list[Scalar]]], list[list[Scalar]]]
        found = symbol.sweep(step, states, paths, rows)
        return found
    return sweep_in_line(step, states, paths, rows)


def sweep_in_line(
    step: RowStep,
    states: Sequence[Sequence[Scalar]],
    paths: Sequence[Sequence[int]],
    rows: Sequence[Sequence[Scalar]],
) -> tuple[list[list[list[Scalar]]], list[list[Scalar]]]:
    """The results of `sweep`, one step after the other."""
    found: list[list[list[Scalar]]] = []
    last: list[list[Scalar]] = []
    for state, path in zip(states, paths, strict=True):
        present, values = list(state), []
        for k in path:
            after, value = step(present, list(rows[k]))
            present = list(after)
            values.append(list(value))
        found.append(values)
        last.append(present)
    return found, last

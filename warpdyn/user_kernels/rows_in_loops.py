"""Rolled loops of a kernel with arrays that their steps read and write row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..algebra import row_arrays
from ..algebra.row_arrays import RowArray
from ..algebra.scalar import select_less
from .conditions import less, truth
from .elementary import number
from .loops import State, StateForm, end_of_loop
from .refusals import refuse
from .values import Values, objects, of, truths

Arrays = Any
"""An array, or a tuple or dictionary of arrays."""


class ArrayRows:
    """An array of a loop: `a[k]` is row k, and in a step `a[k] = x` replaces it.

    The index may be a value. It is cut to a whole number, and beyond the array it is that of the
    nearest row. `a[k, j]` is part of a row, `a[:]` the whole array.
    """

    def __init__(self, entries: Any):
        if not entries.ndim or not entries.size:
            refuse(f"an array of a loop needs rows, got shape {entries.shape}")
        rows = entries.reshape(len(entries), -1)
        self.rows = RowArray([[number(x) for x in row] for row in rows])
        self.of_conditions = truths(entries)
        """True if the array is one of conditions; its rows hold 0 and 1."""
        self.shape: tuple[int, ...] = entries.shape
        self.ends: list[tuple[Any, Any]] = []
        """The number of the step, and that of the steps that the environment takes, of each loop with
        `until` that runs on the array."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, key: Any) -> Values:
        index, rest = _parts(key)
        if isinstance(index, slice):
            if index != slice(None):
                refuse("an array of a loop has single rows, a[k], or all of them, a[:]")
            whole = np.concatenate(
                [self._row(self.rows[k], (1, *self.shape[1:])) for k in range(len(self))]
            )
            return of(whole)[(index, *rest)] if rest else of(whole)
        row = of(self._row(_with_line(lambda: self.rows[self._index(index)]), self.shape[1:]))
        return row[rest] if rest else row

    def __setitem__(self, key: Any, value: Any) -> None:
        index, rest = _parts(key)
        if isinstance(index, slice):
            refuse("an array of a loop is written row by row, a[k] = x")
        place = self._index(index)
        if rest:
            row = of(self._row(_with_line(lambda: self.rows[place]), self.shape[1:]))
            row[rest] = value
            value = row
        try:
            entries = np.broadcast_to(objects(value), self.shape[1:])
        except ValueError:
            refuse(f"a row of this array has shape {self.shape[1:]}, got {objects(value).shape}")
        flat = [number(truth(x) if self.of_conditions else x) for x in entries.flat]
        for step, last in self.ends:  # where a loop has ended, the row stays
            before = _with_line(lambda: self.rows[place])
            flat = [select_less(step, last, x, y) for x, y in zip(flat, before, strict=True)]
        _with_line(lambda: self.rows.__setitem__(place, flat))

    def __iter__(self) -> NoReturn:
        refuse("an array of a loop is not taken apart; read a[k], or a[:] for the whole array")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        refuse(
            "an array of a loop is not an argument of a function; read a[k], or a[:] for the whole array"
        )

    def _row(self, scalars: Sequence[Any], shape: tuple[int, ...]) -> Any:
        """Scalars as an array of entries; of shape () the entry itself."""
        array: Any = np.empty(len(scalars), dtype=object)
        array[:] = [less(0.5, x) for x in scalars] if self.of_conditions else scalars
        return array.reshape(shape) if shape else array[0]

    def _index(self, index: Any) -> Any:
        """An index as a scalar; a whole number of Python may count from the end."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            return int(index) + (len(self) if index < 0 else 0)
        if isinstance(index, (Values, float, np.floating)) and objects(index).ndim == 0:
            return number(objects(index)[()])
        return refuse(f"the index of a row must be a single number, got {index!r}")


def _parts(key: Any) -> tuple[Any, tuple[Any, ...]]:
    """The index of a row, and the rest of an index."""
    return (key[0], key[1:]) if isinstance(key, tuple) else (key, ())


def _with_line(function: Callable[[], Any]) -> Any:
    """The result of a function; its errors begin with the user's line."""
    try:
        return function()
    except (TypeError, IndexError) as error:
        return refuse(str(error))


def loop(
    n: int,
    step: Callable[[Any, Any, Any], Any],
    state: State,
    arrays: Arrays,
    *,
    until: Callable[[Any], Any] | None = None,
) -> tuple[State, Arrays]:
    """The state and the arrays after `n` steps, `state = step(k, state, arrays)`, recorded once as
    a loop.

    arrays: an array of values whose first axis is that of the rows, or a tuple or dictionary of
    such arrays. In the step, `a[k]` is a row, and `a[k] = x` replaces it; `k` is the number of the
    step, from 0 on, and any single value may be an index. The step returns the state alone. The
    arrays that the loop returns are read by `a[k]` or `a[:]`, and may go to another loop, which
    goes on with them in place.
    until: a condition on the state. When it holds, the environment's loop ends, after the step that
    made it true: its state and its rows stay. Environments that are computed together take as many
    steps as the last one of them needs.
    """
    if isinstance(n, Values) or not isinstance(n, (int, np.integer)) or n < 0:
        refuse(f"the number of steps must be a known whole number of at least 0, got {n!r}")
    form = StateForm(state)
    named = _in_loop(arrays)
    rows = [x.rows for x in _each(named)]
    if len({id(x) for x in rows}) < len(rows):
        refuse("an array is passed to a loop twice")

    def flat_step(k: Any, scalars: list[Any], _: Sequence[RowArray]) -> list[Any]:
        return form.flat(step(of(k), form.fold(scalars), named))

    if until is None:
        return form.fold(_run_loop(int(n), flat_step, form.start, rows)), named
    ends = end_of_loop(form, until)

    def step_until(k: Any, scalars: list[Any], _: Sequence[RowArray]) -> list[Any]:
        *before, last = scalars
        for x in _each(named):
            x.ends.append((k, last))
        try:
            after = flat_step(k, before, rows)
        finally:
            for x in _each(named):
                x.ends.pop()
        # The number of steps that the environment takes falls to this one's when it is done.
        lowered = select_less(0.5, ends(after), k, last)
        pairs = zip([*after, lowered], scalars, strict=True)
        return [select_less(k, last, x, y) for x, y in pairs]

    *after, _ = _run_loop(int(n), step_until, [*form.start, float(n)], rows, len(form.start))
    return form.fold(after), named


def _run_loop(
    n: int, step: Any, start: list[Any], rows: list[RowArray], last: int | None = None
) -> list[Any]:
    for x in rows:
        if x.memory is not None and x.memory.graph.open[-1] is not x.memory.graph:
            refuse(
                "an array of a loop is passed to a loop inside another loop that does not have it; "
                "pass it to both, in `arrays` of wd.kernels.loop (wd.kernels.repeat cannot pass arrays on)"
            )
    return row_arrays.loop(n, step, start, rows, last=last)


def _in_loop(arrays: Arrays) -> Arrays:
    """The arrays in the same form, as arrays of a loop."""
    if isinstance(arrays, Mapping):
        return {name: _in_loop(each) for name, each in arrays.items()}
    if isinstance(arrays, (tuple, list)):
        made = [_in_loop(each) for each in arrays]
        return type(arrays)(*made) if hasattr(arrays, "_fields") else type(arrays)(made)
    return arrays if isinstance(arrays, ArrayRows) else ArrayRows(objects(arrays))


def _each(arrays: Arrays) -> list[ArrayRows]:
    """The arrays, in order."""
    if isinstance(arrays, Mapping):
        return [x for each in arrays.values() for x in _each(each)]
    if isinstance(arrays, (tuple, list)):
        return [x for each in arrays for x in _each(each)]
    return [arrays]

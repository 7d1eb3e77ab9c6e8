"""Arrays of scalars that the step of a loop reads and writes by index."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .scalar import Scalar, floor, maximum, minimum, nearest_row, select_less, select_less_equal


class RowArray:
    """An array for loops: rows of equally many scalars, which a step of `loop` reads and writes by
    their index.

    `a[i]` is row i as a list, and `a[i] = row` replaces it. The index may be a symbol: the counter
    of a loop, or a number of each environment. An index is cut to a whole number. Beyond the array
    it is that of the nearest row, and for NaN it is 0. A whole number of Python must be that of a
    row. Outside of loops, an array can only be read. `constant`: the rows are numbers that no loop
    writes; a row at an index that all environments share is then known to be equal in all of them.
    """

    def __init__(self, rows: Sequence[Sequence[Scalar]], constant: bool = False):
        self.constant = constant
        self.content: list[list[Scalar]] = [list(row) for row in rows]
        self.width = len(self.content[0]) if self.content else 0
        if not self.width or any(len(row) != self.width for row in self.content):
            lengths = sorted({len(row) for row in self.content})
            raise ValueError(f"an array needs rows of equal length above 0, got lengths {lengths}")
        self.unset: list[list[Scalar]] | None = None
        """The content if no entry has a value yet."""
        self.memory: Any = None
        """The array in a recording; None while the rows are lists."""
        self.loops = 0
        """Number of loops that run on the array now."""

    @classmethod
    def without_values(cls, rows: int, width: int) -> RowArray:
        """An array whose entries have no values: each is written before it is read. Plain numbers
        begin as NaN."""
        array = cls([[math.nan] * width] * rows)
        array.unset = array.content
        return array

    @property
    def is_unset(self) -> bool:
        """True if no entry has a value yet."""
        return self.content is self.unset

    def __len__(self) -> int:
        return len(self.content)

    def __getitem__(self, index: Scalar) -> list[Scalar]:
        self._check(index)
        if self.memory is not None:
            read: list[Scalar] = self.memory.read(index)
            return read
        if isinstance(index, (int, float)):
            return list(self.content[nearest_row(index, len(self))])
        found = list(self.content[0])
        for k in range(1, len(self)):
            pairs = zip(self.content[k], found, strict=True)
            found = [select_less_equal(float(k), index, x, other) for x, other in pairs]
        return found

    def __setitem__(self, index: Scalar, row: Sequence[Scalar]) -> None:
        self._check(index)
        if len(row) != self.width:
            raise ValueError(f"a row of this array has {self.width} numbers, got {len(row)}")
        if self.constant:
            raise TypeError("a constant array is not written")
        if not self.loops:
            raise TypeError("an array is written in the step of a loop that has it in `arrays`")
        if self.memory is not None:
            self.memory.write(index, row)
        elif isinstance(index, (int, float)):
            self.content[nearest_row(index, len(self))] = list(row)
        else:
            place = minimum(maximum(floor(index), 0.0), len(self) - 1.0)
            place = select_less_equal(index, index, place, 0.0)
            for k, before in enumerate(self.content):
                below, above = k - 0.5, k + 0.5
                self.content[k] = [
                    select_less(below, place, select_less(place, above, x, old), old)
                    for x, old in zip(row, before, strict=True)
                ]

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def _check(self, index: Scalar) -> None:
        if isinstance(index, int) and not 0 <= index < len(self):
            raise IndexError(f"row {index} of an array of {len(self)} rows")


LoopStep = Callable[[Scalar, list[Scalar], Sequence[RowArray]], Sequence[Scalar]]
"""A function of the number of the step, the state and the arrays that returns the next state."""


def loop(
    n: int,
    step: LoopStep,
    state: Sequence[Scalar],
    arrays: Sequence[RowArray],
    needed: Scalar | None = None,
    last: int | None = None,
) -> list[Scalar]:
    """The state after n steps, each of which computes the next numbers of the state from the number
    of the step k = 0.0, 1.0, .., the present state and the arrays.

    The step may read and write the arrays, which keep their contents after the loop. A step may
    contain further loops on them. On symbols the step is recorded once and rolled. It may read
    outside values; of the arrays outside, it may write only those in `arrays`.

    `needed`: the number of steps that change something, if it may be less than n. The loop ends
    after them, or later: environments that are computed together end together. `last`: the entry of
    the state with that number, which a step may lower.
    """
    if len({id(x) for x in arrays}) < len(arrays):
        raise ValueError("an array is passed to a loop twice")
    before, present = [x.content for x in arrays], list(state)
    found = _first_symbol(present, arrays)
    for x in arrays:
        x.loops += 1
    try:
        if found is None:
            for x in arrays:
                x.content = [*x.content]
            for k in range(n):
                if isinstance(needed, (int, float)) and not k < needed:
                    break
                if (
                    last is not None
                    and isinstance(end := present[last], (int, float))
                    and not k < end
                ):
                    break
                present = list(step(float(k), present, arrays))
                found = _first_symbol(present, arrays)
                if found is not None:  # a step that reads symbols from outside
                    break
            if found is None:
                return present
            for x, content in zip(arrays, before, strict=True):
                x.content, x.memory = content, None
        if n == 0:
            return present
        return list(found.loop(n, step, list(state), arrays, needed, last))
    finally:
        for x in arrays:
            x.loops -= 1


def step_if_needed(
    needed: Scalar,
    step: Callable[[list[Scalar], Sequence[RowArray]], Sequence[Scalar]],
    state: Sequence[Scalar],
    arrays: Sequence[RowArray],
) -> list[Scalar]:
    """The state after one step, which is left out where no environment needs it.

    `needed`: above 0 in an environment that needs the step. Environments that are computed together
    leave it out together, so where it is not needed it must change nothing that is read later.
    Derivatives compute it always, so that it must give numbers there too. The step may read and
    write the arrays, as that of a `loop`.
    """

    def only_step(_: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        return step(state, arrays)

    return loop(1, only_step, state, arrays, needed)


def write_row_if_needed(
    needed: Scalar, array: RowArray, index: Scalar, row: Sequence[Scalar]
) -> None:
    """Write a row of an array by `step_if_needed`."""

    def write(_: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        arrays[0][index] = row
        return []

    step_if_needed(needed, write, [], [array])


def _first_symbol(state: Sequence[Scalar], arrays: Sequence[RowArray]) -> Any:
    """A symbol of a state or of arrays; None if there is none."""
    recorded = next((x.memory.symbol for x in arrays if x.memory is not None), None)
    if recorded is not None:
        return recorded
    values = [*state, *(x for rows in arrays for row in rows.content for x in row)]
    return next((x for x in values if not isinstance(x, (int, float))), None)

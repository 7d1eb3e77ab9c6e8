"""Rows of scalars that the step of a loop reads by number."""

from __future__ import annotations

from collections.abc import Sequence

from .row_arrays import RowArray
from .scalar import Scalar, is_number, is_zero


class RowsByNumber:
    """Rows of scalars, read by a number that the program computes. A column that is equal in all
    rows takes no memory. A number beyond the rows reads the nearest one.

    `read_inside`: this many first columns are read from memory even if they are equal in all rows,
    unless they are plain numbers. The step then computes what depends on them inside the loop, and
    skips it where the loop skips the step. Otherwise it would be computed before the loop in any
    case.
    """

    def __init__(self, rows: Sequence[Sequence[Scalar]], read_inside: int = 0):
        self.width, self.rows = len(rows[0]), rows
        self.equal = {
            j: rows[0][j]
            for j in range(self.width)
            if all(is_zero(row[j] - rows[0][j]) for row in rows)
            and (is_number(rows[0][j]) or j >= read_inside)
        }
        others = [[x for j, x in enumerate(row) if j not in self.equal] for row in rows]
        constant = all(is_number(x) for row in others for x in row)
        self.array = RowArray(others, constant=constant) if others[0] else None

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop over the rows must receive."""
        return [] if self.array is None else [self.array]

    def __getitem__(self, number: Scalar) -> list[Scalar]:
        stored = iter([] if self.array is None else self.array[number])
        return [self.equal[j] if j in self.equal else next(stored) for j in range(self.width)]

"""Tables in a user's kernel: lookup in arrays with any number of rows and columns."""

from __future__ import annotations

from typing import Any

from ..algebra import scalar
from .refusals import refuse
from .values import Values, objects, of


class LookupTable:
    """An argument of a kernel that was declared as `wd.table((rows, columns))`. Its numbers are not
    values of the kernel; `look` reads them, and `wd.HeightMap(table, cell)` makes a terrain of
    it."""

    ndim = 2

    def __init__(self, table: Any, shape: tuple[int, ...]):
        self.table, self.shape = table, shape

    def look(self, row: Any, column: Any) -> Values:
        """The numbers at whole rows and columns; beyond the table, the nearest ones."""
        rows, columns = objects(row), objects(column)
        if rows.shape != columns.shape:
            refuse(f"look(row, column) needs as many of both, got {rows.shape} and {columns.shape}")
        found = rows.copy()
        for k, i in enumerate(rows.flat):
            found.flat[k] = scalar.look(self.table, i, columns.flat[k])
        return of(found)

    def __array__(self, *_: Any, **__: Any) -> Any:
        refuse("a table has no numbers before the kernel runs: table.look(row, column)")

    def __getitem__(self, _: Any) -> Any:
        refuse("a table is looked up at values: table.look(row, column)")

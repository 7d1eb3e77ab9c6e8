"""Tables that programs look up: arrays that all environments share, outside of tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from ..algebra.scalar import Scalar
from .graph import Routine
from .order import CELL, CORNER, Statement, operands

LOOK = "look"
"""The look-up operation: its arguments are the table's name, a row and a column. A loop or routine
also looks a table up by name, so that no table is passed to it."""

ANY_SIZE = (0, 0)
"""A table's shape at recording: its rows and columns are known only from the array of each
launch."""


def in_cells(statements: Sequence[Statement], stored: Set[int]) -> list[Statement]:
    """The same statements, with look-ups of all corners of a grid cell joined into one: neighbours
    are loaded together.

    `stored`: nodes that are results.
    """
    looks = {s.arguments: s.target for s in statements if s.operation == LOOK}
    if not looks:
        return list(statements)
    after = {
        s.arguments[0]: s.target
        for s in statements
        if s.operation == "add" and isinstance(s.arguments[1], float) and s.arguments[1] == 1.0
    }
    corners = _corners(looks, after)
    cells = {target: cell for cell, targets in corners.items() for target in targets}
    grouped: list[Statement] = []
    done: set[tuple] = set()
    for s in statements:
        cell = cells.get(s.target)
        if cell is None:
            grouped.append(s)
        elif cell not in done:
            # All four take the place of the first one, which already needed the cell's first
            # corner.
            done.add(cell)
            grouped.append(Statement(~s.target, CELL, cell))
            grouped += [
                Statement(target, CORNER, (~s.target, str(k)))
                for k, target in enumerate(corners[cell])
            ]
    read = {x for s in grouped for x in operands(s)} | stored
    return [s for s in grouped if s.target in read or s.target not in after.values()]


def _corners(
    looks: Mapping[tuple[Any, ...], int], after: Mapping[Any, int]
) -> dict[tuple[Any, ...], list[int]]:
    """The look-ups of the four corners of each cell that has all of them, by table, row and column.

    looks: nodes of look-ups by table, row and column.  after: the node of each index plus 1.
    """
    corners: dict[tuple[Any, ...], list[int]] = {}
    for table, i, j in looks:
        if not (isinstance(i, int) and isinstance(j, int) and i in after and j in after):
            continue
        places = [(table, a, b) for a in (i, after[i]) for b in (j, after[j])]
        if all(place in looks for place in places):
            corners[table, i, j] = [looks[place] for place in places]
    return corners


class Touch(NamedTuple):
    """The derivative of cotangents times outputs by a table's number at a place, for one of the
    look-ups there."""

    table: str
    share: Scalar
    row: Scalar
    column: Scalar


PUSHED = Touch._fields[1:]
"""Entries that a backward loop stores for each look-up."""


def looks(routine: Routine, tables: Set[str]) -> int:
    """Largest number of table look-ups in a call of a routine."""
    once = 0
    for operation, arguments in routine.graph.nodes if tables else ():
        once += operation == LOOK and arguments[0] in tables
        if operation == "call":
            once += looks(routine.graph.routines[arguments[0]], tables)
    return once * (1 if routine.repetition is None else routine.repetition.times)

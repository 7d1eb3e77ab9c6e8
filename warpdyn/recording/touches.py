"""What a derivative by the numbers of tables is made of: one share for each time that one is looked
up."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from ..algebra.scalar import Scalar
from .graph import Routine
from .table import LOOK


class Touch(NamedTuple):
    """How much cotangents times outputs change with the number of a table at a place, by one of the
    times that it is looked up."""

    table: str
    share: Scalar
    row: Scalar
    column: Scalar


PUSHED = Touch._fields[1:]
"""What a loop that goes backward notes of a look-up."""


def looks(routine: Routine, tables: Set[str]) -> int:
    """How many look-ups of tables a call of a routine is, at most."""
    once = 0
    for operation, arguments in routine.graph.nodes if tables else ():
        once += operation == LOOK and arguments[0] in tables
        if operation == "call":
            once += looks(routine.graph.routines[arguments[0]], tables)
    return once * (1 if routine.repetition is None else routine.repetition.times)

"""Bytecode of array operations: an array is in neighbouring slots, row after row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...recording.array_operations import BEGUN, GIVEN, KEPT_ROWS, LEND, READS, ROWS, WRITES, ZEROS
from ...recording.order import Statement
from ...recording.program import Program
from ..array_statements import begin_of_copies, nearest, new_arrays
from .assembler import Assembler


class ArraySlots:
    """The arrays of a program or of a loop's step.

    `regions`: the routines of the program; `given`: first slots of the arrays of the loop; `kept`: the
    first slot of the values that another loop has kept before a step.
    """

    def __init__(
        self,
        to: Assembler,
        program: Program,
        regions: Mapping[str, Any],
        given: Sequence[int],
        kept: int,
    ):
        self.to, self.program, self.regions = to, program, regions
        self.given, self.kept = given, kept
        self.made = {array: to.new_slots(size) for array, size in new_arrays(program).items()}

    def first(self, array: int) -> int:
        """The first slot of an array."""
        root = self.program.graph.arrays[array].root
        operation, arguments = self.program.graph.nodes[root]
        if operation == GIVEN:
            return self.given[int(arguments[0])]
        if operation == KEPT_ROWS:
            return self.kept + int(arguments[1])
        if operation == BEGUN:
            name, _, j = arguments
            routine = self.program.routines[name]
            before = sum(x.size for x in routine.arrays[: int(j)])
            first: int = self.regions[name].out
            return first + begin_of_copies(routine) + before
        return self.made[root]

    def of_call(self, lent: int) -> list[int]:
        """The first slots of the arrays of a call, by the node in which they are lent."""
        operation, arguments = self.program.graph.nodes[lent]
        return [self.first(x) for x in arguments[2:]] if operation == LEND else []

    def encode(self, statement: Statement, d: int, slot_of: Callable[[Any], int]) -> None:
        """Write an operation. `d`: the slot of its value; `slot_of`: those of values."""
        to, operation, arguments = self.to, statement.operation, statement.arguments
        if operation == ROWS:
            for k, x in enumerate(arguments[2:]):
                self._move(self.made[statement.target] + k, x, slot_of)
        elif operation == ZEROS:
            _, rows, width = self.program.graph.arrays[statement.target]
            to.add("fill", self.made[statement.target], to.constant(0.0), rows * width)
        elif operation in READS:
            array, j, index = arguments
            self._at_row(operation, array, int(j), index, d, slot_of)
        elif operation in WRITES:
            array, index, *values = arguments
            for j, x in enumerate(values):
                if x != "":
                    self._at_row(operation, array, j, index, x, slot_of)

    def _at_row(
        self,
        operation: str,
        array: int,
        j: int,
        index: int | float,
        x: Any,
        slot_of: Callable[[Any], int],
    ) -> None:
        """Read entry j of a row into slot x, or write the value x there."""
        to, (_, rows, width) = self.to, self.program.graph.arrays[array]
        place = self.first(array) + j
        if isinstance(index, float):
            place += width * nearest(index, rows)
            if operation in READS:
                to.add("move_s", x, place)
            else:
                self._move(place, x, slot_of)
            return
        d, a = (x, place) if operation in READS else (place, slot_of(x))
        to.add(f"{operation}_row", d, a, slot_of(index), width)
        to.add("behind", 0, rows)

    def _move(self, place: int, x: int | float, slot_of: Callable[[Any], int]) -> None:
        """A value or a constant to a slot."""
        if isinstance(x, int):
            self.to.add("move_s", place, slot_of(x))
        else:
            self.to.add("constant", place, self.to.constant(x))

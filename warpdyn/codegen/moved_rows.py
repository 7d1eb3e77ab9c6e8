"""Long inputs that are the first content of arrays in loops, and results that are rows of such arrays.

A scene with many pairs passes the impulses of all contacts from one launch to the next: those of an
Allegro hand with a cube are 2,472 numbers. Such numbers are copied directly between memory and the
workspace of a block. Through a tile, with one statement for each number, every number would be copied
twice, by code that does not fit into the level-1 instruction cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ..recording.array_operations import LEND, READ, READS, ROWS, UNSET, WRITE, WRITES, ZEROS
from ..recording.order import Statement, operands
from ..recording.program import Program
from .array_statements import nearest

FEWEST = 64
"""Smallest number of entries of an input or a result that is moved directly. The program loads and
stores the entries of shorter ones."""

MADE = (ROWS, ZEROS, UNSET)
"""Operations that make an array of a program."""

Place = tuple[int, int]
"""An array that the program makes, by its node, and an entry of it."""


@dataclass(frozen=True)
class MovedRows:
    """The inputs and results of a program that are moved directly, and the remaining statements.

    `statements`: those of the program without copies of inputs to arrays and of rows to results.
    `inputs`, `results`: the place of each entry, by the name of the input or the result; None for an
    entry that the program loads or stores itself. `stored`: output nodes that need no store.
    `written`: arrays that the program changes after their first content.
    """

    statements: list[Statement]
    inputs: Mapping[str, list[Place | None]] = field(default_factory=dict)
    results: Mapping[str, list[Place | None]] = field(default_factory=dict)
    stored: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()

    @classmethod
    def of(cls, program: Program) -> MovedRows:
        """The inputs and results of `program` that are moved directly."""
        if not program.graph.arrays:
            return cls(program.statements)
        first = _FirstContent(program)
        inputs, results = first.inputs(), _results(program)
        stored = {
            output.node
            for name, places in results.items()
            for output, place in zip(program.outputs_of[name], places, strict=True)
            if output.node is not None and place is not None
        }
        statements = list(_without_copies(program, first.statements, inputs, stored))
        return cls(statements, inputs, results, frozenset(stored), frozenset(first.written))


class _FirstContent:
    """The values that the arrays of a program have before anything reads or changes them.

    `content`: the node of each entry of each array; -1 if no input can take its place. `statements`:
    the targets of the statements that write the first content. `written`: the arrays that change
    later.
    """

    def __init__(self, program: Program):
        self.program = program
        self.content: dict[int, dict[int, int]] = {}
        self.statements: set[int] = set()
        self.written = {program.graph.arrays[x].root for x in _lent_to_write(program)}
        used: set[int] = set()
        for s in program.statements:
            if s.operation in MADE:
                self.content[s.target] = {}
                self.statements.add(s.target)
            for root in _arrays_of(program, s):
                if s.operation == WRITE and root not in used and isinstance(s.arguments[1], float):
                    self.statements.add(s.target)
                else:
                    used.add(root)
                    if s.operation in WRITES:
                        self.written.add(root)
            # Zeros are only the content of entries that get no other value.
            if s.target in self.statements and s.operation != ZEROS:
                self._add(s)

    def _add(self, s: Statement) -> None:
        root, first, values = initial_values(self.program, s)
        content = self.content[root]
        for k, x in enumerate(values, first):
            if x != "":
                # No input can take the place of a constant, or of two values for one entry.
                content[k] = x if k not in content and isinstance(x, int) else -1

    def inputs(self) -> dict[str, list[Place | None]]:
        """The places of the entries of long inputs that are mostly the content of arrays."""
        program = self.program
        entries = {s.target: s.arguments for s in program.statements if s.operation == "input"}
        # An entry that is used anywhere else has to be loaded, so it is not moved.
        uses = Counter(x for s in program.statements for x in operands(s))
        uses.update([*program.stores, *program.angles])
        uses.update(x for s in program.angle_statements for x in operands(s))
        found: dict[str, list[Place | None]] = {
            name: [None] * prod(shape)
            for name, shape in program.inputs.items()
            if prod(shape) >= FEWEST and name not in program.tables
        }
        for root, content in self.content.items():
            for k, x in content.items():
                name, entry = entries.get(x, ("", 0))
                if name in found and uses[x] == 1:
                    found[name][int(entry)] = root, k
        return {name: places for name, places in found.items() if _are_many(places)}


def _are_many(places: Sequence[Place | None]) -> bool:
    """True if most entries have a place."""
    return 2 * sum(place is not None for place in places) > len(places)


def _rows_at_the_end(program: Program) -> dict[int | None, Place]:
    """The places of values that are read from arrays after their last change."""
    arrays = program.graph.arrays
    made = {s.target for s in program.statements if s.operation in MADE}
    last = {arrays[s.target].root: s.target for s in program.statements if s.target in arrays}
    changed = _lent_to_write(program)
    places: dict[int | None, Place] = {}
    for s in program.statements:
        if s.operation == READ and isinstance(s.arguments[2], float):
            array, j, index = s.arguments
            root, rows, width = arrays[array]
            if root in made and last[root] == array and array not in changed:
                places[s.target] = root, width * nearest(index, rows) + int(j)
    return places


def _results(program: Program) -> dict[str, list[Place | None]]:
    """The places of the entries of long results that are mostly rows of arrays at the end of the
    program."""
    reads = _rows_at_the_end(program)
    long = {
        name: outputs
        for name, outputs in program.outputs_of.items()
        if len(outputs) >= FEWEST
        and all(x.node is not None for x in outputs)
        and _are_many([reads.get(x.node) for x in outputs])
    }
    # The program itself stores a value that is also another output.
    others = {
        x.node
        for name, outputs in program.outputs_of.items()
        for x in outputs
        if name not in long or x.negative
    }
    return {
        name: [None if x.node in others else reads.get(x.node) for x in outputs]
        for name, outputs in long.items()
    }


def _without_copies(
    program: Program,
    initial: Container[int],
    inputs: Mapping[str, Sequence[Place | None]],
    stored: Iterable[int],
) -> Iterator[Statement]:
    """The statements of a program without copies of `inputs` to arrays and of rows to results.

    `initial`: the targets of the statements that write the first content of arrays.
    """
    moved = {place for each in inputs.values() for place in each if place is not None}
    filled = {root for root, _ in moved}
    read = {x for s in program.statements for x in operands(s)} | {*program.angles}
    alone = {*stored} - read
    for s in program.statements:
        if s.target in alone or (s.operation == "input" and _has_place(s, inputs)):
            continue
        if s.target in initial:
            root, first, values = initial_values(program, s)
            if root in filled:
                rest = ["" if (root, k) in moved else x for k, x in enumerate(values, first)]
                # The inputs are in the array already: zeros are written to the other entries only.
                head = s.arguments[:2] if s.operation == WRITE else (s.arguments[0], "")
                if all(x == "" for x in rest):
                    continue
                operation = WRITE if s.operation == WRITE else ROWS
                s = Statement(s.target, operation, (*head, *rest))
        yield s


def _has_place(s: Statement, inputs: Mapping[str, Sequence[Place | None]]) -> bool:
    """True if an entry of an input has a place."""
    name, entry = s.arguments
    return name in inputs and inputs[name][entry] is not None


def initial_values(program: Program, s: Statement) -> tuple[int, int, Sequence[int | float | str]]:
    """The array that a statement makes or writes, the first entry that it writes, and the values; ""
    leaves an entry."""
    root, rows, width = program.graph.arrays[s.target]
    if s.operation == WRITE:
        return root, width * nearest(s.arguments[1], rows), s.arguments[2:]
    if s.operation == ROWS:
        return root, 0, s.arguments[2:]
    return root, 0, [0.0 if s.operation == ZEROS else ""] * (rows * width)


def _arrays_of(program: Program, s: Statement) -> list[int]:
    """The roots of the arrays that a statement reads, writes or lends."""
    arrays = program.graph.arrays
    if s.operation in READS + WRITES:
        return [arrays[s.arguments[0]].root]
    return [arrays[x].root for x in s.arguments[2:]] if s.operation == LEND else []


def _lent_to_write(program: Program) -> set[int]:
    """The nodes, before a loop, of the arrays that the loop writes."""
    found: set[int] = set()
    for s in program.statements:
        if s.operation == LEND:
            lent = zip(s.arguments[2:], program.routines[s.arguments[0]].arrays, strict=True)
            found |= {x for x, array in lent if array.is_written}
    return found

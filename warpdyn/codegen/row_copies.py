"""Rows of arrays that are copies of inputs, and results that are copies of rows, moved in loops.

A scene with many pairs passes the impulses of all contacts from one launch to the next: those of an
Allegro hand with a cube are 2,472 numbers. Copied by one statement for each number, they take more code
than the first cache holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..recording.array_operations import ARRAY_OPERATIONS, READ, WRITE
from ..recording.order import Statement, operands
from ..recording.program import Program
from .array_statements import nearest, place_of
from .emit import Dialect
from .tiles import InPlace, Tile

FILL, SPREAD = "fill", "spread"
"""Further statements, each with one argument, a `RowRun`. `fill` copies entries of inputs to rows of its
target, `spread` copies rows of its target to outputs."""

FEWEST = 4
"""Number of rows from which they are moved in a loop."""

Place = tuple[str, int]
"""An entry of an input or a result: the name of the array and the number of the entry."""


class RowRun(NamedTuple):
    """Rows of an array one after the other, from the row `first` on. `columns`: for some entries of a
    row the number of the entry, the array of its copy, the entry there for the first row, and a factor:
    the copies of a further row lie that many times its number in `offsets` behind the first ones."""

    first: int
    offsets: tuple[int, ...]
    columns: tuple[tuple[int, str, int, int], ...]


def with_row_copies(
    program: Program, places: Sequence[tuple[InPlace | Tile, int]]
) -> tuple[list[Statement], set[int]]:
    """The statements of a program with FILL and SPREAD in place of single copies, and the nodes that
    SPREAD stores. `places`: array and entry of each output."""
    if not program.graph.arrays:
        return program.statements, set()
    statements = _with_fills(program, program.statements)
    return _with_spreads(program, statements, [(array.id, entry) for array, entry in places])


def _with_fills(program: Program, statements: list[Statement]) -> list[Statement]:
    inputs = {s.target: s.arguments for s in statements if s.operation == "input"}
    uses = Counter(
        x
        for s in statements
        if s.operation in ARRAY_OPERATIONS
        for x in s.arguments
        if isinstance(x, int)
    )
    chains: list[list[int]] = []
    for n, statement in enumerate(statements):
        if statement.operation != WRITE or not _copies_inputs(statement, inputs):
            continue
        before = statements[chains[-1][-1]] if chains else None
        follows = before is not None and before.target == statement.arguments[0]
        if before is not None and follows and uses[before.target] == 1:
            chains[-1].append(n)
        else:
            chains.append([n])
    fills: dict[int, Statement] = {}
    left_out: set[int] = set()
    for chain in chains:
        rows = [
            (
                _row(program, statements[n]),
                {j: inputs[x] for j, x in enumerate(statements[n].arguments[2:])},
            )
            for n in chain
        ]
        for first, run in _runs(rows):
            last = chain[first + len(run.offsets) - 1]
            left_out |= {*chain[first : first + len(run.offsets)]}
            fills[last] = Statement(statements[last].target, FILL, (run,))
    moved = [fills.get(n, s) for n, s in enumerate(statements) if n in fills or n not in left_out]
    return _without_unread(program, moved, set(inputs))


def _with_spreads(
    program: Program, statements: list[Statement], places: Sequence[Place]
) -> tuple[list[Statement], set[int]]:
    stores = program.stores
    found: dict[tuple[int, int], dict[int, tuple[int, Place]]] = {}
    for n, statement in enumerate(statements):
        outputs = stores.get(statement.target, [])
        if statement.operation != READ or not isinstance(statement.arguments[2], float):
            continue
        if len(outputs) == 1 and not program.outputs[outputs[0]].negative:
            array, j, _ = statement.arguments
            row = found.setdefault((array, _row(program, statement)), {})
            row[int(j)] = n, places[outputs[0]]
    spreads: dict[int, list[Statement]] = {}
    stored: set[int] = set()
    for array in dict.fromkeys(array for array, _ in found):
        of_array = [(row, cells) for (x, row), cells in found.items() if x == array]
        rows = [(row, {j: place for j, (_, place) in cells.items()}) for row, cells in of_array]
        for first, run in _runs(rows):
            reads = [
                n
                for _, cells in of_array[first : first + len(run.offsets)]
                for n, _ in cells.values()
            ]
            stored |= {statements[n].target for n in reads}
            spreads.setdefault(max(reads), []).append(Statement(array, SPREAD, (run,)))
    moved = [x for n, s in enumerate(statements) for x in (s, *spreads.get(n, ()))]
    return _without_unread(program, moved, stored, stored), stored


def _copies_inputs(write: Statement, inputs: dict[int, tuple]) -> bool:
    """True if a statement writes a row at a known index, all of whose entries are inputs."""
    _, index, *values = write.arguments
    return isinstance(index, float) and all(isinstance(x, int) and x in inputs for x in values)


def _row(program: Program, statement: Statement) -> int:
    """The row that a statement reads or writes."""
    array, *_ = statement.arguments
    index = statement.arguments[1 if statement.operation == WRITE else 2]
    return nearest(index, program.graph.arrays[array].rows)


def _runs(rows: Sequence[tuple[int, dict[int, Place]]]) -> Iterator[tuple[int, RowRun]]:
    """The runs of rows, with the place of the first row of each in `rows`, which are numbers of rows and
    places of their entries."""
    k = 0
    while k < len(rows):
        first, columns = rows[k]
        base, factors = min(columns), dict.fromkeys(columns, 0)
        offsets = [0]
        for row, entries in rows[k + 1 :]:
            if row != first + len(offsets) or entries.keys() != columns.keys():
                break
            ahead = {j: entries[j][1] - columns[j][1] for j in columns}
            if len(offsets) == 1 and any(ahead.values()):
                # Others are spaced by a multiple of the column with the closest copies.
                base = min((j for j in columns if ahead[j]), key=lambda j: abs(ahead[j]))
                factors = {j: x // ahead[base] for j, x in ahead.items()}
            even = all(x == factors[j] * ahead[base] for j, x in ahead.items())
            if not even or any(entries[j][0] != columns[j][0] for j in columns):
                break
            offsets.append(ahead[base])
        if len(offsets) >= FEWEST:
            places = ((j, *columns[j], factors[j]) for j in sorted(columns))
            yield k, RowRun(first, tuple(offsets), tuple(places))
            k += len(offsets)
        else:
            k += 1


def _without_unread(
    program: Program,
    statements: list[Statement],
    nodes: set[int],
    stored: set[int] = frozenset(),  # type: ignore[assignment]
) -> list[Statement]:
    """The statements without those of `nodes` that nothing reads. `stored`: outputs that need not be
    stored any more."""
    needed = {x for s in statements for x in operands(s)} | {*program.angles}
    needed |= program.stores.keys() - stored
    return [
        s
        for s in statements
        if s.target not in nodes or s.operation in (FILL, SPREAD) or s.target in needed
    ]


def fill_source(
    program: Program, statement: Statement, dialect: Dialect, entry: Callable[[str, str], str]
) -> str:
    """C++ of a FILL. `entry(name, k)`: the value of an entry of an input."""

    def copies(run: RowRun) -> Iterator[str]:
        for j, name, first, factor in run.columns:
            yield f"row[{j}] = {entry(name, f'({first} + {factor} * n)')};"

    return _loop(program, statement, dialect, copies)


def spread_source(
    program: Program, statement: Statement, dialect: Dialect, arrays: Mapping[str, InPlace | Tile]
) -> str:
    """C++ of a SPREAD. `arrays`: the results by name."""

    def copies(run: RowRun) -> Iterator[str]:
        for j, name, first, factor in run.columns:
            yield arrays[name].store(f"({first} + {factor} * n)", f"row[{j}]")

    return _loop(program, statement, dialect, copies)


def _loop(
    program: Program,
    statement: Statement,
    dialect: Dialect,
    copies: Callable[[RowRun], Iterator[str]],
) -> str:
    """The loop over the rows of a run."""
    (run,) = statement.arguments
    place = place_of(program, statement.target, dialect.memory)
    width, number, step = (
        program.graph.arrays[statement.target].width,
        len(run.offsets),
        run.offsets[1],
    )
    table, offset = "", f"{step} * k"
    if run.offsets != tuple(range(0, step * number, step or 1)):
        table = f"static const int offsets[] = {{{', '.join(map(str, run.offsets))}}};"
        offset = "offsets[k]"
    row = f"{dialect.type}* const row = {place} + {width} * ({run.first} + k);"
    step_source = f"const int n = {offset}; {row} {' '.join(copies(run))}"
    return f"{{ {table} for (int k = 0; k < {number}; ++k) {{ {step_source} }} }}"

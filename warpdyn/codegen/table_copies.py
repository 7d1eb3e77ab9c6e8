"""Inputs and results of routines, moved by loops over tables instead of one statement per value.

A routine reads hundreds of values from the workspace, and writes whole columns of results.
Written as statements they are a seventh of a floating humanoid's aba_derivatives, and a third of
its compile time: each store has a branch (past the cache or not), and a compiler's schedulers
compare all memory accesses of a block with each other. With tables it takes 6.2 s of CPU instead of
9.7, and runs in 2.95 us instead of 3.08 (float32, 4,096 environments, one core of an AMD EPYC).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..recording.order import Statement, operands
from ..recording.program import Program
from .emit import Dialect
from .tiles import InPlace, MovedResult, Tile

COPY, PUT = "copy", "put"
"""Further statements. `copy(name, called, k, slot, k, slot..)` copies values of the workspace to
the values that a routine's calls share, or to the column of one call. `put(name, entry, negative,
k..)` copies entries of a routine's results to outputs of the program."""

_BESIDE = {"frame": 1, "call": 2}
"""Number of arguments of a routine's statements before the values that it reads."""


def with_copies(program: Program, part: Sequence[Statement], stored: set[int]) -> list[Statement]:
    """A part in which values that only go from the workspace to a routine, or from a routine to
    outputs, are moved by COPY and PUT; `stored` grows by the latter.

    A copied argument becomes None in its routine's statement.
    """
    slots = _slots_for_routines(part)
    read = Counter(x for s in part for x in _nodes_read(s))
    moved: list[Statement] = []
    left: list[int | str | bool] = []
    for statement in part:
        target, operation, arguments = statement
        # Results of a routine are collected until the next other statement, and then moved by a
        # single PUT.
        if operation == "of":
            entries = program.stores.get(target, [])
            if entries and target not in stored and not read[target]:
                stored.add(target)
                for entry in entries:
                    left += (entry, program.outputs[entry].negative, arguments[2])
                routine = arguments[0]
                continue
        elif left:
            moved.append(Statement(-1, PUT, (routine, *left)))
            left = []
        if operation == "recall" and target in slots:
            continue
        if operation in _BESIDE:
            first = _BESIDE[operation]
            values = arguments[first:]
            pairs = [x for k, v in enumerate(values) if _is_slot(v, slots) for x in (k, slots[v])]
            if pairs:
                moved.append(Statement(-1, COPY, (arguments[0], operation == "call", *pairs)))
                rest = (None if _is_slot(v, slots) else v for v in values)
                statement = Statement(target, operation, (*arguments[:first], *rest))
        moved.append(statement)
    if left:
        moved.append(Statement(-1, PUT, (routine, *left)))
    return moved


def _slots_for_routines(part: Sequence[Statement]) -> dict[int, int]:
    """Slots of values that a part recalls only for routines."""
    slots = {s.target: s.arguments[0] for s in part if s.operation == "recall"}
    for statement in part:
        if statement.operation not in _BESIDE:
            for x in _nodes_read(statement):
                slots.pop(x, None)
    return slots


def _nodes_read(statement: Statement) -> Sequence[int]:
    """Nodes that a statement of a part reads."""
    if statement.operation == "recall":
        return ()
    if statement.operation == "keep":
        return (statement.target,)
    return tuple(operands(statement))


def _is_slot(value: object, slots: dict[int, int]) -> bool:
    return isinstance(value, int) and value in slots


def copy_source(statement: Statement, dialect: Dialect) -> str:
    """C++ of a COPY."""
    name, called, *pairs = statement.arguments
    region = dialect.regions[name]
    to = region.column if called else region.shared
    table = f"static const int pairs[] = {{{', '.join(map(str, pairs))}}};"
    return f"{{ {table} Lanes::copy({to}, {dialect.workspace}, pairs, {len(pairs) // 2}); }}"


def put_source(
    statement: Statement,
    dialect: Dialect,
    where: Sequence[tuple[InPlace | Tile | MovedResult, int]],
) -> str:
    """C++ of a PUT. `where`: array and entry of each output."""
    name, *rest = statement.arguments
    out = dialect.regions[name].out
    lines: list[str] = []
    tables: dict[tuple[Tile, bool], list[str]] = {}
    for output, negative, k in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        array, entry = where[output]
        if isinstance(array, Tile):
            tables.setdefault((array, negative), []).append(f"{entry}, {k}")
        else:
            lines.append(array.store(entry, f"{'-' if negative else ''}({out})[{k}]"))
    for (array, negative), pairs in tables.items():
        table = f"static const int pairs[] = {{{', '.join(pairs)}}};"
        place = f"{array.id}, {array.id}_place, {array.id}_now"
        sign = "true" if negative else "false"
        lines.append(f"{{ {table} Lanes::put({place}, {out}, pairs, {len(pairs)}, {sign}); }}")
    return "\n".join(lines)

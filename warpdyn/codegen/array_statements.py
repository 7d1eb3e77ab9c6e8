"""Array operations of a program (`recording/array_operations`) as C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..recording.array_operations import (
    BEGUN,
    GIVEN,
    KEPT_ROWS,
    LEND,
    NEW,
    READ,
    ROWS,
    WRITE,
    WRITES,
    ZEROS,
)
from ..recording.graph import COLUMN
from ..recording.order import Statement
from ..recording.program import Program
from . import headers


@dataclass(frozen=True)
class ArrayForm:
    """How a target reads and writes an array at an index that it computes.

    Each operation receives the address of the array, the entry in a row, the index, the number of
    rows and the number of entries in a row. `write` and `scatter` also receive the value, as the
    last argument.
    """

    read: Callable[[str, int, str, int, int], str]
    gather: Callable[[str, int, str, int, int], str]
    write: Callable[[str, int, str, int, int, str], str]
    scatter: Callable[[str, int, str, int, int, str], str]


def scalar_form(T: str) -> ArrayForm:
    """The form of a target whose values are single numbers of type `T`."""

    def entry(address: str, j: int, index: str, rows: int, width: int) -> str:
        last = f"({T}){rows - 1}"
        row = f"(int)({index} > 0 ? ({index} < {last} ? {index} : {last}) : 0)"
        return f"({address})[{j} + {width} * {row}]"

    def write(address: str, j: int, index: str, rows: int, width: int, value: str) -> str:
        return f"{entry(address, j, index, rows, width)} = {value};"

    return ArrayForm(entry, entry, write, write)


def function_form(helper: Callable[[str], str]) -> ArrayForm:
    """The form of a target that has a C++ function for each operation; `helper` gives its name."""

    def call(name: str) -> Callable[..., str]:
        return lambda *arguments: f"{helper(name)}({', '.join(map(str, arguments))})"

    def call_statement(name: str) -> Callable[..., str]:
        return lambda *arguments: f"{call(name)(*arguments)};"

    return ArrayForm(
        call("read_row"),
        call("gather_row"),
        call_statement("write_row"),
        call_statement("scatter_row"),
    )


def uses_arrays(program: Program) -> bool:
    """True if a program, or a routine of it, has arrays."""
    return bool(program.graph.arrays) or any(map(uses_arrays, program.routines.values()))


def array_members(program: Program, single: bool) -> list[str]:
    """The functions on rows of arrays, as members of Lanes, if a program has arrays."""
    if not uses_arrays(program):
        return []
    return [headers.piece("rows_of_arrays.h", "lanes", single)]


def new_arrays(program: Program) -> dict[int, int]:
    """The arrays that a program makes, with their sizes; copies of `begun` lie in the results of
    their loop."""
    sizes = program.graph.arrays
    return {
        s.target: sizes[s.target].rows * sizes[s.target].width
        for s in program.statements
        if s.operation in NEW and s.operation != BEGUN
    }


def place_of(program: Program, array: int, memory: Mapping[int, str]) -> str:
    """The address of an array. `memory`: those of the arrays that the program makes."""
    root = program.graph.arrays[array].root
    operation, arguments = program.graph.nodes[root]
    if operation == GIVEN:
        return f"array{arguments[0]}"
    return memory[root]


def arrays_of_call(program: Program, call: Statement, memory: Mapping[int, str]) -> str:
    """The arrays among the arguments of a call, each after a comma."""
    operation, arguments = program.graph.nodes[call.arguments[1]]
    if operation != LEND:
        return ""
    return "".join(f", {place_of(program, x, memory)}" for x in arguments[2:])


def array_parameters(routine: Program, T: str) -> str:
    """The parameters for the arrays of a loop, each after a comma."""
    return "".join(f", {T}* array{j}" for j in range(len(routine.arrays)))


def read_expression(program: Program, statement: Statement, dialect: Any) -> str:
    """C++ of the value that `read` or `gather` reads."""
    array, j, index = statement.arguments
    _, rows, width = program.graph.arrays[array]
    place = place_of(program, array, dialect.memory)
    if isinstance(index, float):
        return f"({place})[{width * nearest(index, rows) + int(j)}]"
    form = dialect.array_form
    read = form.read if statement.operation == READ else form.gather
    return read(place, int(j), f"t{index}", rows, width)


def array_lines(program: Program, statement: Statement, dialect: Any) -> Iterator[str]:
    """The lines of all other array operations."""
    operation, arguments = statement.operation, statement.arguments
    if operation == ROWS:
        place = dialect.memory[statement.target]
        for k, x in enumerate(arguments[2:]):
            if x != "":
                yield f"({place})[{k}] = {_value(x, dialect)};"
    elif operation == ZEROS:
        size = prod(program.graph.arrays[statement.target][1:])
        zero = dialect.broadcast(dialect.constant(0.0))
        place = dialect.memory[statement.target]
        yield f"for (int k = 0; k < {size}; ++k) ({place})[k] = {zero};"
    elif operation in WRITES:
        yield from _write_lines(program, statement, dialect)


def _write_lines(program: Program, statement: Statement, dialect: Any) -> Iterator[str]:
    array, index, *values = statement.arguments
    _, rows, width = program.graph.arrays[array]
    place = place_of(program, array, dialect.memory)
    form = dialect.array_form
    write = form.write if statement.operation == WRITE else form.scatter
    for j, x in enumerate(values):
        if x == "":
            continue
        value = _value(x, dialect)
        if isinstance(index, float):
            yield f"({place})[{width * nearest(index, rows) + j}] = {value};"
        else:
            yield write(place, j, f"t{index}", rows, width, value)


def _value(x: int | float, dialect: Any) -> str:
    return f"t{x}" if isinstance(x, int) else dialect.broadcast(dialect.constant(x))


def nearest(index: float, rows: int) -> int:
    """The row of an index."""
    return int(min(index, rows - 1.0)) if index > 0 else 0


# What a loop keeps for its derivative.


def count_kept_entries(routine: Program) -> int:
    """Entries that a loop keeps before each step: its state, and the arrays that it writes."""
    return prod(routine.inputs[COLUMN]) + sum(x.size for x in routine.arrays if x.is_written)


def begin_of_copies(routine: Program) -> int:
    """The entry of a loop's results from which on copies of its arrays lie."""
    results, repetition = prod(routine.results["out"]), routine.repetition
    assert repetition is not None
    return results + (repetition.times * count_kept_entries(routine) if repetition.kept else 0)


def count_copied_entries(routine: Program) -> int:
    """Entries of the copies of its arrays that a loop makes before its first step."""
    repetition = routine.repetition
    return sum(x.size for x in routine.arrays) if repetition and repetition.begun else 0


def copy_arrays(routine: Program, out: str) -> Iterator[str]:
    """Lines that copy the arrays of a loop before its first step."""
    if count_copied_entries(routine):
        yield from _copy_lines(range(len(routine.arrays)), routine, out, begin_of_copies(routine))


def keep_arrays(routine: Program, block: str) -> Iterator[str]:
    """Lines that store the arrays that a loop writes behind its state, in a block of kept values."""
    written = [j for j, x in enumerate(routine.arrays) if x.is_written]
    yield from _copy_lines(written, routine, block, prod(routine.inputs[COLUMN]))


def _copy_lines(arrays: Sequence[int], routine: Program, to: str, first: int) -> Iterator[str]:
    for j in arrays:
        size = routine.arrays[j].size
        yield f"for (int k = 0; k < {size}; ++k) ({to})[{first} + k] = array{j}[k];"
        first += size


def memory_in_loops(program: Program, regions: Mapping[str, Any], kept: str) -> dict[int, str]:
    """Addresses of the arrays that lie in results of loops: copies of arrays from before a loop,
    and those that another loop has kept before each step, whose block is at `kept`."""
    found: dict[int, str] = {}
    for s in program.statements:
        if s.operation == BEGUN:
            name, _, j = s.arguments
            routine = program.routines[name]
            before = sum(x.size for x in routine.arrays[: int(j)])
            found[s.target] = f"{regions[name].out} + {begin_of_copies(routine) + before}"
        elif s.operation == KEPT_ROWS:
            found[s.target] = f"{kept} + {s.arguments[1]}"
    return found

"""Programs on numbers: statement after statement, in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import nan, prod
from typing import Any

from ..algebra import scalar
from .array_operations import (
    ARRAY_OPERATIONS,
    BEGUN,
    COUNTER,
    GIVEN,
    KEPT_ROWS,
    LEFT,
    LEND,
    READS,
    ROWS,
    UNSET,
    ZEROS,
)
from .graph import COLUMN, FIXED, FROM, KEPT, ROW, SHARED, Sweep
from .number_operations import ON_NUMBERS

Memory = list[list[float]]
"""The rows of an array."""


def evaluate(
    program: Any,
    entries: Mapping[str, Sequence[float]],
    tables: Mapping[str, Any],
    arrays: Sequence[Memory] = (),
    kept_arrays: Sequence[Memory] = (),
) -> dict[str, list[float]]:
    """The entries of each result, for the entries of each input. `arrays`: those of a loop, whose
    step the program is; `kept_arrays`: those that another loop has kept."""
    values: dict[int, Any] = {}
    states: dict[str, list[Any]] = {}
    for s in program.statements:
        if s.operation == "input":
            array, k = s.arguments
            values[s.target] = entries[array][k]
            continue
        operands = [values[x] if isinstance(x, int) else x for x in s.arguments]
        # Operations whose value is not a number come first: a call's value is the list that `of`
        # reads, and a cell's is the list that `corner` reads.
        match s.operation:
            case "frame":
                values[s.target] = operands[1:]
            case "call":
                name, shared, *column = operands
                routine = program.routines[name]
                lent: Any = ()
                if routine.repetition and routine.repetition.counts:
                    shared, lent = shared
                found = call_routine(routine, name, shared, column, states, tables, lent)
                values[s.target] = found
            case "of":
                values[s.target] = operands[1][int(operands[2])]
            case "look":
                values[s.target] = scalar.look(tables[operands[0]], *operands[1:])
            case "cell":
                values[s.target] = _corners(tables[operands[0]], *operands[1:])
            case "corner":
                values[s.target] = operands[0][int(operands[1])]
            case operation if operation in ARRAY_OPERATIONS:
                root = program.graph.arrays[s.target].root if operation == LEFT else -1
                memory = values.get(root)
                values[s.target] = _on_arrays(
                    operation, operands, states, memory, arrays, kept_arrays
                )
            case _:
                values[s.target] = ON_NUMBERS[s.operation](*operands)
    return {
        name: [_number_of(o, values) for o in outputs]
        for name, outputs in program.outputs_of.items()
    }


def _corners(table: Any, i: float, j: float) -> list[float]:
    """The numbers at the corners of a cell of a table."""
    places = [(i + a, j + b) for a in (0.0, 1.0) for b in (0.0, 1.0)]
    return [scalar.look(table, *place) for place in places]  # type: ignore[misc]


def _number_of(output: Any, values: Mapping[int, float]) -> float:
    if output.node is None:
        constant: float = output.constant
        return constant
    return -values[output.node] if output.negative else values[output.node]


def _on_arrays(
    operation: str,
    operands: Sequence[Any],
    states: Mapping[str, Any],
    memory: Memory | None,
    arrays: Sequence[Memory],
    kept_arrays: Sequence[Memory],
) -> Any:
    """The value of an array operation: a number, or the rows of the array, which it may change.
    `memory`: the rows of the array's root, for `left`."""
    if operation == ROWS:
        width, flat = int(operands[1]), operands[2:]
        return [list(flat[k : k + width]) for k in range(0, len(flat), width)]
    if operation in (ZEROS, UNSET):
        x = 0.0 if operation == ZEROS else nan
        return [[x] * int(operands[2]) for _ in range(int(operands[1]))]
    if operation in (GIVEN, KEPT_ROWS):
        return (arrays if operation == GIVEN else kept_arrays)[int(operands[0])]
    if operation == LEND:
        return operands[1], operands[2:]
    if operation == LEFT:
        return memory
    if operation == BEGUN:
        return _copy(states[f"{operands[0]} begun"][int(operands[2])])
    array, *rest = operands
    if operation in READS:
        return array[scalar.nearest_row(rest[1], len(array))][int(rest[0])]
    row = array[scalar.nearest_row(rest[0], len(array))]
    row[:] = [old if x == "" else x for x, old in zip(rest[1:], row, strict=True)]
    return array


def _copy(rows: Memory) -> Memory:
    return [list(row) for row in rows]


def call_routine(
    routine: Any,
    name: str,
    shared: Sequence[float],
    column: Sequence[float],
    kept: dict[str, list[Any]],
    tables: Mapping[str, Any],
    arrays: Sequence[Memory],
) -> list[float]:
    """The results of a routine on numbers. For a loop: the state after its last step, followed
    by the first.

    `kept`: for loops called before, by the names of their routines, the states before each
    step, and the arrays.
    """
    if routine.sweep:
        return _along_rows(routine, name, routine.sweep, shared, column, kept)
    if routine.repetition is None:
        found = evaluate(routine, {SHARED: shared, COLUMN: column}, tables)
        return list(found["out"])
    repetition = routine.repetition
    state, states = list(column), kept.setdefault(name, [])
    states.clear()
    kept[f"{name} begun"] = [_copy(x) for x in arrays]
    for step in range(repetition.times):
        if repetition.needed is not None and not step < shared[repetition.needed]:
            break
        if repetition.last is not None and not step < state[repetition.last]:
            break
        pairs = zip(arrays, routine.arrays, strict=True) if repetition.kept else ()
        states.append((state, [_copy(x) for x, how in pairs if how.is_written]))
        inputs = {SHARED: shared, COLUMN: state, COUNTER: [float(step)]}
        kept_arrays: list[Memory] = []
        if repetition.reads:
            inputs[KEPT], kept_arrays = kept[repetition.reads][-1 - step]
        after = evaluate(routine, inputs, tables, arrays, kept_arrays)["out"]
        state = after[: len(column)]
        if repetition.ends and after[-1] > 0:
            break
    return [*state, *column, 0.0]  # a loop that reads kept states reads the entry behind the state


def _along_rows(
    routine: Any,
    name: str,
    sweep: Sweep,
    shared: Sequence[float],
    column: Sequence[float],
    kept: dict[str, list[Any]],
) -> list[float]:
    """The results of a sweep on numbers. `kept`: the values of each step, by the names of
    routines."""
    first = prod(routine.inputs[SHARED]) - sweep.row * len(sweep.fixed)
    values = kept[name] = []
    last: list[float] = []
    for n, path in enumerate(sweep.paths):
        state = column[n * sweep.state : (n + 1) * sweep.state]
        for k in path:
            row = shared[first + k * sweep.row :][: sweep.row]
            inputs = {SHARED: shared, COLUMN: state, ROW: row, FIXED: sweep.fixed[k]}
            for m, source in enumerate(sweep.sources):
                inputs[f"{FROM}{m}"] = kept[source.routine][source.steps[k]]
            after = evaluate(routine, inputs, {})["out"]
            state = after[: sweep.state]
            values.append(after[sweep.state :])
        last += state
    return [*chain.from_iterable(values), *last]

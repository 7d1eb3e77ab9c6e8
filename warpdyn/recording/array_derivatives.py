"""Derivatives of arrays in loops: the tangent of an array is an array, and so is its adjoint.

Forward, a tangent array is read and written where its array is, at the same indices. The loop runs
once more with the tangents, on a copy of its arrays.

Backward, an adjoint array is visited in reverse: the adjoint of a read is added to the adjoint of the
entry, and a write gives the adjoint of the entry to its value and leaves 0. The backward loop needs
the values that each step started from. Therefore the loop keeps its state and the arrays that it
writes, as they are before each step, and one copy of the arrays that it only reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from ..algebra.row_arrays import RowArray
from ..algebra.scalar import Scalar, Table
from .array_loops import RecordedRows, empty_array, record_loop_of
from .array_operations import (
    BEGUN,
    GATHER,
    KEPT_ROWS,
    READ,
    READS,
    ROWS,
    SCATTER,
    WRITE,
    WRITES,
    ZEROS,
)
from .graph import KEPT, ArrayNode, Graph, Routine
from .recorder import Symbol, local
from .replay import active_entries, is_moving, outside_values, replay_step, symbols_of
from .table import looks


class _DerivedArrays:
    """An array of derivatives for each array of a graph, by the node of the array's memory.

    In the step of a loop, `before` and `after` are the nodes of its arrays that vary, before and after
    the step.
    """

    def __init__(
        self,
        graph: Graph,
        before: Sequence[int] = (),
        after: Sequence[int] = (),
        memory: Sequence[RecordedRows] = (),
    ):
        self.graph = graph
        self.before = before
        self.after = [Symbol(graph, x) for x in after]
        roots = [graph.arrays[x].root for x in before]
        self.memory: dict[int, RecordedRows] = dict(zip(roots, memory, strict=True))

    @property
    def symbol(self) -> Symbol | None:
        """A symbol of the graph, if there are arrays."""
        return self.after[0] if self.after else None

    def __bool__(self) -> bool:
        return bool(self.before)

    def of(self, array: int) -> RecordedRows:
        """The derivatives of an array; zeros if it has none yet."""
        root, rows, width = self.graph.arrays[array]
        if root not in self.memory:
            self.memory[root] = RecordedRows(
                self.graph, empty_array(self.graph, ZEROS, rows, width), Symbol, local
            )
        return self.memory[root]

    def has(self, array: int) -> bool:
        return self.graph.arrays[array].root in self.memory


def _read(memory: RecordedRows, operation: str, j: str, index: int | float) -> Symbol:
    graph = memory.graph
    return Symbol(graph, graph.node(operation, memory.array, j, index))


def _write(
    memory: RecordedRows, operation: str, index: int | float, row: Sequence[int | float | str]
) -> None:
    graph, before = memory.graph, memory.array
    memory.array = graph.node(operation, before, index, *row)
    graph.arrays[memory.array] = graph.arrays[before]


def _argument(x: Any) -> int | float:
    return x.plain() if isinstance(x, Symbol) else float(x)


class ArrayTangents(_DerivedArrays):
    """The tangents of arrays."""

    def tangent(self, i: int, dot: dict[int, Scalar]) -> None:
        """Node i, an array operation: its tangent goes into `dot`, or into the array's tangents."""
        graph = self.graph
        operation, arguments = graph.nodes[i]
        if operation in READS:
            array, j, index = arguments
            dot[i] = _read(self.of(array), operation, j, index) if self.has(array) else 0.0
        elif operation in WRITES:
            array, index, *row = arguments
            tangents = [x if x == "" else self._of_value(x, dot) for x in row]
            if self.has(array) or any(x not in ("", 0.0) for x in tangents):
                _write(self.of(array), operation, index, tangents)
        elif operation == ROWS:
            _, width, *values = arguments
            tangents = [self._of_value(x, dot) for x in values]
            node = graph.node(ROWS, f"array{len(graph.arrays)}", width, *tangents)
            graph.arrays[node] = ArrayNode(node, *graph.arrays[i][1:])
            self.memory[i] = RecordedRows(graph, node, Symbol, local)

    def _of_value(self, x: int | float, dot: Mapping[int, Scalar]) -> int | float:
        tangent = dot.get(x, 0.0) if isinstance(x, int) else 0.0
        return _argument(local(self.graph, tangent) if isinstance(tangent, Symbol) else tangent)


class ArrayAdjoints(_DerivedArrays):
    """The adjoints of arrays."""

    def adjoints(self, i: int, w: Scalar | None, moving: Set[int]) -> Iterator[tuple[int, Scalar]]:
        """Node i, an array operation with the adjoint w: the adjoints of the values that it reads."""
        graph = self.graph
        operation, arguments = graph.nodes[i]
        if operation in READS:
            array, j, index = arguments
            if w is None or array not in moving:
                return
            bar = self.of(array)
            total = _read(bar, operation, j, index) + w
            row: list[int | float | str] = [""] * graph.arrays[array].width
            row[int(j)] = _argument(total)
            _write(bar, WRITE if operation == READ else SCATTER, index, row)
        elif operation in WRITES:
            array, index, *row = arguments
            if not self.has(array):
                return
            # The value takes the adjoint of the entry. The overwritten value has none.
            bar, read = self.of(array), READ if operation == WRITE else GATHER
            shares = [
                (x, _read(bar, read, str(j), index))
                for j, x in enumerate(row)
                if isinstance(x, int) and x in moving
            ]
            _write(bar, operation, index, ["" if x == "" else 0.0 for x in row])
            yield from shares
        elif operation == ROWS and self.has(i):
            bar, width = self.of(i), graph.arrays[i].width
            for k, x in enumerate(arguments[2:]):
                if isinstance(x, int) and x in moving:
                    yield x, _read(bar, READ, str(k % width), float(k // width))


# Loops.


def _parts(
    graph: Graph, call: int
) -> tuple[str, Routine, Sequence[int | float], Sequence[int | float], Sequence[int]]:
    """A loop's name and routine, the outside values that its step reads, its first state, and its
    arrays before it."""
    name, lend, *state = graph.nodes[call][1]
    _, frame, *arrays = graph.nodes[lend][1]
    routine = graph.routines[name]
    if routine.repetition is None or routine.repetition.reads:
        raise TypeError("derivatives of derivatives need loops that are unrolled")
    shared = graph.nodes[frame][1][1 : 1 + routine.shared]
    return name, routine, shared, state, arrays


def _keep(graph: Graph, name: str, kept: bool, begun: bool) -> None:
    """Let a loop keep its states and arrays before each step, or a copy of its arrays before it."""
    routine = graph.routines[name]
    how = routine.repetition
    assert how is not None
    how = replace(how, kept=how.kept or kept, begun=how.begun or begun)
    if how.kept:  # the backward loop reads the values kept before each step
        how = replace(how, needed=None, last=None)
    graph.routines[name] = replace(routine, repetition=how)


def _begun(graph: Graph, name: str, call: int, j: int, routine: Routine) -> RecordedRows:
    """A copy of array j of a loop, as it was before the loop."""
    node = graph.node(BEGUN, name, call, str(j))
    graph.arrays[node] = ArrayNode(node, routine.arrays[j].rows, routine.arrays[j].width)
    return RecordedRows(graph, node, Symbol, local)


def _handle(memory: RecordedRows) -> RowArray:
    """An array of a recording, as loops take it."""
    _, rows, width = memory.graph.arrays[memory.array]
    handle = RowArray([[0.0] * width] * rows)
    handle.memory = memory
    return handle


def array_loop_tangents(
    graph: Graph,
    call: int,
    dot: Mapping[int, Scalar],
    arrays: ArrayTangents,
    tables: Mapping[str, Table],
    pushforward: Callable[..., list[Scalar]],
) -> list[Scalar]:
    """Tangents of the last state of a loop with arrays, by a loop that carries the tangents next to
    the state and the arrays."""
    name, routine, shared, state, before = _parts(graph, call)
    assert routine.repetition is not None
    first = [dot.get(x, 0.0) if isinstance(x, int) else 0.0 for x in state]
    entries = {k for k, x in enumerate(shared) if isinstance(x, int) and is_moving(dot.get(x, 0.0))}
    begin = {k for k, t in enumerate(first) if is_moving(t)}
    with_tangents = {j for j, x in enumerate(before) if arrays.has(x)}
    active, active_arrays = active_entries(routine, begin, entries, tables.keys(), with_tangents)
    _keep(graph, name, kept=False, begun=True)
    # The repeated loop begins with copies, because the first one changes the arrays.
    number, size = len(routine.arrays), len(state)
    handles = [_handle(_begun(graph, name, call, j, routine)) for j in range(number)]
    tangents_of_arrays = [_handle(arrays.of(before[j])) for j in active_arrays]

    def step(k: Any, values: list[Any], lent: Sequence[RowArray]) -> list[Any]:
        inside, here = k.graph, values[:size]
        seen = outside_values(graph, inside, shared)
        memory = [x.memory for x in lent]
        given = [x.array for x in memory[:number]]
        after, nodes = replay_step(routine, inside, seen, here, k, given)
        for x, node in zip(memory, nodes, strict=False):
            x.array = node
        wrt = [*(here[m] for m in active), *(seen[m] for m in sorted(entries))]
        along = [*values[size:], *(dot[int(shared[m])] for m in sorted(entries))]
        inner = ArrayTangents(
            inside,
            [given[j] for j in active_arrays],
            [nodes[j] for j in active_arrays],
            memory[number:],
        )
        tangents = pushforward(wrt, along, after, tables, inner)
        return [*after, *(tangents[m] for m in active)]

    start: list[Any] = [*symbols_of(graph, state), *(first[k] for k in active)]
    lent = [*handles, *tangents_of_arrays]
    end = record_loop_of(Symbol(graph, call), routine.repetition.times, step, start, lent, local)
    for j, handle in zip(active_arrays, tangents_of_arrays, strict=True):
        arrays.memory[graph.arrays[before[j]].root] = handle.memory
    found = dict(zip(active, end[size:], strict=True))
    return [found.get(k, 0.0) for k in range(size)]


def array_loop_adjoints(
    graph: Graph,
    call: int,
    bars: Mapping[int, Scalar],
    moving: Set[int],
    arrays: ArrayAdjoints,
    tables: Set[str],
    pull_back: Callable[..., Any],
) -> list[tuple[int, Scalar]]:
    """Adjoints of the first state of a loop with arrays and of the values that its step reads, from
    those of its last state and of its arrays after it, which become those before it."""
    name, routine, shared, state, before = _parts(graph, call)
    assert routine.repetition is not None
    if looks(routine, tables):
        raise TypeError(
            "a loop with arrays that looks up a table has no derivative by the table; look it up in "
            "`repeat`, or detach the table"
        )
    entries, begin, varying = (_places_of(x, moving) for x in (shared, state, before))
    active, active_arrays = active_entries(routine, begin, entries, frozenset(), varying)
    written = [j for j, x in enumerate(routine.arrays) if x.is_written]
    only_read = [j for j in range(len(routine.arrays)) if j not in written]
    _keep(graph, name, kept=True, begun=bool(only_read))
    adjoints = [_handle(arrays.of(before[j])) for j in active_arrays]
    copies = [_handle(_begun(graph, name, call, j, routine)) for j in only_read]
    # The state of the backward loop: adjoints of the active entries, then sums of the adjoints of
    # outside values. Its arrays: the adjoints, then the copies.
    times, total_from, number = routine.repetition.times, len(active), len(adjoints)

    def step(k: Any, values: list[Any], lent: Sequence[RowArray]) -> list[Any]:
        inside, bar, total = k.graph, values[:total_from], values[total_from:]
        here = [Symbol(inside, inside.node("input", KEPT, m)) for m in range(len(state))]
        seen = outside_values(graph, inside, shared)
        memory = [x.memory for x in lent]
        given = dict(zip(only_read, (x.array for x in memory[number:]), strict=True))
        given |= _kept_arrays(inside, routine, written)
        nodes = [given[j] for j in range(len(routine.arrays))]
        after, then = replay_step(routine, inside, seen, here, (times - 1.0) - k, nodes)
        wrt = [*(here[m] for m in active), *(seen[m] for m in sorted(entries))]
        inner = ArrayAdjoints(
            inside,
            [nodes[j] for j in active_arrays],
            [then[j] for j in active_arrays],
            memory[:number],
        )
        back, _ = pull_back(wrt, [after[m] for m in active], bar, arrays=inner)
        shares = zip(total, back[total_from:], strict=True)
        return [*back[:total_from], *(t + share for t, share in shares)]

    last: list[Any] = [*(bars.get(k, 0.0) for k in active), *(0.0 for _ in entries)]
    lent = [*adjoints, *copies]
    end = record_loop_of(Symbol(graph, call), times, step, last, lent, local, reads=call)
    for j, handle in zip(active_arrays, adjoints, strict=True):
        arrays.memory[graph.arrays[before[j]].root] = handle.memory
    found: list[tuple[int, Scalar]] = [
        (int(state[k]), x) for k, x in zip(active, end, strict=False) if k in begin
    ]
    found += zip((int(shared[k]) for k in sorted(entries)), end[total_from:], strict=True)
    return found


def _places_of(values: Sequence[int | float], moving: Set[int]) -> set[int]:
    return {k for k, x in enumerate(values) if isinstance(x, int) and x in moving}


def _kept_arrays(inside: Graph, routine: Routine, written: Sequence[int]) -> dict[int, int]:
    """The nodes of the arrays that a loop has kept before a step, behind its state."""
    found: dict[int, int] = {}
    offset = routine.column
    for m, j in enumerate(written):
        x = routine.arrays[j]
        node = found[j] = inside.node(KEPT_ROWS, str(m), str(offset))
        inside.arrays[node] = ArrayNode(node, x.rows, x.width)
        offset += x.size
    return found

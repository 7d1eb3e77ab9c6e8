"""Loops with arrays on symbols: `algebra.row_arrays.loop`, with the step recorded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, copysign
from typing import Any

from .array_operations import (
    COUNTER,
    GATHER,
    GIVEN,
    LEFT,
    LEND,
    READ,
    READS,
    ROWS,
    SCATTER,
    UNSET,
    WRITE,
    ZEROS,
)
from .graph import (
    COLUMN,
    KEPT_WHOLE,
    SHARED,
    ArrayNode,
    Graph,
    LoopArray,
    Repetition,
    Routine,
    segments,
)

Local = Callable[[Graph, Any], Any]
"""A symbol of a graph for one of that graph or of one around it (`recorder.local`)."""


class RecordedRows:
    """The memory of an array in a recording: the node that stands for its current contents."""

    __slots__ = ("array", "graph", "local", "make")

    def __init__(self, graph: Graph, array: int, make: Any, local: Local):
        self.graph, self.array, self.make, self.local = graph, array, make, local

    @property
    def symbol(self) -> Any:
        """A symbol of the graph, from which loops are recorded."""
        return self.make(self.graph, self.array)

    def read(self, index: Any) -> list[Any]:
        """The entries of a row."""
        graph, place = self.graph, self._place(index)
        operation = READ if _is_uniform(graph, place) else GATHER
        width = graph.arrays[self.array].width
        nodes = [graph.node(operation, self.array, str(j), place) for j in range(width)]
        return [self.make(graph, node) for node in nodes]

    def write(self, index: Any, row: Sequence[Any]) -> None:
        """Replace a row."""
        graph = self.graph
        if graph.open[-1] is not graph:
            raise TypeError(
                "an array of a loop is written in a loop further in; pass the array to that loop, "
                "in `arrays` of `loop`"
            )
        place = self._place(index)
        values = [self._value(place, j, x) for j, x in enumerate(row)]
        if all(x == "" for x in values):
            return
        operation = WRITE if _is_uniform(graph, place) else SCATTER
        after = graph.node(operation, self.array, place, *values)
        graph.arrays[after] = graph.arrays[self.array]
        self.array = after

    def _value(self, place: int | float, j: int, x: Any) -> int | float | str:
        """The value of an entry as an argument, or "" if the entry already has this value."""
        if not isinstance(x, self.make):
            return float(x)
        node = self.local(self.graph, x).plain()
        operation, arguments = self.graph.nodes[node]
        if operation in READS and arguments == (self.array, str(j), place):
            return ""
        return node

    def _place(self, index: Any) -> int | float:
        """An index as an argument of a node."""
        if not isinstance(index, self.make):
            return float(index)
        if index.graph.depth > self.graph.depth:
            raise TypeError(
                "an array is read in a loop further in, at an index of that loop; pass the array to "
                "that loop, in `arrays` of `loop`"
            )
        return self.local(self.graph, index).plain()


def unroll_array_loop(
    times: int,
    step: Callable[[Any, list[Any], Sequence[Any]], Sequence[Any]],
    state: Sequence[Any],
    arrays: Sequence[Any],
) -> list[Any]:
    """The state after a loop whose steps are recorded one after the other; the arrays are lists."""
    for x in arrays:
        x.content = [*x.content]
    after = list(state)
    for k in range(times):
        after = list(step(float(k), after, arrays))
    return after


UNIFORM = (
    "add",
    "sub",
    "mul",
    "neg",
    "rcp",
    "floor",
    "abs",
    "min",
    "max",
    "select",
    "select_equal",
)
"""Operations whose result is equal in all lanes if their operands are."""


def _is_uniform(graph: Graph, place: int | float) -> bool:
    """True if an index is the same for all environments, because it follows from counters."""
    if isinstance(place, float):
        return True
    operation, arguments = graph.nodes[place]
    if operation == "input" and arguments[0] == SHARED:
        assert graph.around is not None
        return _is_uniform(graph.around, list(graph.captured)[arguments[1]])
    if operation == "input":
        return arguments[0] == COUNTER
    if operation == READ and graph.arrays[arguments[0]].root in graph.constants:
        return _is_uniform(graph, arguments[2])
    return operation in UNIFORM and all(_is_uniform(graph, x) for x in arguments)


def record_array_loop(
    symbol: Any,
    times: int,
    step: Callable[[Any, list[Any], Sequence[Any]], Sequence[Any]],
    state: Sequence[Any],
    arrays: Sequence[Any],
    local: Local,
    needed: Any = None,
    last: int | None = None,
) -> list[Any]:
    """The state after a loop, which also changes the arrays.

    If the recording is to be differentiated, more than KEPT_WHOLE steps become a loop of loops, all
    of whose steps run, needed or not.
    """
    graph = symbol.graph.open[-1]
    if graph.rolls or times <= KEPT_WHOLE:
        ends = {"needed": needed, "last": last}
        return record_loop_of(symbol, times, step, state, arrays, local, **ends)
    first, number, length = segments(times)
    if first:
        state = record_loop_of(symbol, first, step, state, arrays, local)

    def segment(n: Any, here: list[Any], _: Sequence[Any]) -> list[Any]:
        begin = n * length + first

        def step_within(k: Any, state: list[Any], arrays: Sequence[Any]) -> Sequence[Any]:
            return step(k + begin, state, arrays)

        return record_loop_of(n, length, step_within, here, arrays, local)

    return record_loop_of(symbol, number, segment, state, arrays, local)


def record_loop_of(
    symbol: Any,
    times: int,
    step: Callable[[Any, list[Any], Sequence[Any]], Sequence[Any]],
    state: Sequence[Any],
    arrays: Sequence[Any],
    local: Local,
    reads: int | None = None,
    needed: Any = None,
    last: int | None = None,
) -> list[Any]:
    """The state after one loop. `reads`: the call of a loop whose kept states the steps read, the
    last one first. `needed`: the number of steps that have an effect. `last`: the entry of the
    state that holds this number.

    It is recorded in the innermost graph that is open, because the
    arrays change with each step of the loop around it."""
    graph, make = symbol.graph.open[-1], type(symbol)
    lent = [memory_of(x, graph, make, local) for x in arrays]
    inside = Graph(around=graph)
    counter = make(inside, inside.node("input", COUNTER, 0))
    before = [inside.node(GIVEN, str(j)) for j in range(len(arrays))]
    for x, given in zip(arrays, before, strict=True):
        inside.arrays[given] = ArrayNode(given, len(x), x.width)
        if x.constant:
            inside.constants.add(given)
        x.memory = RecordedRows(inside, given, make, local)

    def run_step() -> list[Any]:
        column = [make(inside, inside.node("input", COLUMN, k)) for k in range(len(state))]
        after = list(step(counter, column, arrays))
        if len(after) != len(state):
            raise ValueError(
                f"a step must return as many numbers as its state has, {len(state)}; got {len(after)}"
            )
        return after

    try:
        results = inside.run(run_step)
        after = [x.memory.array for x in arrays]
    finally:
        for x, outside in zip(arrays, lent, strict=True):
            x.memory = outside
    of_loop = tuple(
        LoopArray(len(x), x.width, *nodes) for x, *nodes in zip(arrays, before, after, strict=True)
    )
    flat = tuple(local(inside, x) if isinstance(x, make) else float(x) for x in results)
    entry = None
    # A computed number of steps ends the loop at run time; a known one shortens it here.
    if isinstance(needed, make):
        inner = local(inside, make(graph, local(graph, needed).plain()))
        entry = inside.nodes[inner.index][1][1]
    elif needed is not None:
        times = min(times, max(ceil(needed), 0))
    # The loop whose kept states are read comes first: its state is one more value from outside.
    shared, source = values_from_outside(graph, inside, reads)
    routine = Routine(
        inside,
        len(shared),
        len(state),
        flat,
        Repetition(times, reads=source, counts=True, needed=entry, last=last),
        arrays=of_loop,
    )
    initial = [local(graph, x).plain() if isinstance(x, make) else float(x) for x in state]
    call = call_array_loop(graph, routine, shared, initial, [x.array for x in lent])
    name = graph.nodes[call][1][0]
    for j, (x, within) in enumerate(zip(lent, of_loop, strict=True)):
        if within.is_written:
            left = graph.node(LEFT, name, call, str(j))
            graph.arrays[left] = graph.arrays[x.array]
            x.array = left
    return [make(graph, graph.node("of", name, call, str(k))) for k in range(len(state))]


def values_from_outside(
    graph: Graph, inside: Graph, reads: int | None
) -> tuple[list[int], str | None]:
    """Values of `graph` that the steps of a loop read, and the name of the loop whose kept states
    they read. `reads`: the call of that loop, which comes before."""
    shared = [*inside.captured]
    if reads is None:
        return shared, None
    source = graph.nodes[reads][1][0]
    first_state = str(graph.routines[source].column)
    return [*shared, graph.node("of", source, reads, first_state)], source


def call_array_loop(
    graph: Graph,
    routine: Routine,
    shared: Sequence[int],
    state: Sequence[int | float],
    arrays: Sequence[int],
) -> int:
    """The node of a call of a loop with arrays."""
    name = f"routine{len(graph.routines)}"
    graph.routines[name] = routine
    frame = graph.node("frame", name, *shared)
    lend = graph.node(LEND, name, frame, *arrays)
    return graph.node("call", name, lend, *state)


SMALL = 32
"""Entries up to which a new array is one statement. A larger one is written row by row: the values of
one statement are all alive at once."""


def _new_array(graph: Graph, rows: Sequence[Sequence[int | float]]) -> int:
    name = f"array{len(graph.arrays)}"  # arrays with equal values are still different arrays
    number, width = len(rows), len(rows[0])
    written = {
        k: [x if isinstance(x, int) or x or copysign(1.0, x) < 0 else "" for x in row]
        for k, row in enumerate(rows)
    }
    written = {k: row for k, row in written.items() if any(x != "" for x in row)}
    if written and number * width <= SMALL:
        node = graph.node(ROWS, name, str(width), *(x for row in rows for x in row))
        graph.arrays[node] = ArrayNode(node, number, width)
        return node
    covered = len(written) == number and all(x != "" for row in written.values() for x in row)
    node = empty_array(graph, UNSET if covered else ZEROS, number, width)
    array = graph.arrays[node]
    for k, row in written.items():
        node = graph.node(WRITE, node, float(k), *row)
        graph.arrays[node] = array
    return node


def empty_array(graph: Graph, operation: str, rows: int, width: int) -> int:
    """The node of a new array of zeros, or without values."""
    node = graph.node(operation, f"array{len(graph.arrays)}", str(rows), str(width))
    graph.arrays[node] = ArrayNode(node, rows, width)
    return node


def memory_of(rows: Any, graph: Graph, make: Any, local: Local) -> RecordedRows:
    """The memory of an array in a graph; made of its contents if the array has none yet."""
    if rows.memory is None and rows.is_unset:
        return RecordedRows(graph, empty_array(graph, UNSET, len(rows), rows.width), make, local)
    if rows.memory is None:
        values = [
            [local(graph, x).plain() if isinstance(x, make) else float(x) for x in row]
            for row in rows.content
        ]
        node = _new_array(graph, values)
        if rows.constant:
            graph.constants.add(graph.arrays[node].root)
        return RecordedRows(graph, node, make, local)
    memory: RecordedRows = rows.memory
    if memory.graph is not graph:
        raise TypeError(
            "an array of a loop is passed to a loop inside another loop that does not have it; "
            "pass it to both, in `arrays` of `loop` (`repeat` cannot pass arrays on)"
        )
    return memory

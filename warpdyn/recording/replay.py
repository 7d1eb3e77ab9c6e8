"""Recording a loop's step again in another graph, which the derivatives of all loops need."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from ..algebra.scalar import Scalar, look
from .array_operations import (
    ARRAY_OPERATIONS,
    COUNTER,
    GIVEN,
    LEFT,
    LEND,
    READS,
    ROWS,
    UNSET,
    WRITES,
    ZEROS,
)
from .graph import COLUMN, CONSTANT, SHARED, ArrayNode, Graph, Routine
from .number_operations import ON_NUMBERS
from .order import visit_nodes
from .program import ProgramTable
from .recorder import Symbol, local
from .table import LOOK, looks


def carriers(operation: str, arguments: Sequence[Any]) -> list[int]:
    """The arguments of a node by which its value has a derivative; an index is not among them."""
    if operation in READS:
        return [arguments[0]]
    if operation in WRITES:
        return [x for k, x in enumerate(arguments) if isinstance(x, int) and k != 1]
    if operation == CONSTANT:
        return list(arguments[1:])
    ends = ("input", LOOK)
    return [x for x in arguments if isinstance(x, int)] if operation not in ends else []


def with_sign(value: Scalar, x: Symbol) -> Scalar:
    """The value of a symbol, from the value of its node."""
    return -value if x.negative else value


def is_moving(tangent: Scalar) -> bool:
    """True unless the tangent is the number 0."""
    return not (isinstance(tangent, (int, float)) and tangent == 0.0)


def active_entries(
    routine: Routine,
    state: Set[int],
    shared: Set[int],
    tables: Set[str],
    arrays: Set[int] = frozenset(),
) -> tuple[list[int], list[int]]:
    """Entries of a loop's state, and its arrays, that vary after some step if those of `state` and
    `arrays` vary before the first step, and if `shared` of the outside values and `tables` vary."""
    active, active_arrays = set(state), set(arrays)
    while True:
        moving: set[int] = set()
        for i, (operation, arguments) in enumerate(routine.graph.nodes):
            if operation == "input":
                entries = {COLUMN: active, SHARED: shared, COUNTER: frozenset[int]()}[arguments[0]]
                moves = arguments[1] in entries
            elif operation == GIVEN:
                moves = int(arguments[0]) in active_arrays
            elif operation == LOOK:
                moves = arguments[0] in tables
            elif operation == "call" and looks(routine.graph.routines[arguments[0]], tables):
                moves = True
            else:
                moves = any(x in moving for x in carriers(operation, arguments))
            if moves:
                moving.add(i)
        results = enumerate(routine.results[: routine.column])
        then = active | {k for k, x in results if isinstance(x, Symbol) and x.index in moving}
        written = {j for j, x in enumerate(routine.arrays) if x.after in moving}
        if then == active and written <= active_arrays:
            return sorted(active), sorted(active_arrays)
        active, active_arrays = then, active_arrays | written


def symbols_of(graph: Graph, nodes: Sequence[int | float]) -> list[Any]:
    return [Symbol(graph, x) if isinstance(x, int) else x for x in nodes]


def outside_values(graph: Graph, inside: Graph, shared: Sequence[int | float]) -> list[Any]:
    """The outside values of a step, as values of another step in the same place."""
    return [local(inside, x) if isinstance(x, Symbol) else x for x in symbols_of(graph, shared)]


def replay_step(
    routine: Routine,
    graph: Graph,
    shared: Sequence[Any],
    column: Sequence[Any],
    counter: Any = None,
    arrays: Sequence[int] = (),
) -> tuple[list[Any], list[int]]:
    """The next state of a step that is recorded once more, in another graph, for other inputs, and
    the nodes of its arrays after the step.

    `counter`: the number of the step; `arrays`: the nodes of its arrays in that graph.
    """
    inputs = {SHARED: shared, COLUMN: column, COUNTER: [counter]}
    results = routine.results[: routine.column]
    values: dict[int, Any] = {}
    written = [x.after for x in routine.arrays]
    roots = [x.index for x in results if isinstance(x, Symbol)]
    visited = visit_nodes(routine.graph, [*roots, *written])
    # With arrays, the order of the recording decides what a read finds.
    for i in sorted(visited) if routine.graph.arrays else visited:
        operation, arguments = routine.graph.nodes[i]
        if operation == "input":
            values[i] = inputs[arguments[0]][arguments[1]]
            continue
        operands = [values[x] if isinstance(x, int) else x for x in arguments]
        if operation == GIVEN:
            values[i] = Symbol(graph, arrays[int(arguments[0])])
        elif operation in ARRAY_OPERATIONS:
            values[i] = _replay_array(routine.graph, i, graph, operands)
        elif operation in ("frame", "call", "of"):
            values[i] = _replay_loop(routine.graph, i, graph, operands)
        elif operation == LOOK:
            values[i] = look(ProgramTable(graph, operands[0]), *operands[1:])
        else:
            values[i] = ON_NUMBERS[operation](*operands)
    signed = [with_sign(values[x.index], x) if isinstance(x, Symbol) else x for x in results]
    after = [local(graph, x) if isinstance(x, Symbol) else x for x in signed]
    given = {x.before: node for x, node in zip(routine.arrays, arrays, strict=True)}
    return after, [given[i] if i in given else values[i].index for i in written]


def _replay_loop(source: Graph, i: int, graph: Graph, operands: Sequence[Any]) -> Symbol:
    """A node of an inner loop (its frame, its call or one of its results), node i of `source`,
    recorded once more in another graph."""
    operation, arguments = source.nodes[i]
    if operation == "frame":
        name = f"routine{len(graph.routines)}"
        graph.routines[name] = source.routines[arguments[0]]
        return Symbol(graph, graph.node("frame", name, *plain_operands(operands[1:])))
    # A call names the routine of its frame, and a result that of its call.
    before = operands[1].index
    name = graph.nodes[before][1][0]
    rest = plain_operands(operands[2:]) if operation == "call" else [arguments[2]]
    return Symbol(graph, graph.node(operation, name, before, *rest))


def _replay_array(source: Graph, i: int, graph: Graph, operands: Sequence[Any]) -> Symbol:
    """An array operation of a step, node i of `source`, recorded once more in another graph."""
    operation = source.nodes[i][0]
    if operation in READS:
        array, j, index = operands
        place = plain_operands([index])[0]
        return Symbol(graph, graph.node(operation, array.index, j, place))
    if operation == LEND:
        frame, lent = operands[1], operands[2:]
        name = graph.nodes[frame.index][1][0]
        return Symbol(graph, graph.node(LEND, name, frame.index, *(x.index for x in lent)))
    if operation in (ROWS, ZEROS, UNSET):
        # The new name makes it a different array.
        name = f"array{len(graph.arrays)}"
        sizes = operands[1:2] if operation == ROWS else operands[1:3]
        rest = plain_operands(operands[2:]) if operation == ROWS else []
        node = graph.node(operation, name, *sizes, *rest)
        graph.arrays[node] = ArrayNode(node, *source.arrays[i][1:])
        return Symbol(graph, node)
    if operation == LEFT:
        _, call, j = operands
        name, lend = graph.nodes[call.index][1][:2]
        before = graph.nodes[lend][1][2 + int(j)]
        node = graph.node(LEFT, name, call.index, j)
    elif operation in WRITES:
        array, index, *row = operands
        before = array.index
        entries = [x if isinstance(x, str) else plain_operands([x])[0] for x in row]
        node = graph.node(operation, before, plain_operands([index])[0], *entries)
    else:
        raise TypeError(
            f"derivatives of derivatives of loops with arrays need `unrolls`: {operation}"
        )
    graph.arrays[node] = graph.arrays[before]
    return Symbol(graph, node)


def plain_operands(values: Sequence[Any]) -> list[int | float]:
    return [x.plain() if isinstance(x, Symbol) else float(x) for x in values]

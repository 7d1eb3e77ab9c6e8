"""Derivatives of a recording: tangents forward, adjoints backward, as further nodes of the
same graph.

Griewank and Walther, Evaluating Derivatives (2008), chapters 3.1 and 3.2. Constants are not
differentiated. Unused results are dropped with all other dead nodes, so a derivative's program
contains only the parts of the function that it needs.

The derivative of a loop is a loop. Forward, its step carries the tangents along with the state.
Backward, it visits the states, which the first loop has kept, from the last to the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..algebra.scalar import Scalar, Table, look
from .array_derivatives import (
    ArrayAdjoints,
    ArrayTangents,
    array_loop_adjoints,
    array_loop_tangents,
)
from .array_operations import ARRAY_OPERATIONS
from .graph import KEPT, Graph, Routine
from .partials import (
    CHOICES,
    adjoints_of_choice,
    operands,
    partials,
    product,
    tangent_of_choice,
    unsafe_nodes,
)
from .recorder import Symbol
from .replay import (
    active_entries,
    carriers,
    is_moving,
    outside_values,
    replay_step,
    symbols_of,
    with_sign,
)
from .table import LOOK, PUSHED, Touch, looks


def pushforward(
    wrt: Sequence[Symbol],
    tangents: Sequence[Scalar],
    outputs: Sequence[Scalar],
    tables: Mapping[str, Table] = MappingProxyType({}),
    arrays: ArrayTangents | None = None,
) -> list[Scalar]:
    """J u: tangents of `outputs` for the given tangents of the inputs `wrt`. `tables`: for each
    table, the table with the tangents of its numbers. `arrays`: the tangents of the arrays of a
    loop; on return, their tangents after the step."""
    first = _first_symbol(wrt, outputs)
    if arrays:
        first = arrays.symbol
    if first is None or not (wrt or tables or arrays):
        return [0.0 for _ in outputs]
    graph = first.graph
    dot: dict[int, Scalar] = {x.index: t for x, t in zip(wrt, tangents, strict=True)}
    loops: dict[int, Sequence[Scalar]] = {}
    arrays = arrays or ArrayTangents(graph)
    # Only nodes between inputs and outputs need tangents. All others have none, and are missing in
    # `dot`.
    start = {**dot, **dict.fromkeys(arrays.before)}
    between = _between(graph, start, [*outputs, *arrays.after], tables.keys())
    unsafe = unsafe_nodes(graph, between[-1] + 1 if between else 0)
    for i in between:
        operation, arguments = graph.nodes[i]
        if operation == "call":
            if _has_arrays(graph, i):
                loops[i] = array_loop_tangents(graph, i, dot, arrays, tables, pushforward)
            else:
                loops[i] = _loop_tangents(graph, i, dot, tables)
        if operation in ARRAY_OPERATIONS:
            arrays.tangent(i, dot)
            continue
        if operation == LOOK:
            _, *place = operands(graph, i)
            dot[i] = look(tables[arguments[0]], *place)
            continue
        if operation == "of":
            dot[i] = loops[arguments[1]][int(arguments[2])]
        if operation in ROLLED:
            continue
        dot[i] = _tangent(graph, i, dot, unsafe)
    return [with_sign(dot.get(x.index, 0.0), x) if isinstance(x, Symbol) else 0.0 for x in outputs]


def _tangent(graph: Graph, i: int, dot: dict[int, Scalar], unsafe: Set[int]) -> Scalar:
    """The tangent of an operation on numbers."""
    total: Scalar = 0.0
    for j, factors in partials(graph, i, unsafe):
        if j in dot:
            total = total + product(factors, dot[j])
    return tangent_of_choice(graph, i, dot) if graph.nodes[i][0] in CHOICES else total


def pullback(
    wrt: Sequence[Symbol], outputs: Sequence[Scalar], cotangents: Sequence[Scalar]
) -> list[Scalar]:
    """Jᵀ w: the derivative of `cotangents` times `outputs` by each of the inputs `wrt`."""
    return pull_back(wrt, outputs, cotangents)[0] if wrt else []


def pull_back(
    wrt: Sequence[Symbol],
    outputs: Sequence[Scalar],
    cotangents: Sequence[Scalar],
    tables: Set[str] = frozenset(),
    arrays: ArrayAdjoints | None = None,
) -> tuple[list[Scalar], list[Touch]]:
    """The result of `pullback`, and the derivatives by single numbers of `tables`. `arrays`: the
    adjoints of the arrays of a loop after its step, which are then those before it."""
    first = _first_symbol(wrt, outputs)
    if arrays:
        first = arrays.symbol
    if first is None:
        return [0.0 for _ in wrt], []
    graph, touches = first.graph, list[Touch]()
    bar: dict[int, Scalar] = {}

    def add(i: int, value: Scalar) -> None:
        bar[i] = bar[i] + value if i in bar else value

    for x, w in zip(outputs, cotangents, strict=True):
        if isinstance(x, Symbol):
            add(x.index, with_sign(w, x))
    arrays = arrays or ArrayAdjoints(graph)
    start = dict.fromkeys([*(x.index for x in wrt), *arrays.before])
    reached = _between(graph, start, [*outputs, *arrays.after], tables)
    moving = {*reached, *start}
    loops: dict[int, dict[int, Scalar]] = {}
    unsafe = unsafe_nodes(graph, reached[-1] + 1 if reached else 0)
    # Backward through the nodes: when node i is reached, every node that reads it has added to its
    # adjoint. For a loop the adjoints of all its results are collected first.
    for i in reversed(reached):
        if graph.nodes[i][0] in ARRAY_OPERATIONS:
            for j, share in arrays.adjoints(i, bar.pop(i, None), moving):
                add(j, share)
            continue
        if graph.nodes[i][0] == "call" and _has_arrays(graph, i):
            for j, share in array_loop_adjoints(
                graph, i, loops.pop(i, {}), moving, arrays, tables, pull_back
            ):
                add(j, share)
        if i in loops:
            shares, more = _loop_adjoints(graph, i, loops.pop(i), moving, tables)
            touches += more
            for j, share in shares:
                add(j, share)
        if i not in bar:
            continue
        w = bar.pop(i)
        if graph.nodes[i][0] == LOOK:
            name, *place = operands(graph, i)
            touches.append(Touch(name, w, *place))
            continue
        if graph.nodes[i][0] == "of":
            _, call, k = graph.nodes[i][1]
            loops.setdefault(call, {})[int(k)] = w
            continue
        if graph.nodes[i][0] in CHOICES:
            for j, share in adjoints_of_choice(graph, i, w):
                if j in moving:
                    add(j, share)
            continue
        for j, factors in partials(graph, i, unsafe):
            if j in moving:
                add(j, product(factors, w))
    return [bar.get(x.index, 0.0) for x in wrt], touches


def _first_symbol(wrt: Sequence[Symbol], outputs: Sequence[Scalar]) -> Symbol | None:
    return next((x for x in (*wrt, *outputs) if isinstance(x, Symbol)), None)


def _between(
    graph: Graph, start: Mapping[int, object], outputs: Sequence[Scalar], tables: Set[str]
) -> list[int]:
    """Nodes on the way from the nodes of `start`, and from look-ups of `tables`, to `outputs`, in
    order."""
    ends = [x.index for x in outputs if isinstance(x, Symbol)]
    moving = set(start)
    for i in range(max(ends, default=-1) + 1):
        operation, arguments = graph.nodes[i]
        if operation == LOOK:  # its index is a whole number, by which a look-up has no derivative
            moves = arguments[0] in tables
        elif operation == "call" and looks(graph.routines[arguments[0]], tables):
            moves = True
        else:
            moves = any(x in moving for x in carriers(operation, arguments))
        if operation != "input" and moves:
            moving.add(i)
    needed, waiting = set(), [i for i in ends if i in moving]
    while waiting:
        i = waiting.pop()
        if i not in needed:
            needed.add(i)
            waiting += [x for x in carriers(*graph.nodes[i]) if x in moving]
    return sorted(needed - set(start))


# Loops.

ROLLED = ("frame", "call", "of")
"""Operations that represent a loop."""


def _has_arrays(graph: Graph, call: int) -> bool:
    """True if a call is that of a loop with arrays."""
    repetition = graph.routines[graph.nodes[call][1][0]].repetition
    return repetition is not None and repetition.counts


def _parts(graph: Graph, i: int) -> tuple[Routine, Sequence[int | float], Sequence[int | float]]:
    """A loop's routine, the outside values that its step reads, and its first state."""
    name, frame, *state = graph.nodes[i][1]
    routine = graph.routines[name]
    if routine.repetition is None or routine.repetition.ends or routine.repetition.reads:
        raise TypeError("only a loop that is repeated a known number of times has derivatives")
    return routine, graph.nodes[frame][1][1 : 1 + routine.shared], state


def _loop_tangents(
    graph: Graph, i: int, dot: Mapping[int, Scalar], tables: Mapping[str, Table]
) -> list[Scalar]:
    """Tangents of a loop's last state, by a loop that carries the tangents next to the state."""
    routine, shared, state = _parts(graph, i)
    assert routine.repetition is not None
    first = [dot.get(x, 0.0) if isinstance(x, int) else 0.0 for x in state]
    entries = {k for k, x in enumerate(shared) if isinstance(x, int) and is_moving(dot.get(x, 0.0))}
    active, _ = active_entries(
        routine, {k for k, t in enumerate(first) if is_moving(t)}, entries, tables.keys()
    )

    def step(values: Sequence[Any]) -> list[Any]:
        here, inside = values[: len(state)], values[0].graph
        seen = outside_values(graph, inside, shared)
        after, _ = replay_step(routine, inside, seen, here)
        wrt = [*(here[k] for k in active), *(seen[k] for k in sorted(entries))]
        along = [*values[len(state) :], *(dot[int(shared[k])] for k in sorted(entries))]
        tangents = pushforward(wrt, along, after, tables)
        return [*after, *(tangents[k] for k in active)]

    begin: list[Any] = [*symbols_of(graph, state), *(first[k] for k in active)]
    end = Symbol(graph, i).record_loop(step, begin, routine.repetition.times, None)
    tangents = dict(zip(active, end[len(state) :], strict=True))
    return [tangents.get(k, 0.0) for k in range(len(state))]


def _loop_adjoints(
    graph: Graph, i: int, bars: Mapping[int, Scalar], moving: Set[int], tables: Set[str]
) -> tuple[list[tuple[int, Scalar]], list[Touch]]:
    """Adjoints of a loop's first state and of the values that its step reads, from those of its
    last state, and the step's look-ups.

    The look-ups of each step are pushed into a register at the end of the state.
    """
    routine, shared, state = _parts(graph, i)
    # The first loop must now keep its states, because the step backward is linearised at each of
    # them.
    assert routine.repetition is not None
    name = graph.nodes[i][1][0]
    graph.routines[name] = replace(routine, repetition=replace(routine.repetition, kept=True))
    entries = {k for k, x in enumerate(shared) if isinstance(x, int) and x in moving}
    begin = {k for k, x in enumerate(state) if isinstance(x, int) and x in moving}
    active, _ = active_entries(routine, begin, entries, tables)
    times, total_from = routine.repetition.times, len(active)
    register = total_from + len(entries)
    width = len(PUSHED) * (looks(routine, tables) // times)
    names: list[str] = []

    # The state of the backward loop: adjoints of the active entries, sums of the adjoints of
    # outside values, then the register.
    def step(values: Sequence[Any]) -> list[Any]:
        inside, bar, total = values[0].graph, values[:total_from], values[total_from:register]
        here = [Symbol(inside, inside.node("input", KEPT, k)) for k in range(len(state))]
        seen = outside_values(graph, inside, shared)
        after, _ = replay_step(routine, inside, seen, here)
        wrt = [*(here[k] for k in active), *(seen[k] for k in sorted(entries))]
        back, touches = pull_back(wrt, [after[k] for k in active], bar, tables)
        shares = zip(total, back[total_from:], strict=True)
        names[:] = [touch.table for touch in touches]
        pushed = [x for touch in touches for x in touch[1:]]
        pushed += [0.0] * (width - len(pushed))
        kept = values[register : len(values) - width]
        return [*back[:total_from], *(t + share for t, share in shares), *pushed, *kept]

    last: list[Any] = [*(bars.get(k, 0.0) for k in active), *(0.0 for _ in entries)]
    last += [0.0] * (width * times)
    end = Symbol(graph, i).record_loop(step, last, times, None, reads=i)
    found: list[tuple[int, Scalar]] = [
        (int(state[k]), x) for k, x in zip(active, end, strict=False) if k in begin
    ]
    found += zip((int(shared[k]) for k in sorted(entries)), end[total_from:register], strict=True)
    places = [
        register + width * n + len(PUSHED) * k for n in range(times) for k in range(len(names))
    ]
    touched = [end[k : k + len(PUSHED)] for k in places]
    return found, [Touch(name, *x) for name, x in zip(names * times, touched, strict=True)]

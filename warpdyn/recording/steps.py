"""Steps that are recorded once and run many times, in a separate graph, or recorded in line one
after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..algebra.scalar import RowStep, Scalar, is_number
from .graph import COLUMN, FIXED, FROM, ROW, Graph, Routine, Sweep, SweepSource


def unroll(
    step: Callable[[list[Any]], Sequence[Any]],
    state: Sequence[Any],
    times: int,
    until: Callable[..., Any] | None,
) -> list[Any]:
    """The state after `times` steps, each recorded separately, so that the recording has
    derivatives."""
    if until is not None:
        raise TypeError(
            "a loop that repeats until it is done has no derivatives; detach its arrays"
        )
    after = list(state)
    for _ in range(times):
        after = list(step(after))
    return after


def record_routine(
    function: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]],
    graph: Graph,
    shared: Sequence[Any],
    columns: Sequence[Sequence[Any]],
    input_symbols: Callable[[Graph, str, int], list[Any]],
    local: Callable[[Graph, Any], Any],
) -> tuple[Routine, list[int]]:
    """A function of any of the columns, recorded, and the indices of the entries that differ
    between them."""
    inside, column = Graph(around=graph), list(columns[0])
    moving = [
        k
        for k, entries in enumerate(zip(*columns, strict=True))
        if not all(is_number(x) and x == column[k] for x in entries)
    ]
    for k, symbol in zip(moving, input_symbols(inside, COLUMN, len(moving)), strict=True):
        column[k] = symbol
    seen = [x if is_number(x) else local(inside, x) for x in shared]
    results = inside.run(lambda: function(seen, column))
    flat = tuple(x if is_number(x) else local(inside, x) for x in results)
    return Routine(inside, len(inside.captured), len(moving), flat), moving


class RecordedSweep(NamedTuple):
    """A sweep whose step is recorded: its routine, the values that its call reads, and what is known
    about its results while recording."""

    routine: Routine
    begin: list[Any]
    """The states at the beginning of all paths, without the entries that are always zero."""
    varying: list[Any]
    """A value of each source, and the symbols of all rows."""
    live: list[int]
    """Entries of a state that are not always zero."""
    size: int
    """Entries of a state."""
    values: list[float | None]
    """The values of a step: numbers, or None where the routine computes them."""

    def results_of(
        self, read: Callable[[int], Any]
    ) -> tuple[list[list[list[Scalar]]], list[list[Scalar]]]:
        """Values of the steps and last states of the paths; `read(k)` is entry k of the call."""
        sweep = self.routine.sweep
        assert sweep is not None
        entries = map(read, range(sweep.steps * self.values.count(None)))
        found: list[list[list[Scalar]]] = [
            [[next(entries) if x is None else x for x in self.values] for _ in path]
            for path in sweep.paths
        ]
        end = sweep.steps * self.values.count(None)
        last: list[list[Scalar]] = [[0.0] * self.size for _ in sweep.paths]
        for n, state in enumerate(last):
            for m, k in enumerate(self.live):
                state[k] = read(end + n * len(self.live) + m)
        return found, last


def record_sweep(
    graph: Graph,
    step: RowStep,
    states: Sequence[Sequence[Any]],
    paths: Sequence[Sequence[int]],
    rows: Sequence[Sequence[Any]],
    input_symbols: Callable[[Graph, str, int], list[Any]],
    local: Callable[[Graph, Any], Any],
) -> RecordedSweep:
    """The step of a sweep, recorded in a separate graph inside `graph`.

    State entries that are zero at the beginning of every path, and stay zero, are not part of the
    state.
    """
    visited = sorted({k for path in paths for k in path})
    place = {k: n for n, k in enumerate(visited)}
    columns = _Columns(graph, [rows[k] for k in visited])
    size = len(states[0])
    live = set().union(*map(_nonzero_entries, states))
    while True:
        inside = Graph(around=graph)
        state: list[Any] = [0.0] * size
        entries = sorted(live)
        for k, symbol in zip(entries, input_symbols(inside, COLUMN, len(entries)), strict=True):
            state[k] = symbol
        row = columns.row(inside, input_symbols)
        after, values = inside.run(partial(step, state, row))
        nonzero = _nonzero_entries(after)
        if nonzero <= live:
            break
        live |= nonzero
    known = [float(x) if is_number(x) else None for x in values]
    results = [*(after[k] for k in entries), *(x for x in values if not is_number(x))]
    varying = columns.values()
    sweep = Sweep(
        tuple(tuple(place[k] for k in path) for path in paths),
        len(entries),
        len(columns.varying),
        columns.numbers(),
        tuple(columns.sources),
    )
    routine = Routine(
        inside,
        len(inside.captured) + len(varying),
        len(entries) * len(paths),
        tuple(x if is_number(x) else local(inside, x) for x in results),
        sweep=sweep,
    )
    begin = [x[k] for x in states for k in entries]
    return RecordedSweep(routine, begin, varying, entries, size, known)


class _Columns:
    """The entries of the rows that a sweep visits, by their kind.

    An entry that is the same number in every row is a constant of the step. Other numbers of the
    rows are read from a table, and symbols from the workspace, or from the results of an earlier
    sweep if it has computed all of that entry.
    """

    def __init__(self, graph: Graph, rows: Sequence[Sequence[Any]]):
        self.columns = [list(x) for x in zip(*rows, strict=True)]
        numbers = [k for k, x in enumerate(self.columns) if all(map(is_number, x))]
        self.fixed = [k for k in numbers if len(set(self.columns[k])) > 1]
        symbols = {k: x for k, x in enumerate(self.columns) if k not in numbers}
        self.sources = _sources(graph, symbols)
        from_sweeps = {k for entries in self.sources.values() for k in entries}
        self.varying = [k for k in symbols if k not in from_sweeps]

    def row(
        self, inside: Graph, input_symbols: Callable[[Graph, str, int], list[Any]]
    ) -> list[Any]:
        """The row of a step, with inputs of its graph in place of what varies."""
        row: list[Any] = [x[0] for x in self.columns]
        for kinds, name in ((self.varying, ROW), (self.fixed, FIXED)):
            for k, symbol in zip(kinds, input_symbols(inside, name, len(kinds)), strict=True):
                row[k] = symbol
        for m, (source, values_read) in enumerate(self.sources.items()):
            symbols = input_symbols(inside, f"{FROM}{m}", source.values)
            for k, j in values_read.items():
                row[k] = symbols[j]
        return row

    def numbers(self) -> tuple[tuple[float, ...], ...]:
        """The numbers of each row that are read from a table."""
        rows = range(len(self.columns[0])) if self.columns else ()
        return tuple(tuple(float(self.columns[k][n]) for k in self.fixed) for n in rows)

    def values(self) -> list[Any]:
        """A value of each source, which must be computed first, and the symbols of all rows."""
        before = [self.columns[next(iter(entries))][0] for entries in self.sources.values()]
        rows = range(len(self.columns[0])) if self.columns else ()
        return [*before, *(self.columns[k][n] for n in rows for k in self.varying)]


def _nonzero_entries(state: Sequence[Any]) -> set[int]:
    return {k for k, x in enumerate(state) if not is_number(x) or x != 0}


def _sources(
    graph: Graph, columns: Mapping[int, Sequence[Any]]
) -> dict[SweepSource, dict[int, int]]:
    """Earlier sweeps that have computed whole columns of the rows. For each, the index of its value
    by column."""
    sources: dict[SweepSource, dict[int, int]] = {}
    for k, column in columns.items():
        read = [_value_of_sweep(graph, x) for x in column]
        routines = {x and (x[0], x[1], x[3]) for x in read}
        if len(routines) == 1 and (first := read[0]):
            source = SweepSource(first[0], first[1], tuple(x[2] for x in read if x))
            sources.setdefault(source, {})[k] = first[3]
    return sources


def _value_of_sweep(graph: Graph, x: Any) -> tuple[str, int, int, int] | None:
    """For a symbol that a sweep has computed: the routine, the number of values of a step, the
    step, and the index of the value."""
    if is_number(x) or x.negative:
        return None
    operation, arguments = graph.nodes[x.index]
    if operation != "of" or not (sweep := graph.routines[arguments[0]].sweep):
        return None
    values = len(graph.routines[arguments[0]].results) - sweep.state
    step, index = divmod(int(arguments[2]), max(values, 1))
    return (arguments[0], values, step, index) if step < sweep.steps else None

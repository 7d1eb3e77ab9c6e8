"""The recorded scalar: arithmetic on it writes a straight-line program.

A `Symbol` is a signed reference to a node of a `Graph`. Numbers stay numbers: everything that can
be computed while recording is computed then, so constants fold, zeros and ones vanish, and equal
terms (up to sign and order) are one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..algebra.scalar import RowStep, Scalar, sweep_in_line
from .array_loops import record_array_loop, unroll_array_loop, values_from_outside
from .graph import (
    COLUMN,
    KEPT_WHOLE,
    ROLL_FROM,
    SHARED,
    ForeignError,
    Graph,
    Operand,
    Repetition,
    Routine,
    UnknownError,
    alike,
    segments,
)
from .steps import record_routine, record_sweep, unroll


class Symbol:
    """A scalar known only when the program runs."""

    __slots__ = ("graph", "index", "negative")
    __array_ufunc__ = None  # a NumPy number on the left defers to the symbol's operation

    def __init__(self, graph: Graph, index: int, negative: bool = False):
        self.graph, self.index, self.negative = graph, index, negative

    def __repr__(self) -> str:
        return f"Symbol({'-' if self.negative else ''}t{self.index})"

    # Sums.

    def __add__(self, other: Symbol | float) -> Symbol | float:
        if isinstance(other, Symbol):
            return self._plus(other, other.negative)
        return self if other == 0 else self._plus_constant(other)

    __radd__ = __add__

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.index, not self.negative)

    def __sub__(self, other: Symbol | float) -> Symbol | float:
        if isinstance(other, Symbol):
            return self._plus(other, not other.negative)
        return self if other == 0 else self._plus_constant(-other)

    def __rsub__(self, other: float) -> Symbol | float:
        return -self + other

    def _plus(self, other: Symbol, negative: bool) -> Symbol | float:
        """The sum with another symbol, whose sign is replaced by `negative`."""
        graph = self.graph
        if other.graph is not graph:
            a, b = together(self, Symbol(other.graph, other.index, negative))
            return a + b
        i, j = self.index, other.index
        # Equal terms become a multiple. Operands go in order of their nodes: equal sums are one.
        if i == j or i in graph.multiples or j in graph.multiples:
            (c, x), (d, y) = graph.split_factor(i), graph.split_factor(j)
            if x == y:
                return Symbol(graph, x) * ((-c if self.negative else c) + (-d if negative else d))
        operation = "add" if self.negative == negative else "sub"
        if i < j:
            return Symbol(graph, graph.pair(operation, i, j), self.negative)
        return Symbol(graph, graph.pair(operation, j, i), negative)

    def _plus_constant(self, other: float) -> Symbol | float:
        """The sum with a number other than zero."""
        graph = self.graph
        constant = -float(other) if self.negative else float(other)
        operation, arguments = graph.nodes[self.index]
        if operation == "add" and isinstance(arguments[1], float):
            total = Symbol(graph, arguments[0]) + (arguments[1] + constant)
            return -total if self.negative else total
        return Symbol(graph, graph.node("add", self.index, constant), self.negative)

    # Products.

    def __mul__(self, other: Symbol | float) -> Symbol | float:
        graph = self.graph
        if isinstance(other, Symbol):
            if other.graph is not graph:
                a, b = together(self, other)
                return a * b
            i, j, factor = self.index, other.index, 1.0
            if i in graph.multiples or j in graph.multiples:
                (c, i), (d, j) = graph.split_factor(i), graph.split_factor(j)
                factor = c * d
            node = graph.pair("mul", i, j) if i < j else graph.pair("mul", j, i)
            product = Symbol(graph, node, self.negative != other.negative)
            return product if factor == 1.0 else product * factor
        # Most numbers here are zeros and ones of rotations and joint axes.
        if other == 0:
            return 0.0
        if other == 1:
            return self
        constant, x = graph.split_factor(self.index)
        constant *= float(other)
        negative = self.negative != (constant < 0)
        constant = abs(constant)
        return Symbol(graph, x if constant == 1.0 else graph.node("mul", constant, x), negative)

    __rmul__ = __mul__

    def __truediv__(self, other: Symbol | float) -> Symbol | float:
        return self * (other.reciprocal() if isinstance(other, Symbol) else 1.0 / other)

    def __rtruediv__(self, other: float) -> Symbol | float:
        return self.reciprocal() * other

    def reciprocal(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("rcp", self.index), self.negative)

    # Functions.

    def sin(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("sin", self.index), self.negative)

    def cos(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("cos", self.index))

    def sqrt(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("sqrt", self.plain()))

    def exp(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("exp", self.plain()))

    def log(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("log", self.plain()))

    def absolute(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("abs", self.index))

    def floor(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("floor", self.plain()))

    def rsqrt(self) -> Symbol:
        return Symbol(self.graph, self.graph.node("rsqrt", self.plain()))

    def operation(self, name: str, *values: Symbol | float) -> Symbol:
        return operation(name, *values)

    def minimum(self, x: Symbol | float, y: Symbol | float) -> Symbol | float:
        return operation("min", x, y) if not _equal(x, y) else x

    def maximum(self, x: Symbol | float, y: Symbol | float) -> Symbol | float:
        return operation("max", x, y) if not _equal(x, y) else x

    def each(
        self,
        function: Callable[
            [Sequence[Symbol | float], Sequence[Symbol | float]], Sequence[Symbol | float]
        ],
        shared: Sequence[Symbol | float],
        columns: Sequence[Sequence[Symbol | float]],
    ) -> list[list[Symbol | float]]:
        """The results of the function for each column: by a routine for all columns that are zero
        in the same places, if together they are more than ROLL_FROM operations, else in line.

        Shared constants, and entries that are the same constant in every column of a routine, are
        constants of it.
        """
        values = together(self, *shared, *(x for column in columns for x in column))[1:]
        graph = next(x.graph for x in values if isinstance(x, Symbol))
        shared, rest = values[: len(shared)], values[len(shared) :]
        width = len(columns[0])
        columns = [rest[first : first + width] for first in range(0, len(rest), width)]
        groups = alike(columns) if graph.rolls else []
        routines = [
            record_routine(function, graph, shared, [columns[n] for n in g], input_symbols, local)
            for g in groups
        ]
        # Groups are first recorded as routines, because their length is only known afterwards.
        operations = [r.graph.size() * len(g) for (r, _), g in zip(routines, groups, strict=True)]
        if sum(operations) <= ROLL_FROM:
            return [list(function(shared, column)) for column in columns]
        called: list[list[Symbol | float]] = [[] for _ in columns]
        for (routine, moving), group in zip(routines, groups, strict=True):
            name = f"routine{len(graph.routines)}"
            graph.routines[name] = routine
            frame = graph.node("frame", name, *routine.graph.captured)
            for n in group:
                column = columns[n]
                call = graph.node("call", name, frame, *(_operand(column[k]) for k in moving))
                called[n] = [
                    Symbol(graph, graph.node("of", name, call, str(k)))
                    if isinstance(x, Symbol)
                    else x
                    for k, x in enumerate(routine.results)
                ]
        return called

    def repeat(
        self,
        step: Callable[[list[Symbol | float]], Sequence[Symbol | float]],
        state: Sequence[Symbol | float],
        times: int,
        until: Callable[[Sequence[Symbol | float]], Symbol | float] | None,
    ) -> list[Symbol | float]:
        """The state after `times` steps, with the step recorded once and rolled.

        If the recording is to be differentiated, more than KEPT_WHOLE steps become a loop of loops.
        """
        if self.graph.rolls or self.graph.unrolls or until is not None or times <= KEPT_WHOLE:
            return self.record_loop(step, state, times, until)
        first, number, length = segments(times)
        if first:
            state = self.record_loop(step, state, first, None)

        def segment(here: list[Symbol | float]) -> list[Symbol | float]:
            within = next(x for x in here if isinstance(x, Symbol))
            return within.record_loop(step, here, length, None)

        return self.record_loop(segment, state, number, None)

    def record_loop(
        self,
        step: Callable[[list[Symbol | float]], Sequence[Symbol | float]],
        state: Sequence[Symbol | float],
        times: int,
        until: Callable[[Sequence[Symbol | float]], Symbol | float] | None,
        reads: int | None = None,
    ) -> list[Symbol | float]:
        """The last state of one loop.

        It is recorded in the innermost graph that this symbol or anything of the state belongs to.
        `reads`: the call of a loop whose kept states the steps read, the last one first.
        """
        symbols = [self, *(x for x in state if isinstance(x, Symbol))]
        graph = max((x.graph for x in symbols), key=lambda graph: graph.depth)
        if graph.unrolls:
            return unroll(step, state, times, until)
        # The first state does not show which values a step reads: they may belong to a graph
        # further in.
        around = graph.open[graph.open.index(graph) :] if graph in graph.open else [graph]
        *outer, innermost = around
        for graph in outer:
            try:
                inside, results = _record_step(graph, step, len(state), until)
                break
            except ForeignError:
                continue
        else:
            graph = innermost
            inside, results = _record_step(graph, step, len(state), until)
        name = f"routine{len(graph.routines)}"
        shared, source = values_from_outside(graph, inside, reads)
        repetition = Repetition(times, until is not None, reads=source)
        graph.routines[name] = Routine(inside, len(shared), len(state), results, repetition)
        frame = graph.node("frame", name, *shared)
        initial = [local(graph, x).plain() if isinstance(x, Symbol) else float(x) for x in state]
        call = graph.node("call", name, frame, *initial)
        return [Symbol(graph, graph.node("of", name, call, str(k))) for k in range(len(state))]

    def sweep(
        self,
        step: RowStep,
        states: Sequence[Sequence[Symbol | float]],
        paths: Sequence[Sequence[int]],
        rows: Sequence[Sequence[Symbol | float]],
    ) -> tuple[list[list[list[Scalar]]], list[list[Scalar]]]:
        """The results of a sweep, with the step recorded once, in the innermost graph that one of
        the values belongs to."""
        first, *flat = together(self, *(x for entries in (*states, *rows) for x in entries))
        assert isinstance(first, Symbol)
        graph, entries = first.graph, iter(flat)
        states, rows = ([[next(entries) for _ in x] for x in part] for part in (states, rows))
        if not graph.rolls or not any(paths):
            return sweep_in_line(step, states, paths, rows)
        found = record_sweep(graph, step, states, paths, rows, input_symbols, local)
        name = f"routine{len(graph.routines)}"
        graph.routines[name] = found.routine
        captured = found.routine.graph.captured
        frame = graph.node("frame", name, *captured, *map(_operand, found.varying))
        call = graph.node("call", name, frame, *map(_operand, found.begin))
        return found.results_of(lambda k: Symbol(graph, graph.node("of", name, call, str(k))))

    def loop(
        self,
        n: int,
        step: Callable[[Any, list[Any], Sequence[Any]], Sequence[Any]],
        state: Sequence[Symbol | float],
        arrays: Sequence[Any],
        needed: Symbol | float | None = None,
        last: int | None = None,
    ) -> list[Any]:
        """The state after n steps, which also change the arrays, with the step recorded once."""
        if self.graph.unrolls:
            return unroll_array_loop(n, step, state, arrays)
        return record_array_loop(self, n, step, state, arrays, local, needed, last)

    def plain(self) -> int:
        """A node that holds this value with its sign."""
        return self.graph.node("neg", self.index) if self.negative else self.index

    # Operations that need a value before the program runs.

    def _unknown(self, *_: object) -> NoReturn:
        raise UnknownError(
            "a Python `if`, comparison or conversion looked at a recorded value, which is known only when the kernel "
            "runs; use warpdyn.algebra.scalar.select_less, minimum or maximum, or decide on the model instead"
        )

    __bool__ = __float__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = _unknown
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        self._unknown()


def together(*values: Symbol | float) -> list[Symbol | float]:
    """The values as symbols of one graph, the innermost that one of them belongs to; numbers stay
    numbers."""
    graph = max((x.graph for x in values if isinstance(x, Symbol)), key=lambda graph: graph.depth)
    return [local(graph, x) if isinstance(x, Symbol) else x for x in values]


def operation(name: str, *values: Symbol | float) -> Symbol:
    """A node of an operation whose operands carry their signs themselves, in the innermost graph
    among them."""
    local = together(*values)
    (graph, *_) = (x.graph for x in local if isinstance(x, Symbol))
    return Symbol(graph, graph.node(name, *(_operand(x) for x in local)))


def _record_step(
    graph: Graph,
    step: Callable[[list[Symbol | float]], Sequence[Symbol | float]],
    size: int,
    until: Callable[[Sequence[Symbol | float]], Symbol | float] | None,
) -> tuple[Graph, tuple[Symbol | float, ...]]:
    """The step of a loop in `graph`: its own graph, and in it the next state and the flag that may
    end the loop."""
    inside = Graph(around=graph)

    def run_step() -> list[Symbol | float]:
        after = list(step(list(input_symbols(inside, COLUMN, size))))
        if len(after) != size:
            raise ValueError(
                f"a step must return as many numbers as its state has, {size}; got {len(after)}"
            )
        return after if until is None else [*after, until(after)]

    results = inside.run(run_step)
    return inside, tuple(local(inside, x) if isinstance(x, Symbol) else x for x in results)


def _equal(x: Symbol | float, y: Symbol | float) -> bool:
    if isinstance(x, Symbol) and isinstance(y, Symbol):
        return (x.graph, x.index, x.negative) == (y.graph, y.index, y.negative)
    return False


def _operand(x: Symbol | float) -> Operand:
    return x.plain() if isinstance(x, Symbol) else float(x)


def input_symbols(graph: Graph, array: str, count: int) -> list[Symbol]:
    """Symbols for the entries of an input array."""
    return [Symbol(graph, graph.node("input", array, k)) for k in range(count)]


def local(graph: Graph, x: Symbol) -> Symbol:
    """A symbol of `graph` for one of that graph or of a surrounding graph.

    A value that a loop's step reads from outside becomes an input of the loop. Values that the step
    computes from such symbols alone are recorded outside, once, before the loop.
    """
    if x.graph is graph:
        return x
    if graph.around is None or x.graph.depth >= graph.depth:
        raise ForeignError(
            "a recorded value is used outside the loop or kernel that it belongs to: a loop's values are known only "
            "inside its step; let the step return them as part of its state"
        )
    index = local(graph.around, x).index
    entry = graph.captured.setdefault(index, len(graph.captured))
    return Symbol(graph, graph.node("input", SHARED, entry), x.negative)

"""A recorded program: the operations that its outputs need, in an order that keeps few values
alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from types import MappingProxyType
from typing import Any

from ..algebra.scalar import Scalar
from .array_operations import ARRAY_OPERATIONS, LEFT, READS, WRITES
from .graph import COLUMN, ROW, SHARED, Graph, LoopArray, Repetition, Routine, Sweep
from .listing import listing
from .order import (
    CELL,
    CORNER,
    Statement,
    fuse_products,
    group_calls,
    inputs_late,
    operands_of,
    values_alive,
    visit_nodes,
)
from .program_on_numbers import evaluate
from .recorder import Symbol, input_symbols, local
from .table import ANY_SIZE, LOOK, in_cells

EXPECTED_STEPS = 32
"""Assumed number of steps of a loop that may end early, to estimate how long a batch takes."""


@dataclass(frozen=True)
class Output:
    """An entry of the result: a constant, or a node with its sign."""

    node: int | None
    constant: float = 0.0
    negative: bool = False


@dataclass(frozen=True)
class Program:
    """A straight-line program for one robot.

    `inputs`, `results`: array name -> trailing shape; `outputs`: entries of the results one
    after the other, each in C order. With a `repetition` it is the step of a loop: its results,
    except for the flag that may end it, are the next values of its input `column`. With a
    `sweep` it is the step of a sweep: its results are the next state, which is its input `column`,
    and the values of the step.
    """

    graph: Graph
    inputs: Mapping[str, tuple[int, ...]]
    outputs: tuple[Output, ...]
    results: Mapping[str, tuple[int, ...]]
    repetition: Repetition | None = None
    sweep: Sweep | None = None
    as_recorded: bool = False
    """True if the recorded order is the best there is."""
    tables: tuple[str, ...] = ()
    """Inputs that are tables, of any size."""
    over: Mapping[str, str] = field(default_factory=dict)
    """Results that may be written over an input of the same shape: code reads that input of an
    environment before it writes the result."""
    arrays: tuple[LoopArray, ...] = ()
    """Arrays of the loop whose step the program is."""
    numbers: tuple[str, ...] = ()
    """Inputs that a launch passes by value, in the kernel's arguments, instead of as arrays."""

    @cached_property
    def places(self) -> list[tuple[str, int]]:
        """The array of each output, and the entry in it."""
        return [(name, k) for name, shape in self.results.items() for k in range(prod(shape))]

    @cached_property
    def outputs_of(self) -> dict[str, tuple[Output, ...]]:
        """The outputs of each result."""
        ends = list(accumulate(prod(shape) for shape in self.results.values()))
        return {
            name: self.outputs[end - prod(shape) : end]
            for (name, shape), end in zip(self.results.items(), ends, strict=True)
        }

    @cached_property
    def output_nodes(self) -> Set[int]:
        """Nodes that are results."""
        return {o.node for o in self.outputs if o.node is not None}

    @cached_property
    def fused_statements(self) -> dict[int, Statement]:
        """Live statements by their targets, each after those that it needs.

        They are the same in every order, except for cells of tables.
        """
        written = {array.after for array in self.arrays}
        demanded = visit_nodes(self.graph, sorted(self.output_nodes | written))
        return {s.target: s for s in fuse_products(self.graph, demanded, self.output_nodes)}

    @cached_property
    def statements(self) -> list[Statement]:
        """Live statements, in the better of two orders: as recorded, or on demand of the
        outputs."""
        reads = None if self.has_tables else self.reads

        def order_statements(targets: Sequence[int]) -> list[Statement]:
            grouped = group_calls(self.graph, targets)
            return inputs_late([self.fused_statements[i] for i in grouped], reads)

        demanded = list(self.fused_statements)
        orders = [order_statements(sorted(demanded))]
        # A read of an array comes before the next write only in the order of the recording.
        if not self.as_recorded and not self.graph.arrays:
            orders.append(order_statements(demanded))
        if self.has_tables:
            orders = [in_cells(order, self.output_nodes) for order in orders]
        as_recorded, *others = orders
        return min(orders, key=lambda order: values_alive(order, reads)) if others else as_recorded

    @cached_property
    def reads(self) -> Mapping[int, Sequence[int]]:
        """Nodes that each of the statements reads, by its target."""
        # Only look-ups in tables differ between the statements and the fused ones.
        return operands_of(self.statements if self.has_tables else self.fused_statements.values())

    @cached_property
    def has_tables(self) -> bool:
        """True if a statement looks up a number of a table."""
        return any(s.operation == LOOK for s in self.fused_statements.values())

    @cached_property
    def angles(self) -> list[int]:
        """Nodes with a sine or cosine that follow from inputs without a loop, a routine, or another
        sine or cosine."""
        angles = dict.fromkeys(
            s.arguments[0] for s in self.statements if s.operation in ("sin", "cos")
        )
        late = ("sin", "cos", "of", *READS)
        return [
            i
            for i in angles
            if not any(self.graph.nodes[x][0] in late for x in visit_nodes(self.graph, [i]))
        ]

    @cached_property
    def angle_statements(self) -> list[Statement]:
        """Statements that compute `angles` from inputs: the fused ones, so that an angle has the
        same bits wherever it is computed."""
        fused = self.fused_statements
        return [fused[i] for i in visit_nodes(self.graph, self.angles) if i in fused]

    @cached_property
    def operations(self) -> int:
        """Number of arithmetic operations: + - *, reciprocals, functions, a fused pair counting
        two; not sines, negations, loads, stores."""
        moves = [x for x in ARRAY_OPERATIONS if x not in (*READS, *WRITES)]
        cost = {
            **dict.fromkeys(moves, 0),
            "fma": 2,
            "fms": 2,
            "fnma": 2,
            CELL: 4,
            **dict.fromkeys(("input", "sin", "cos", "neg", "frame", "of", CORNER), 0),
        }
        total = 0
        # Every order has the same operations, so no order is needed to compare programs.
        for s in in_cells(list(self.fused_statements.values()), self.output_nodes):
            if s.operation == "call":
                total += self.routines[s.arguments[0]].work
            else:
                total += cost.get(s.operation, 1)
        return total

    @property
    def work(self) -> int:
        """Operations of a call as a routine; for a loop, of all its steps."""
        if self.sweep:
            return self.operations * self.sweep.steps
        if self.repetition is None:
            return self.operations
        times = self.repetition.times - self.repetition.end_unread
        return self.operations * (min(times, EXPECTED_STEPS) if self.repetition.ends else times)

    @cached_property
    def routines(self) -> dict[str, Program]:
        """The routines that the program calls, as programs with inputs `shared` and `column` and
        result `out`."""
        read: dict[str, list[int]] = {}
        for s in self.fused_statements.values():
            if s.operation == "call":
                read.setdefault(s.arguments[0], [])
            elif s.operation == "of":
                read[s.arguments[0]].append(int(s.arguments[2]))
            elif s.operation == LEFT:
                read[s.arguments[0]].append(0)

        def repetition(name: str, routine: Routine) -> Repetition | None:
            how = routine.repetition
            if how is None or not how.kept or any(k < max(routine.column, 1) for k in read[name]):
                return how
            return replace(how, end_unread=True)

        def inputs(routine: Routine) -> dict[str, tuple[int, ...]]:
            if routine.sweep is None:
                return {SHARED: (routine.shared,), COLUMN: (routine.column,)}
            sizes = routine.shared, routine.sweep.state, routine.sweep.row
            return dict(zip((SHARED, COLUMN, ROW), ((n,) for n in sizes), strict=True))

        return {
            name: Program(
                routine.graph,
                inputs(routine),
                tuple(_output(x) for x in routine.results),
                {"out": (len(routine.results),)},
                repetition=repetition(name, routine),
                sweep=routine.sweep,
                as_recorded=routine.repetition is None,
                arrays=routine.arrays,
            )
            for name, routine in self.graph.routines.items()
            if name in read
        }

    def uses(self, operation: str) -> bool:
        """True if the program has a statement with this operation; routines are not searched."""
        return any(s.operation == operation for s in self.statements)

    def listing(self, name: str = "program") -> str:
        """The program as readable lines."""
        return listing(self, name)

    def on_numbers(
        self, inputs: Mapping[str, Any], tables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The results as nested lists, for nested lists of numbers.

        `tables`: those that the program looks up, if it is called by another one.
        """
        if tables is None:
            tables = {name: inputs[name] for name in self.tables}
        entries = {name: list(flat(x)) for name, x in inputs.items() if name not in tables}
        found = evaluate(self, entries, tables)
        return {name: fold(found[name], shape) for name, shape in self.results.items()}

    @cached_property
    def stores(self) -> dict[int, list[int]]:
        """Entries of the outputs that each node fills."""
        table: dict[int, list[int]] = {}
        for k, output in enumerate(self.outputs):
            if output.node is not None:
                table.setdefault(output.node, []).append(k)
        return table


class ProgramTable:
    """A table among a program's inputs, by name."""

    __slots__ = ("graph", "name")

    def __init__(self, graph: Graph, name: str):
        self.graph, self.name = graph, name

    def look(self, row: Scalar, column: Scalar) -> Symbol:
        """The result of `scalar.look` on this table, in the innermost graph that an index belongs
        to."""
        graphs = [x.graph for x in (row, column) if isinstance(x, Symbol)]
        graph = max([self.graph, *graphs], key=lambda graph: graph.depth)
        places = [
            local(graph, x).plain() if isinstance(x, Symbol) else float(x)  # type: ignore[arg-type]
            for x in (row, column)
        ]
        return Symbol(graph, graph.node(LOOK, self.name, *places))

    def __repr__(self) -> str:
        return f"ProgramTable({self.name})"


def _output(x: Symbol | float, origin: Mapping[int, int] = MappingProxyType({})) -> Output:
    if not isinstance(x, Symbol):
        return Output(None, float(x))
    return Output(origin.get(x.index, x.index), negative=x.negative)


def record(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    results: Sequence[str] = ("out",),
    rolls: bool = True,
    unrolls: bool = False,
    tables: Sequence[str] = (),
) -> Program:
    """Run `function(**symbols)` on symbols, one nested list for each input array, and return the
    recorded program.

    For several `results` the function returns a tuple of nested lists. `rolls`: functions that are
    called many times may become routines. `unrolls`: the steps of loops are recorded one after the
    other. `tables`: inputs that are looked up (`ProgramTable`).
    """
    graph = Graph(rolls, unrolls=unrolls)
    symbols = {
        name: ProgramTable(graph, name)
        if name in tables
        else fold(input_symbols(graph, name, prod(shape)), shape)
        for name, shape in inputs.items()
    }
    result = function(**symbols)
    named = dict(zip(results, result if len(results) > 1 else (result,), strict=True))
    values = [x for nested in named.values() for x in flat(nested)]
    origin = graph.without_constants()
    outputs = [_output(local(graph, x) if isinstance(x, Symbol) else x, origin) for x in values]
    graph.finish()
    shapes = {name: shape_of(nested) for name, nested in named.items()}
    sizes = {name: ANY_SIZE if name in tables else shape for name, shape in inputs.items()}
    return Program(graph, sizes, tuple(outputs), shapes, tables=tuple(tables))


def fold(flat: list, shape: Sequence[int]) -> Any:
    """A flat list as nested lists of a shape; its only entry for shape ()."""
    if len(shape) <= 1:
        return flat if shape else flat[0]
    step = prod(shape[1:])
    return [fold(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def flat(nested: Any) -> Iterator[Any]:
    if isinstance(nested, (list, tuple)):
        for item in nested:
            yield from flat(item)
    else:
        yield nested


def shape_of(nested: Any) -> tuple[int, ...]:
    return (
        (len(nested), *(shape_of(nested[0]) if nested else ()))
        if isinstance(nested, (list, tuple))
        else ()
    )

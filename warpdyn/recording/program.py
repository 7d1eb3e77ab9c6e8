"""A recorded program: what is needed for its outputs, in an order that keeps few values alive."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

from ..algebra import scalar
from .recorder import Graph, Symbol

STATE = "state"
"""Name of the input that a loop carries from one step to the next."""

ON_NUMBERS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "rcp": lambda x: 1.0 / x,
    "fma": lambda x, y, z: x * y + z,
    "fms": lambda x, y, z: x * y - z,
    "fnma": lambda x, y, z: z - x * y,
    "abs": scalar.absolute,
    "select": scalar.select_less,
    **{
        name: getattr(scalar, name)
        for name in ("sin", "cos", "sqrt", "exp", "log", "floor", "atan2")
    },
}
"""What the operations of statements are."""


@dataclass(frozen=True)
class Statement:
    """t[target] = operation(arguments). Arguments are node indices or constants; of an input: array name and entry.

    `fma`, `fms`, `fnma` are a*b + c, a*b - c and c - a*b in one rounding. Of a routine: `frame(name, shared..)` writes
    what its calls share, `call(name, frame, column..)` runs it, and `of(name, call, k)`, which follow the call at once,
    read its results.
    """

    target: int
    operation: str
    arguments: tuple


@dataclass(frozen=True)
class Output:
    """An entry of the result: a constant, or a node with its sign."""

    node: int | None
    constant: float = 0.0
    negative: bool = False


@dataclass(frozen=True)
class Program:
    """A straight-line program for one robot.

    `inputs`, `results`: array name -> trailing shape; `outputs`: entries of the results one after the other, each in C
    order. With a `loop` it comes after that, and has the loop's state among its inputs.
    """

    graph: Graph
    inputs: Mapping[str, tuple[int, ...]]
    outputs: tuple[Output, ...]
    results: Mapping[str, tuple[int, ...]]
    loop: Loop | None = None
    as_recorded: bool = False
    """Its order is the best there is."""

    @property
    def arguments(self) -> dict[str, tuple[int, ...]]:
        """Inputs that come from outside."""
        return {name: shape for name, shape in self.inputs.items() if name != STATE}

    @cached_property
    def places(self) -> list[tuple[str, int]]:
        """For each output its array and the entry in it."""
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
    def statements(self) -> list[Statement]:
        """Live statements, in the better of two orders: as recorded, or on demand of the outputs."""
        roots = sorted({o.node for o in self.outputs if o.node is not None})
        as_recorded = self._fused(self._grouped(sorted(self._visit(roots))))
        if self.as_recorded:
            return as_recorded
        on_demand = self._fused(self._grouped(self._visit(roots)))
        return min(as_recorded, on_demand, key=self.values_alive)

    @cached_property
    def angles(self) -> list[int]:
        """Nodes whose sine or cosine is taken, where they follow from inputs without another sine or cosine."""
        turned = dict.fromkeys(
            s.arguments[0] for s in self.statements if s.operation in ("sin", "cos")
        )
        return [
            i
            for i in turned
            if not any(self.graph.nodes[x][0] in ("sin", "cos") for x in self._visit([i]))
        ]

    @cached_property
    def angle_statements(self) -> list[Statement]:
        """Statements that compute `angles` from inputs."""
        return [Statement(i, *self.graph.nodes[i]) for i in self._visit(self.angles)]

    @cached_property
    def operations(self) -> int:
        """Arithmetic operations: + - *, reciprocals, functions, a fused pair counting two; not sines, negations, loads,
        stores."""
        cost = {
            "fma": 2,
            "fms": 2,
            "fnma": 2,
            **dict.fromkeys(("input", "sin", "cos", "neg", "frame", "of"), 0),
        }
        called = sum(
            self.routines[s.arguments[0]].operations
            for s in self.statements
            if s.operation == "call"
        )
        return called + sum(
            cost.get(s.operation, 1) for s in self.statements if s.operation != "call"
        )

    @cached_property
    def routines(self) -> dict[str, Program]:
        """Texts recorded by themselves, with inputs `shared` and `column` and the result `out`."""
        return {
            name: Program(
                routine.graph,
                {"shared": (routine.shared,), "column": (routine.column,)},
                tuple(_output(x) for x in routine.results),
                {"out": (len(routine.results),)},
                as_recorded=True,
            )
            for name, routine in self.graph.routines.items()
        }

    def values_alive(self, statements: Sequence[Statement]) -> int:
        """The largest number of values needed again later, inputs included."""
        last = {x: n for n, s in enumerate(statements) for x in operands(s)}
        ends = Counter(last.values())
        alive = most = 0
        for n, statement in enumerate(statements):
            alive += statement.target in last
            most = max(most, alive)
            alive -= ends[n]
        return most

    def _visit(self, roots: Sequence[int]) -> list[int]:
        """Nodes that the roots need, each after its arguments."""
        nodes, order, seen = self.graph.nodes, [], set()
        for root in roots:
            waiting = [(root, False)]
            while waiting:
                i, ready = waiting.pop()
                if ready:
                    order.append(i)
                elif i not in seen:
                    seen.add(i)
                    waiting.append((i, True))
                    operation, arguments = nodes[i]
                    if operation != "input":
                        waiting.extend(
                            (x, False)
                            for x in reversed(arguments)
                            if isinstance(x, int) and x not in seen
                        )
        return order

    def _grouped(self, order: Sequence[int]) -> Sequence[int]:
        """The same order with the results of a routine's call right after it."""
        if not self.graph.routines:
            return order
        nodes = self.graph.nodes
        results: dict[int, list[int]] = {}
        for i in sorted(order):
            if nodes[i][0] == "of":
                results.setdefault(nodes[i][1][1], []).append(i)
        return [x for i in order if nodes[i][0] != "of" for x in (i, *results.get(i, ()))]

    def _fused(self, order: Sequence[int]) -> list[Statement]:
        """Statements of the ordered nodes, products that are used once joined to the sum that uses them."""
        nodes = self.graph.nodes
        uses = Counter(
            x for i in order for x in nodes[i][1] if isinstance(x, int) and nodes[i][0] != "input"
        )
        stored = {o.node for o in self.outputs}

        def joins(x: object) -> bool:
            return isinstance(x, int) and nodes[x][0] == "mul" and uses[x] == 1 and x not in stored

        statements, joined = [], set()
        for i in order:
            operation, arguments = nodes[i]
            if operation in ("add", "sub"):
                x, y = arguments
                if joins(y):
                    joined.add(y)
                    operation, arguments = (
                        "fma" if operation == "add" else "fnma",
                        (*nodes[y][1], x),
                    )
                elif joins(x):
                    joined.add(x)
                    operation, arguments = "fma" if operation == "add" else "fms", (*nodes[x][1], y)
            statements.append(Statement(i, operation, arguments))
        return self._inputs_late([s for s in statements if s.target not in joined])

    @staticmethod
    def _inputs_late(statements: Sequence[Statement]) -> list[Statement]:
        """Inputs moved to just before their first use."""
        inputs = {s.target: s for s in statements if s.operation == "input"}
        ordered: list[Statement] = []
        for statement in statements:
            if statement.operation == "input":
                continue
            ordered += [inputs.pop(x) for x in dict.fromkeys(operands(statement)) if x in inputs]
            ordered.append(statement)
        return ordered + list(inputs.values())

    def text(self, name: str = "program") -> str:
        """The program as readable lines."""
        form = {
            "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "rcp": "1 / {0}", "neg": "-{0}",
            "fma": "{0} * {1} + {2}", "fms": "{0} * {1} - {2}", "fnma": "{2} - {0} * {1}",
            "select": "{2} if {0} < {1} else {3}", "atan2": "atan2({0}, {1})",
        }  # fmt: skip
        arrays = ", ".join(f"{k}{list(n)}" for k, n in self.inputs.items())
        results = ", ".join(f"{k}{list(n)}" for k, n in self.results.items())
        lines = [f"{name}({arrays}) -> {results}    # {self.operations} operations"]
        stores = self.stores

        def place(k: int) -> str:
            return "{}[{}]".format(*self.places[k])

        for s in self.statements:
            shown = [
                f"t{x}" if isinstance(x, int) else repr(x) if isinstance(x, float) else x
                for x in s.arguments
            ]
            pattern = form.get(s.operation, s.operation + "({0})")
            right = (
                f"{s.arguments[0]}[{s.arguments[1]}]"
                if s.operation == "input"
                else pattern.format(*shown)
            )
            if s.operation in ("frame", "call", "of"):
                right = f"{s.operation} {', '.join(shown)}"
            lines.append(f"t{s.target} = {right}")
            lines += [
                f"{place(k)} = {'-' if self.outputs[k].negative else ''}t{s.target}"
                for k in stores.get(s.target, ())
            ]
        lines += [
            f"{place(k)} = {o.constant!r}" for k, o in enumerate(self.outputs) if o.node is None
        ]
        return "\n".join(lines)

    def on_numbers(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The results as nested lists, for nested lists of numbers: statement after statement."""
        entries = {name: list(flat(inputs[name])) for name in self.inputs}
        values: dict[int, float] = {}
        for s in self.statements:
            if s.operation == "input":
                array, k = s.arguments
                values[s.target] = entries[array][k]
            else:
                values[s.target] = ON_NUMBERS[s.operation](
                    *(values[x] if isinstance(x, int) else x for x in s.arguments)
                )
        found = {
            name: [
                o.constant if o.node is None else -values[o.node] if o.negative else values[o.node]
                for o in outputs
            ]
            for name, outputs in self.outputs_of.items()
        }
        return {name: folded(found[name], shape) for name, shape in self.results.items()}

    @cached_property
    def stores(self) -> dict[int, list[int]]:
        """For each node that is an output, the entries that it fills."""
        table: dict[int, list[int]] = {}
        for k, output in enumerate(self.outputs):
            if output.node is not None:
                table.setdefault(output.node, []).append(k)
        return table


@dataclass(frozen=True)
class Loop:
    """A program that is repeated on its own result: the state, of zeros before the first step.

    It ends when the first entry of the state is greater than zero, or after so many `steps`.
    """

    step: Program
    steps: int

    @property
    def size(self) -> int:
        """Entries of the state."""
        return len(self.step.outputs)


def operands(statement: Statement) -> Iterator[int]:
    """Nodes that a statement reads."""
    if statement.operation in ("input", "of"):
        return iter(())
    arguments = statement.arguments[2:] if statement.operation == "call" else statement.arguments
    return (x for x in arguments if isinstance(x, int))


def _output(x: Symbol | float) -> Output:
    return Output(x.index, negative=x.negative) if isinstance(x, Symbol) else Output(None, float(x))


def record(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    results: Sequence[str] = ("out",),
    rolls: bool = True,
) -> Program:
    """Run `function(**symbols)` on symbols, one nested list for each input array, and keep what it computed.

    Of several `results` the function returns a tuple of nested lists. `rolls`: what is called many times may become a
    routine.
    """
    graph = Graph(rolls)
    symbols = {
        name: folded(graph.inputs(name, prod(shape)), shape) for name, shape in inputs.items()
    }
    result = function(**symbols)
    named = dict(zip(results, result if len(results) > 1 else (result,), strict=True))
    outputs = [_output(x) for nested in named.values() for x in flat(nested)]
    shapes = {name: shape_of(nested) for name, nested in named.items()}
    return Program(graph, dict(inputs), tuple(outputs), shapes)


def folded(flat: list, shape: Sequence[int]) -> Any:
    """A flat list as nested lists of a shape; its only entry for shape ()."""
    if len(shape) <= 1:
        return flat if shape else flat[0]
    step = prod(shape[1:])
    return [folded(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


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

"""The recorded scalar: arithmetic on it writes a straight-line program.

A `Symbol` is a signed reference to a node of a `Graph`. Numbers stay numbers: what can be computed while recording is,
so constants fold, zeros and ones vanish, and equal terms (up to sign and order) are one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

Operand = int | float
"""An argument of a node: the index of another node, or a constant."""

Number = (int, float)

TOGETHER = 4
"""Columns that a routine does at once, so that one need not wait for the other's last result."""

ROLL_FROM = 40_000
"""Operations of a text for all its columns from which it is recorded once and called: longer straight lines take more
time to compile than the second is worth."""


class Graph:
    """The nodes recorded so far: node i is (operation, arguments), and arguments come before it."""

    def __init__(self, rolls: bool = True) -> None:
        self.rolls = rolls
        """Texts that are called many times may become routines, which have no derivatives."""
        self.routines: dict[str, Routine] = {}
        self.nodes: list[tuple[str, tuple]] = []
        self._index: dict[tuple, int] = {}

    def node(self, operation: str, *arguments: Operand | str) -> int:
        key = (
            operation,
            arguments,
            *map(type, arguments),
        )  # the constant 2.0 equals 2, but is not node 2
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.nodes)
            self.nodes.append((operation, arguments))
        return found

    def inputs(self, array: str, count: int) -> list[Symbol]:
        """Symbols for the entries of an input array."""
        return [Symbol(self, self.node("input", array, k)) for k in range(count)]

    def size(self) -> int:
        """Arithmetic operations of the nodes, those that nothing needs included."""
        return sum(operation in ("add", "sub", "mul", "rcp") for operation, _ in self.nodes)

    def scaled(self, index: int) -> tuple[float, int]:
        """A node as constant times another node."""
        operation, arguments = self.nodes[index]
        if operation == "mul" and isinstance(arguments[0], float):
            return arguments[0], arguments[1]
        return 1.0, index


@dataclass(frozen=True)
class Routine:
    """A text recorded by itself, for TOGETHER columns: `shared` inputs are written once, `column` inputs and `results`
    at every call."""

    graph: Graph
    shared: int
    column: int
    results: tuple[Symbol | float, ...]


class Symbol:
    """A scalar known only when the program runs."""

    __slots__ = ("graph", "index", "negative")
    __array_ufunc__ = None  # a NumPy number on the left leaves the operation to the symbol

    def __init__(self, graph: Graph, index: int, negative: bool = False):
        self.graph, self.index, self.negative = graph, index, negative

    def __repr__(self) -> str:
        return f"Symbol({'-' if self.negative else ''}t{self.index})"

    # Sums.

    def __add__(self, other: Symbol | float) -> Symbol | float:
        graph = self.graph
        if isinstance(other, Symbol):
            (c, x), (d, y) = graph.scaled(self.index), graph.scaled(other.index)
            if x == y:
                return Symbol(graph, x) * (
                    (-c if self.negative else c) + (-d if other.negative else d)
                )
            first, second = (self, other) if self.index < other.index else (other, self)
            operation = "add" if first.negative == second.negative else "sub"
            return Symbol(graph, graph.node(operation, first.index, second.index), first.negative)
        if isinstance(other, Together):
            return NotImplemented
        if other == 0:
            return self
        constant = -float(other) if self.negative else float(other)
        operation, arguments = graph.nodes[self.index]
        if operation == "add" and isinstance(arguments[1], float):
            inner = Symbol(graph, arguments[0])
            return (
                -(inner + (arguments[1] + constant))
                if self.negative
                else inner + (arguments[1] + constant)
            )
        return Symbol(graph, graph.node("add", self.index, constant), self.negative)

    __radd__ = __add__

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.index, not self.negative)

    def __sub__(self, other: Symbol | float) -> Symbol | float:
        return NotImplemented if isinstance(other, Together) else self + (-other)

    def __rsub__(self, other: float) -> Symbol | float:
        return -self + other

    # Products.

    def __mul__(self, other: Symbol | float) -> Symbol | float:
        graph = self.graph
        if isinstance(other, Symbol):
            negative = self.negative != other.negative
            (c, x), (d, y) = graph.scaled(self.index), graph.scaled(other.index)
            if c != 1.0 or d != 1.0:
                product = Symbol(graph, graph.node("mul", min(x, y), max(x, y)), negative)
                return product * (c * d)
            x, y = min(self.index, other.index), max(self.index, other.index)
            return Symbol(graph, graph.node("mul", x, y), negative)
        if isinstance(other, Together):
            return NotImplemented
        if other == 0:
            return 0.0
        constant, x = graph.scaled(self.index)
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

    def atan2(self, y: Symbol | float, x: Symbol | float) -> Symbol:
        operands = [s.plain() if isinstance(s, Symbol) else float(s) for s in (y, x)]
        return Symbol(self.graph, self.graph.node("atan2", *operands))

    def select_less(
        self,
        x: Symbol | float,
        y: Symbol | float,
        if_less: Symbol | float,
        otherwise: Symbol | float,
    ) -> Symbol:
        operands = [
            s.plain() if isinstance(s, Symbol) else float(s) for s in (x, y, if_less, otherwise)
        ]
        return Symbol(self.graph, self.graph.node("select", *operands))

    def each(
        self,
        text: Callable[
            [Sequence[Symbol | float], Sequence[Symbol | float]], Sequence[Symbol | float]
        ],
        shared: Sequence[Symbol | float],
        columns: Sequence[Sequence[Symbol | float]],
    ) -> list[list[Symbol | float]]:
        """The text for each column: as a routine if it would be more than ROLL_FROM operations, else in line.

        Shared constants, and entries that are the same constant in every column, are constants of the routine.
        """
        graph = self.graph
        moving = [k for k, entries in enumerate(zip(*columns, strict=True)) if not _same(entries)]
        given = [k for k, x in enumerate(shared) if isinstance(x, Symbol)]
        own = Graph()
        inside: list[Any] = list(shared)
        column: list[Any] = list(columns[0])
        for symbol, k in zip(own.inputs("shared", len(given)), given, strict=True):
            inside[k] = symbol
        sides = own.inputs("column", TOGETHER * len(moving))
        for n, k in enumerate(moving):
            column[k] = Together(sides[n :: len(moving)])
        results = list(text(inside, column)) if graph.rolls else []
        if own.size() * len(columns) <= ROLL_FROM * TOGETHER:
            return [list(text(shared, column)) for column in columns]
        name = f"routine{len(graph.routines)}"
        flat = tuple(
            x.sides[n] if isinstance(x, Together) else x for n in range(TOGETHER) for x in results
        )
        graph.routines[name] = Routine(own, len(given), len(sides), flat)
        frame = graph.node("frame", name, *(_operand(shared[k]) for k in given))
        called: list[list[Symbol | float]] = []
        for first in range(0, len(columns), TOGETHER):
            group = [columns[min(first + n, len(columns) - 1)] for n in range(TOGETHER)]
            call = graph.node(
                "call", name, frame, *(_operand(entries[k]) for entries in group for k in moving)
            )
            out = [
                Symbol(graph, graph.node("of", name, call, str(k))) if isinstance(x, Symbol) else x
                for k, x in enumerate(flat)
            ]
            called += [out[n * len(results) : (n + 1) * len(results)] for n in range(TOGETHER)]
        return called[: len(columns)]

    def plain(self) -> int:
        """A node that holds this value with its sign."""
        return self.graph.node("neg", self.index) if self.negative else self.index

    # What a value that is not known yet cannot do.

    def _unknown(self, *_: object) -> NoReturn:
        raise TypeError(
            "a Python `if`, comparison or conversion looked at a recorded value, which is known only when the kernel "
            "runs; use warpdyn.algebra.scalar.select_less, minimum or maximum, or decide on the model instead"
        )

    __bool__ = __float__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = _unknown
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        self._unknown()


class Together:
    """Scalars of several columns side by side: what is done to one is done to the next, and then to the third."""

    __slots__ = ("sides",)

    def __init__(self, sides: Sequence[Symbol | float]):
        self.sides = tuple(sides)

    def _with(
        self, other: Together | Symbol | float, do: Callable[[Any, Any], Any]
    ) -> Together | float:
        others = other.sides if isinstance(other, Together) else (other,) * len(self.sides)
        sides = [do(x, y) for x, y in zip(self.sides, others, strict=True)]
        return sides[0] if _same(sides) else Together(sides)

    def __add__(self, other: Together | Symbol | float) -> Together | float:
        return self._with(other, lambda x, y: x + y)

    def __sub__(self, other: Together | Symbol | float) -> Together | float:
        return self._with(other, lambda x, y: x - y)

    def __mul__(self, other: Together | Symbol | float) -> Together | float:
        return self._with(other, lambda x, y: x * y)

    def __rsub__(self, other: Symbol | float) -> Together | float:
        return self._with(other, lambda x, y: y - x)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Together:
        return Together([-x for x in self.sides])


def _same(entries: Sequence[Symbol | float]) -> bool:
    """All of them are one constant."""
    return all(not isinstance(x, Symbol) and x == entries[0] for x in entries) and not isinstance(
        entries[0], Symbol
    )


def _operand(x: Symbol | float) -> Operand:
    return x.plain() if isinstance(x, Symbol) else float(x)

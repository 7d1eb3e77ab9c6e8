"""The recorded scalar: arithmetic on it writes a straight-line program.

A `Symbol` is a signed reference to a node of a `Graph`. Numbers stay numbers: what can be computed while recording is,
so constants fold, zeros and ones vanish, and equal terms (up to sign and order) are one node.
"""

from __future__ import annotations

from typing import NoReturn

Operand = int | float
"""An argument of a node: the index of another node, or a constant."""

Number = (int, float)


class Graph:
    """The nodes recorded so far: node i is (operation, arguments), and arguments come before it."""

    def __init__(self) -> None:
        self.nodes: list[tuple[str, tuple]] = []
        self._index: dict[tuple, int] = {}

    def node(self, operation: str, *arguments: Operand | str) -> int:
        key = (operation, arguments, *map(type, arguments))  # the constant 2.0 equals 2, but is not node 2
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.nodes)
            self.nodes.append((operation, arguments))
        return found

    def inputs(self, array: str, count: int) -> list[Symbol]:
        """Symbols for the entries of an input array."""
        return [Symbol(self, self.node("input", array, k)) for k in range(count)]

    def scaled(self, index: int) -> tuple[float, int]:
        """A node as constant times another node."""
        operation, arguments = self.nodes[index]
        if operation == "mul" and isinstance(arguments[0], float):
            return arguments[0], arguments[1]
        return 1.0, index


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
                return Symbol(graph, x) * ((-c if self.negative else c) + (-d if other.negative else d))
            first, second = (self, other) if self.index < other.index else (other, self)
            operation = "add" if first.negative == second.negative else "sub"
            return Symbol(graph, graph.node(operation, first.index, second.index), first.negative)
        if other == 0:
            return self
        constant = -float(other) if self.negative else float(other)
        operation, arguments = graph.nodes[self.index]
        if operation == "add" and isinstance(arguments[1], float):
            inner = Symbol(graph, arguments[0])
            return -(inner + (arguments[1] + constant)) if self.negative else inner + (arguments[1] + constant)
        return Symbol(graph, graph.node("add", self.index, constant), self.negative)

    __radd__ = __add__

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.index, not self.negative)

    def __sub__(self, other: Symbol | float) -> Symbol | float:
        return self + (-other)

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
        self, x: Symbol | float, y: Symbol | float, if_less: Symbol | float, otherwise: Symbol | float
    ) -> Symbol:
        operands = [s.plain() if isinstance(s, Symbol) else float(s) for s in (x, y, if_less, otherwise)]
        return Symbol(self.graph, self.graph.node("select", *operands))

    def plain(self) -> int:
        """A node that holds this value with its sign."""
        return self.graph.node("neg", self.index) if self.negative else self.index

    # What a value that is not known yet cannot do.

    def _unknown(self, *_: object) -> NoReturn:
        raise TypeError(
            "a Python `if`, comparison or conversion looked at a recorded value, which is known only when the kernel "
            "runs; use warpdyn.scalar.select_less, minimum or maximum, or decide on the model instead"
        )

    __bool__ = __float__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = _unknown
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        self._unknown()

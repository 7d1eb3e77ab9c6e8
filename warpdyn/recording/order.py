"""Statements, and an order of them in which few values are alive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from .graph import Graph


class Statement(NamedTuple):
    """A statement t[target] = operation(arguments). Arguments are node indices or constants; for an
    input they are the array's name and the entry.

    `fma`, `fms`, `fnma` are a*b + c, a*b - c and c - a*b in one rounding. A routine, which may be a
    loop, takes three kinds: `frame(name, shared..)` writes the values that its calls share,
    `call(name, frame, column..)` runs it, and `of(name, call, k)`, directly after the call, reads
    its results.
    """

    target: int
    operation: str
    arguments: tuple


CELL, CORNER = "cell", "corner"
"""Statements that look up all four corners of a table's cell at once, and read each of them
directly after: `cell(table, row, column)`, `corner(cell, k)`, those of the row first."""


def operands(statement: Statement) -> Iterator[int]:
    """Nodes that a statement reads."""
    if statement.operation in ("input", "of", CORNER):
        return iter(())
    arguments = statement.arguments[2:] if statement.operation == "call" else statement.arguments
    return (x for x in arguments if isinstance(x, int))


def visit_nodes(graph: Graph, roots: Iterable[int]) -> list[int]:
    """Nodes that the roots need, each after its arguments."""
    nodes, order, seen = graph.nodes, [], set()
    for root in roots:
        waiting = [root]
        while waiting:
            i = waiting.pop()
            if i < 0:  # everything that node ~i needs has been visited
                order.append(~i)
            elif i not in seen:
                seen.add(i)
                waiting.append(~i)
                operation, arguments = nodes[i]
                if operation != "input":
                    for x in reversed(arguments):
                        if isinstance(x, int) and x not in seen:
                            waiting.append(x)
    return order


def group_calls(graph: Graph, order: Sequence[int]) -> Sequence[int]:
    """The same order with the results of a routine's call directly after it."""
    if not graph.routines:
        return order
    nodes = graph.nodes
    results: dict[int, list[int]] = {}
    for i in sorted(order):
        if nodes[i][0] == "of":
            results.setdefault(nodes[i][1][1], []).append(i)
    return [x for i in order if nodes[i][0] != "of" for x in (i, *results.get(i, ()))]


def fuse_products(graph: Graph, order: Sequence[int], stored: Set[int]) -> list[Statement]:
    """Statements of the ordered nodes, in which products that are used only once are joined to the
    sum that uses them.

    `stored`: nodes that are results and need statements of their own.
    """
    nodes = graph.nodes
    # A product joins a sum only if nothing else reads it, or it would be computed twice.
    once, again = set[int](), set[int]()
    for i in order:
        operation, arguments = nodes[i]
        if operation != "input":
            for x in arguments:
                if isinstance(x, int):
                    (again if x in once else once).add(x)
    once -= again

    def joins(x: object) -> bool:
        return isinstance(x, int) and x in once and nodes[x][0] == "mul" and x not in stored

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
    return inputs_late([s for s in statements if s.target not in joined])


def inputs_late(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with inputs moved to just before their first use."""
    inputs = {s.target: s for s in statements if s.operation == "input"}
    ordered: list[Statement] = []
    for statement in statements:
        if statement.operation == "input":
            continue
        ordered += [inputs.pop(x) for x in dict.fromkeys(operands(statement)) if x in inputs]
        ordered.append(statement)
    return ordered + list(inputs.values())


def values_alive(statements: Sequence[Statement]) -> int:
    """The largest number of values that are still needed later, inputs included."""
    last = {x: n for n, s in enumerate(statements) for x in operands(s)}
    ends = Counter(last.values())
    alive = most = 0
    for n, statement in enumerate(statements):
        alive += statement.target in last
        most = max(most, alive)
        alive -= ends[n]
    return most

"""Statements, and an order of them in which few values are alive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import NamedTuple

from .array_operations import ARRAY_OPERATIONS, values_read
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


def operands(statement: Statement) -> Sequence[int]:
    """Nodes that a statement reads."""
    _, operation, arguments = statement
    if operation in ("input", "of", CORNER):
        return ()
    if operation == "call":
        arguments = arguments[2:]
    elif operation in ARRAY_OPERATIONS:
        arguments = values_read(operation, arguments)  # type: ignore[assignment]
    return [x for x in arguments if isinstance(x, int)]


def operands_of(statements: Iterable[Statement]) -> dict[int, Sequence[int]]:
    """Nodes that each statement reads, by its target."""
    return {s.target: operands(s) for s in statements}


def visit_nodes(graph: Graph, roots: Iterable[int]) -> list[int]:
    """Nodes that the roots need, each after its arguments."""
    sources, order, seen = graph.sources, [], set[int]()
    for root in roots:
        waiting = [root]
        while waiting:
            i = waiting.pop()
            if i < 0:  # everything that node ~i needs has been visited
                order.append(~i)
            elif i not in seen:
                seen.add(i)
                waiting.append(~i)
                for x in reversed(sources[i]):
                    if x not in seen:
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

    `stored`: nodes that are results, and therefore need their own statements.
    """
    nodes = graph.nodes
    # A product joins a sum only if nothing else reads it, or it would be computed twice.
    uses = Counter(chain.from_iterable(map(graph.sources.__getitem__, order)))
    joins = {
        x for x, count in uses.items() if count == 1 and nodes[x][0] == "mul" and x not in stored
    }
    statements, joined = [], set[int]()
    for i in order:
        operation, arguments = nodes[i]
        if operation in ("add", "sub"):
            x, y = arguments
            if y in joins and isinstance(y, int):
                joined.add(y)
                operation = "fma" if operation == "add" else "fnma"
                arguments = (*nodes[y][1], x)
            elif x in joins and isinstance(x, int):
                joined.add(x)
                operation = "fma" if operation == "add" else "fms"
                arguments = (*nodes[x][1], y)
        statements.append(Statement(i, operation, arguments))
    return [s for s in statements if s.target not in joined]


def inputs_late(
    statements: Sequence[Statement], reads: Mapping[int, Sequence[int]] | None = None
) -> list[Statement]:
    """The statements with inputs moved to just before their first use.

    `reads`: the operands of each statement by its target, for a caller who has them.
    """
    reads = operands_of(statements) if reads is None else reads
    inputs = {s.target: s for s in statements if s.operation == "input"}
    ordered: list[Statement] = []
    for statement in statements:
        if statement.operation == "input":
            continue
        for x in reads[statement.target]:
            if x in inputs:
                ordered.append(inputs.pop(x))
        ordered.append(statement)
    return ordered + list(inputs.values())


def values_alive(
    statements: Sequence[Statement], reads: Mapping[int, Sequence[int]] | None = None
) -> int:
    """The largest number of values that are still needed later, inputs included.

    `reads`: as for `inputs_late`.
    """
    reads = operands_of(statements) if reads is None else reads
    # Going backward, a value becomes alive where it is last read, and stops being alive where it is
    # computed.
    needed = set[int]()
    alive = most = 0
    for statement in reversed(statements):
        target = statement.target
        for x in reads[target]:
            if x not in needed:
                needed.add(x)
                alive += 1
        if alive > most:
            most = alive
        if target in needed:
            alive -= 1
    return most

"""Tables that programs look up: arrays that serve all environments, and that no tile holds."""

from __future__ import annotations

from ..algebra.scalar import Scalar
from .graph import Graph
from .recorder import Symbol, local

LOOK = "look"
"""The operation: its arguments are the table's name, a row and a column. A text inside another one
looks a table up by name as well; nothing is handed to it."""

ANY_SIZE = (0, 0)
"""What a program knows of a table's shape: rows and columns come with the array of each launch."""


class ProgramTable:
    """A table by its name among a program's inputs."""

    __slots__ = ("graph", "name")

    def __init__(self, graph: Graph, name: str):
        self.graph, self.name = graph, name

    def look(self, row: Scalar, column: Scalar) -> Symbol:
        """`scalar.look` of it, in the innermost graph that an index belongs to."""
        graphs = [x.graph for x in (row, column) if isinstance(x, Symbol)]
        graph = max([self.graph, *graphs], key=lambda graph: graph.depth)
        places = [
            local(graph, x).plain() if isinstance(x, Symbol) else float(x)  # type: ignore[arg-type]
            for x in (row, column)
        ]
        return Symbol(graph, graph.node(LOOK, self.name, *places))

    def __repr__(self) -> str:
        return f"ProgramTable({self.name})"

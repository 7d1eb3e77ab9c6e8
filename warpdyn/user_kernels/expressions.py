"""Values as text, for `print` inside a kernel while it is recorded."""

from __future__ import annotations

from typing import Any

from ..recording.graph import Graph
from ..recording.recorder import Symbol
from .conditions import Condition

DEEPEST, WIDEST = 4, 12
"""Largest depth of operations, and number of array entries, that are written out."""

FORMS = {
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "{0}*{1}",
    "rcp": "1/{0}",
    "neg": "-{0}",
    "min": "minimum({0}, {1})",
    "max": "maximum({0}, {1})",
    "select": "where({0} < {1}, {2}, {3})",
    "select_equal": "where({0} <= {1}, {2}, {3})",
}


def show_expressions(entries: Any) -> str:
    """An array of entries as expressions of the kernel's inputs."""
    if not entries.ndim:
        return show_scalar(entries[()])
    if entries.size > WIDEST:
        return f"<values of shape {entries.shape}>"
    return "[" + ", ".join(show_expressions(row) for row in _rows(entries)) + "]"


def show_scalar(x: Any) -> str:
    """A single entry as an expression."""
    if isinstance(x, Condition):
        sign = "<=" if x.equal else "<"
        text = f"{show_scalar(x.x)} {sign} {show_scalar(x.y)}"
        return f"not({text})" if x.negated else text
    if isinstance(x, Symbol):
        text = _node(x.graph, x.index, DEEPEST)
        return f"-{text}" if x.negative else text
    return f"{x:.6g}" if isinstance(x, float) else repr(x)


def _rows(entries: Any) -> list[Any]:
    """Rows of an array, entries of a row as arrays of shape ()."""
    return [entries[k : k + 1].reshape(entries.shape[1:]) for k in range(len(entries))]


def _node(graph: Graph, index: int, depth: int) -> str:
    operation, arguments = graph.nodes[index]
    if operation == "input":
        return f"{arguments[0]}[{arguments[1]}]"
    if operation in ("of", "call", "frame"):
        return "result of a loop"
    if depth == 0:
        return "..."
    shown = [_node(graph, x, depth - 1) if isinstance(x, int) else f"{x:.6g}" for x in arguments]
    form = FORMS.get(operation)
    return f"{operation}({', '.join(shown)})" if form is None else form.format(*shown)

"""Derivatives of what is recorded: tangents forward, adjoints backward, as further nodes of the same graph.

Griewank and Walther, Evaluating Derivatives (2008), chapters 3.1 and 3.2. What is constant takes no part, and what
nobody asks for is dropped with all other dead nodes, so a derivative's program holds no more of the function than it
reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..algebra.scalar import Scalar, cos, sign, sin
from .recorder import Graph, Symbol


def pushforward(
    wrt: Sequence[Symbol], tangents: Sequence[Scalar], outputs: Sequence[Scalar]
) -> list[Scalar]:
    """J u: tangents of `outputs` when the inputs `wrt` have the given tangents."""
    if not wrt:
        return [0.0 for _ in outputs]
    graph = wrt[0].graph
    dot: dict[int, Scalar] = {x.index: t for x, t in zip(wrt, tangents, strict=True)}
    for i in _between(graph, dot, outputs):
        total: Scalar = 0.0
        for j, partial in _partials(graph, i):
            if j in dot:
                total = total + partial * dot[j]
        if graph.nodes[i][0] == "select":
            total = _select(graph, i, dot)
        dot[i] = total
    return [_signed(dot.get(x.index, 0.0), x) if isinstance(x, Symbol) else 0.0 for x in outputs]


def pullback(
    wrt: Sequence[Symbol], outputs: Sequence[Scalar], cotangents: Sequence[Scalar]
) -> list[Scalar]:
    """Jᵀ w: how much `cotangents` times `outputs` changes with each of the inputs `wrt`."""
    if not wrt:
        return []
    graph = wrt[0].graph
    bar: dict[int, Scalar] = {}

    def add(i: int, value: Scalar) -> None:
        bar[i] = bar[i] + value if i in bar else value

    for x, w in zip(outputs, cotangents, strict=True):
        if isinstance(x, Symbol):
            add(x.index, _signed(w, x))
    reached = _between(graph, {x.index: None for x in wrt}, outputs)
    moving = {*reached, *(x.index for x in wrt)}
    for i in reversed(reached):
        if i not in bar:
            continue
        w = bar.pop(i)
        if graph.nodes[i][0] == "select":
            for j, share in _shares(graph, i, w):
                if j in moving:
                    add(j, share)
            continue
        for j, partial in _partials(graph, i):
            if j in moving:
                add(j, w * partial)
    return [bar.get(x.index, 0.0) for x in wrt]


def _between(graph: Graph, start: Mapping[int, object], outputs: Sequence[Scalar]) -> list[int]:
    """Nodes on the way from the nodes of `start` to `outputs`, in order."""
    ends = [x.index for x in outputs if isinstance(x, Symbol)]
    moving = set(start)
    for i in range(max(ends, default=-1) + 1):
        operation, arguments = graph.nodes[i]
        if operation != "input" and any(isinstance(x, int) and x in moving for x in arguments):
            moving.add(i)
    needed, waiting = set(), [i for i in ends if i in moving]
    while waiting:
        i = waiting.pop()
        if i not in needed:
            needed.add(i)
            if graph.nodes[i][0] != "input":
                waiting += [x for x in graph.nodes[i][1] if isinstance(x, int) and x in moving]
    return sorted(needed - set(start))


def _signed(value: Scalar, x: Symbol) -> Scalar:
    return -value if x.negative else value


def _partials(graph: Graph, i: int) -> Iterator[tuple[int, Scalar]]:
    """The arguments of node i that are nodes, each with the derivative of the node by it."""
    operation, arguments = graph.nodes[i]
    node = Symbol(graph, i)
    a = _operands(graph, i)
    partials: list[Scalar]
    match operation:
        case "add":
            partials = [1.0, 1.0]
        case "sub":
            partials = [1.0, -1.0]
        case "mul":
            partials = [a[1], a[0]]
        case "neg":
            partials = [-1.0]
        case "rcp":
            partials = [-(node * node)]
        case "sqrt":
            partials = [0.5 / node]
        case "sin":
            partials = [cos(a[0])]
        case "cos":
            partials = [-sin(a[0])]
        case "abs":
            partials = [sign(a[0])]
        case "floor":
            partials = [0.0]
        case "exp":
            partials = [node]
        case "log":
            partials = [1.0 / a[0]]
        case "atan2":
            r = 1.0 / (a[0] * a[0] + a[1] * a[1])
            partials = [a[1] * r, -(a[0] * r)]
        case _:  # an input, or a choice, which is not a matter of partial derivatives
            partials = []
    for x, partial in zip(arguments, partials, strict=False):
        if isinstance(x, int):
            yield x, partial


def _operands(graph: Graph, i: int) -> list[Any]:
    return [Symbol(graph, x) if isinstance(x, int) else x for x in graph.nodes[i][1]]


def _select(graph: Graph, i: int, dot: dict[int, Scalar]) -> Scalar:
    """The tangent of the branch taken; the other one may be infinite."""
    x, y, _, _ = _operands(graph, i)
    tangents: list[Any] = [
        dot.get(j, 0.0) if isinstance(j, int) else 0.0 for j in graph.nodes[i][1][2:]
    ]
    if all(isinstance(t, float) and t == 0.0 for t in tangents):
        return 0.0
    return Symbol(graph, i).select_less(x, y, tangents[0], tangents[1])


def _shares(graph: Graph, i: int, w: Scalar) -> Iterator[tuple[int, Scalar]]:
    """The adjoint of a choice, for the branch taken."""
    x, y, _, _ = _operands(graph, i)
    shares: list[Any] = [(w, 0.0), (0.0, w)]
    for j, share in zip(graph.nodes[i][1][2:], shares, strict=True):
        if isinstance(j, int):
            yield j, Symbol(graph, i).select_less(x, y, *share)

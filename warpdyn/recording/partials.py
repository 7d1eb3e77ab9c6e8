"""Derivatives of single operations: partial derivatives, and the branches of a choice.

In a user's own kernel a branch that is not taken may be infinite or NaN, and so may be its slope: 0
times this slope is NaN. Therefore slopes of nodes near a choice (`_near_choices`) are made finite:
0 instead of inf or NaN. All products of the chain rule are then finite, and both modes add up the
same products. The slope of a root of a sum of squares is 0 at the origin for the same reason: 0 is
a subgradient of the norm.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from math import inf, isfinite
from typing import Any

from ..algebra.scalar import Scalar, absolute, cos, select_less, sign, sin
from .graph import CONSTANT, Graph
from .recorder import Symbol

Factors = tuple[Scalar, ...]
"""A partial derivative as the product of these factors."""

SLOPES: dict[str, tuple[float, ...]] = {
    "add": (1.0, 1.0),
    "sub": (1.0, -1.0),
    "neg": (-1.0,),
    "floor": (0.0,),
    CONSTANT: (0.0, 1.0),
}
"""Partial derivatives of operations where they are numbers."""


def partials(graph: Graph, i: int, unsafe: Set[int]) -> Iterator[tuple[int, Factors]]:
    """The arguments of node i that are nodes, each with the derivative of the node by it.

    For an unsafe node a derivative that is not finite is 0.
    """
    operation, arguments = graph.nodes[i]
    node = Symbol(graph, i)
    a = operands(graph, i)
    by: list[Factors] = [(slope,) for slope in SLOPES.get(operation, ())]
    match operation:
        case "sub" if arguments[0] == arguments[1]:
            by = []  # x - x does not depend on x, although it is NaN where x is not finite
        case "mul":
            by = [(a[1],), (a[0],)]
        case "rcp":
            by = [(-node, node)]
        case "rsqrt":
            by = [(-0.5 * node, node, node)]
        case "sqrt":
            by = [(0.5 / node,)]
        case "sin":
            by = [(cos(a[0]),)]
        case "cos":
            by = [(-sin(a[0]),)]
        case "abs":
            by = [(sign(a[0]),)]
        case "exp":
            by = [(node,)]
        case "log":
            by = [(1.0 / a[0],)]
        case "atan2":
            r = 1.0 / (a[0] * a[0] + a[1] * a[1])
            by = [(a[1] * r,), (-(a[0] * r),)]
    for x, factors in zip(arguments, by, strict=False):
        if isinstance(x, int):
            yield x, (finite(product(factors)),) if i in unsafe else factors


def product(factors: Factors, start: Scalar = 1.0) -> Scalar:
    """`start` times each of the factors, one after the other.

    The square of a reciprocal and the cube of a reciprocal root are not formed: they overflow in
    single precision for lengths of 1e-20, and 0 times infinity, where the branch is not taken, is
    NaN.
    """
    for factor in factors:
        start = start * factor
    return start


def operands(graph: Graph, i: int) -> list[Any]:
    return [Symbol(graph, x) if isinstance(x, int) else x for x in graph.nodes[i][1]]


CHOICES = {
    "select": (0, 1, 2, 3),
    "select_equal": (0, 1, 2, 3),
    "min": (1, 0, 1, 0),
    "max": (0, 1, 1, 0),
}
"""Operations that select one of two arguments: the third one if argument x is less than y (for
`select_equal`: not greater), else the last."""


def tangent_of_choice(graph: Graph, i: int, dot: dict[int, Scalar]) -> Scalar:
    """The tangent of the branch that is chosen; the other branch may be infinite."""
    x, y, *branches = CHOICES[graph.nodes[i][0]]
    values, nodes = operands(graph, i), graph.nodes[i][1]
    tangents: list[Any] = [
        dot.get(nodes[k], 0.0) if isinstance(nodes[k], int) else 0.0 for k in branches
    ]
    if all(isinstance(t, float) and t == 0.0 for t in tangents):
        return 0.0
    return Symbol(graph, i).operation(comparison(graph, i), values[x], values[y], *tangents)


def adjoints_of_choice(graph: Graph, i: int, w: Scalar) -> Iterator[tuple[int, Scalar]]:
    """The adjoint of a choice, for the branch that is chosen."""
    x, y, *branches = CHOICES[graph.nodes[i][0]]
    values, nodes = operands(graph, i), graph.nodes[i][1]
    name = comparison(graph, i)
    shares: list[Any] = [(w, 0.0), (0.0, w)]
    for k, share in zip(branches, shares, strict=True):
        if isinstance(nodes[k], int):
            yield nodes[k], Symbol(graph, i).operation(name, values[x], values[y], *share)


def comparison(graph: Graph, i: int) -> str:
    """The selecting operation with the same comparison as node i."""
    name = graph.nodes[i][0]
    return name if name == "select_equal" else "select"


SINGULAR = ("rcp", "rsqrt", "sqrt", "log", "exp", "atan2")
"""Operations whose value or slope may be infinite or NaN for finite operands."""

STEEP = (*SINGULAR, "mul", "sin", "cos")
"""Operations whose slope may be infinite or NaN if their operands are."""


def finite(slope: Scalar) -> Scalar:
    """The slope, or 0 if it is infinite or NaN."""
    if isinstance(slope, (int, float)):
        return slope if abs(slope) < inf else 0.0
    return select_less(absolute(slope), inf, slope, 0.0)


def unsafe_nodes(graph: Graph, end: int) -> Set[int]:
    """Nodes before `end` whose slopes may be infinite or NaN and count as 0 there: nodes near a
    choice, and roots of sums of squares."""
    root = graph
    while root.around is not None:
        root = root.around
    if not root.guards_slopes:
        return frozenset()
    return _unsafe_near_choices(graph, root, end) | _roots_of_squares(graph, end)


def _roots_of_squares(graph: Graph, end: int) -> set[int]:
    """Roots of x*x, or of sums of such products."""
    squares, roots = set[int](), set[int]()
    for i in range(end):
        match graph.nodes[i]:
            case ("mul", (x, y)) if x == y:
                squares.add(i)
            case ("add", (x, y)) if x in squares and y in squares:
                squares.add(i)
            case ("sqrt", (x,)) if x in squares:
                roots.add(i)
    return roots


def _unsafe_near_choices(graph: Graph, root: Graph, end: int) -> set[int]:
    """Nodes near a choice, before `end`, whose slopes may be infinite or NaN."""
    if not _has(root, _is_choice):
        return set()
    # Any value may enter a loop.
    anything = graph is not root and (_has(root, _is_singular) or _has(graph, _is_singular))
    anything = anything or _has(root, _asks_for_numbers)
    near = _near_choices(graph, end) if graph is root else range(end)
    steep, found = set[int](), set[int]()
    for i in range(end):
        operation, arguments = graph.nodes[i]
        enters = operation == "call" or (operation == "input" and anything)
        enters = enters or any(isinstance(x, float) and not isfinite(x) for x in arguments)
        if enters or operation in SINGULAR or any(x in steep for x in _sources(graph, i)):
            steep.add(i)
            if operation in STEEP and i in near:
                found.add(i)
    return found


def _near_choices(graph: Graph, end: int) -> set[int]:
    """Choices, everything computed from them, and everything that these values depend on."""
    near = set[int]()
    for i in range(end):
        if _is_choice(graph, i) or any(x in near for x in _sources(graph, i)):
            near.add(i)
    for i in range(end - 1, -1, -1):
        if i in near:
            near.update(_sources(graph, i))
    return near


def _has(graph: Graph, kind: Any) -> bool:
    """True if some node of a graph, or of a routine in it, is of this kind."""
    return any(kind(graph, i) for i in range(len(graph.nodes))) or any(
        _has(routine.graph, kind) for routine in graph.routines.values()
    )


def _is_choice(graph: Graph, i: int) -> bool:
    operation, arguments = graph.nodes[i]
    if operation == "call":
        return _has(graph.routines[arguments[0]].graph, _is_choice)
    return operation in CHOICES or operation == "abs"


def _is_singular(graph: Graph, i: int) -> bool:
    return graph.nodes[i][0] in SINGULAR


def _asks_for_numbers(graph: Graph, i: int) -> bool:
    """True if a choice tests for inf or NaN, so that these may occur; False for the function
    `finite`."""
    operation, arguments = graph.nodes[i]
    if operation not in ("select", "select_equal"):
        return False
    x, y, if_so, otherwise = arguments
    if otherwise == 0.0 and isinstance(x, int) and graph.nodes[x] == ("abs", (if_so,)):
        return False
    return x == y or any(isinstance(each, float) and each == inf for each in (x, y))


def _sources(graph: Graph, i: int) -> list[int]:
    """The nodes that a node reads."""
    operation, arguments = graph.nodes[i]
    return [] if operation == "input" else [x for x in arguments if isinstance(x, int)]

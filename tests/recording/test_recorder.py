"""The recorded scalar: folded constants, shared terms, dropped zeros, and what is refused."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import evaluate

from warpdyn.algebra.scalar import cos, maximum, minimum, select_less, sin, sqrt
from warpdyn.recording.graph import Graph
from warpdyn.recording.program import record
from warpdyn.recording.recorder import Symbol, input_symbols

FEW_ROUNDINGS = 1e-13
"""Relative to the size of the terms; folding changes the order of a handful of operations."""


def symbols(count: int) -> tuple[Graph, list[Symbol]]:
    graph = Graph()
    return graph, input_symbols(graph, "x", count)


def same(a: Symbol | float, b: Symbol | float) -> bool:
    assert isinstance(a, Symbol) and isinstance(b, Symbol)
    return (a.index, a.negative) == (b.index, b.negative)


def test_constants_are_folded() -> None:
    """Sums and products with numbers become one number."""
    graph, (x, _) = symbols(2)
    assert same((x + 1.0) + 2.0, x + 3.0)
    assert same(2.0 * (3.0 * x), 6.0 * x)
    assert same(x * 2.0 + x, x * 3.0)
    assert same(x / 4.0, x * 0.25)
    assert same((5.0 - x) - 2.0, 3.0 - x)
    assert not any(operation == "sub" for operation, _ in graph.nodes)


def test_zeros_and_ones_are_dropped() -> None:
    """x + 0, 1 x and x / 1 are x. 0 x, x - x and 2 x - x - x are the number 0."""
    graph, (x, y) = symbols(2)
    before = len(graph.nodes)
    for kept in (
        x + 0.0,
        0.0 + x,
        x - 0.0,
        x * 1.0,
        1.0 * x,
        x / 1.0,
        (x * -1.0) * -1.0,
        -(x * -1.0),
    ):
        assert same(kept, x)
    for nothing in (0.0 * x, x * 0, x - x, x + (-x), 0.0 * (x + y)):
        assert nothing == 0.0 and not isinstance(nothing, Symbol)
    assert len(graph.nodes) == before + 1  # x + y alone
    assert (2.0 * x - x) - x == 0.0


def test_terms_are_shared_up_to_sign_and_order() -> None:
    """x y = y x = -(-x) y, and x - y = -(y - x). Constant factors are separated."""
    graph, (x, y) = symbols(2)
    assert same(x * y, y * x) and same(x + y, y + x)
    assert same(-x * y, -(x * y)) and same((-x) * (-y), x * y)
    assert same(x - y, -(y - x)) and same(-x - y, -(x + y))
    assert same((2.0 * x) * (3.0 * y), 6.0 * (x * y))
    assert same((2.0 * x) * (0.5 * y), x * y)
    assert same(sin(-x), -sin(x)) and same(cos(-x), cos(x))
    assert same((-x).reciprocal(), -x.reciprocal())
    counted = len(graph.nodes)
    _ = x * y + y * x, sin(x) + sin(-x)
    assert len(graph.nodes) == counted + 1  # 2 (x y)


@pytest.mark.parametrize("operation", ["add", "mul", "select"])
def test_a_constant_differs_from_the_node_with_its_index(operation: str) -> None:
    """The constant 2.0 and the node number 2 are different operands, although 2 == 2.0."""

    def text(x: list) -> list:
        if operation == "add":
            return [x[3] + x[2], x[2] + x[3], x[3] + 2.0, x[2] + 3.0, x[2] + 2.0]
        if operation == "mul":
            return [x[2] * x[3], x[3] * 2.0, x[2] * 3.0, x[3] * 3.0]
        first = x[0].operation("select", x[0], x[1], x[2], x[3])
        return [first, x[0].operation("select", 0.0, 1.0, 2.0, x[3])]

    data = [0.7, 0.2, 11.0, 13.0]
    wanted = {
        "add": [24.0, 24.0, 15.0, 14.0, 13.0],
        "mul": [143.0, 26.0, 33.0, 39.0],
        "select": [13.0, 2.0],
    }[operation]
    assert evaluate(record(text, {"x": (4,)}), {"x": data}) == wanted


def test_python_conditions_on_symbols_are_refused() -> None:
    """Comparisons, truth values and conversions raise an error with the remedy."""
    _, (x, y) = symbols(2)
    looks = (
        lambda: bool(x), lambda: x < y, lambda: x <= 1.0, lambda: x > y, lambda: x >= 0.0, lambda: x == y,
        lambda: x != 0,
        lambda: float(x), lambda: int(x), lambda: max(x, y), lambda: math.sin(x), lambda: [1, 2][x],
    )  # fmt: skip
    for look in looks:
        with pytest.raises(TypeError, match=r"Python `if`.*select_less, minimum or maximum"):
            look()


def test_select_minimum_and_maximum_work_as_on_numbers() -> None:
    """Operands may be constants."""

    def text(x: list) -> list:
        a, b = x
        return [
            minimum(a, b),
            maximum(a, b),
            minimum(a, 0.5),
            maximum(0.5, b),
            select_less(a, b, 1.0, -1.0),
            select_less(-a, 0.0, a, -b),
        ]

    program = record(text, {"x": (2,)})
    for a, b in itertools.product((-1.5, -0.0, 0.2, 0.5, 2.0), repeat=2):
        assert evaluate(program, {"x": [a, b]}) == text([a, b])


FUNCTIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a, b: -a,
    "sin": lambda a, b: sin(a),
    "cos": lambda a, b: cos(a),
    "root": lambda a, b: sqrt(1.0 + a * a),
    "quotient": lambda a, b: a / (2.0 + b * b),
    "smaller": lambda a, b: minimum(a, b),
    "scaled": lambda a, b: 2.0 * a - 3.0,
    "square": lambda a, b: a * a + 1.0,
}


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(FUNCTIONS)), st.integers(0, 40), st.integers(0, 40)),
        min_size=1,
        max_size=40,
    ),
    st.lists(
        st.sampled_from([-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0]),
        min_size=4,
        max_size=4,
    ),
)
def test_a_recorded_program_equals_its_function(steps: list, constants: list) -> None:
    """The functions are random, and results are equal to rounding."""

    def text(x: list) -> list:
        pool = [*x, *constants]
        for name, i, j in steps:
            value = FUNCTIONS[name](pool[i % len(pool)], pool[j % len(pool)])
            pool.append(sin(value) * 2.0)  # keeps numbers small, so that roundings stay comparable
        return pool[len(x) :]

    data = [0.3, -1.2, 0.9, 2.2]
    found, wanted = evaluate(record(text, {"x": (4,)}), {"x": data}), text(data)
    assert found == pytest.approx(wanted, rel=0, abs=FEW_ROUNDINGS * 1e3)


def test_the_repr_of_a_symbol_shows_its_node_and_sign() -> None:
    _, (x, y) = symbols(2)
    assert (repr(x), repr(-y)) == (f"Symbol(t{x.index})", f"Symbol(-t{y.index})")

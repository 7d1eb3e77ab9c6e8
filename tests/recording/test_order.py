"""Order of evaluation: complete, after dependencies, products fused with sums, few live values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.algebra.scalar import repeat, sin
from warpdyn.recording.order import (
    fuse_products,
    group_calls,
    inputs_late,
    operands,
    values_alive,
    visit_nodes,
)
from warpdyn.recording.program import Program, record


def mixture(choices: list[int]) -> Program:
    """A program of sums, products and sines of earlier values, chosen by numbers."""

    def text(x: list) -> list:
        values = list(x)
        for k, choice in enumerate(choices):
            a, b = values[choice % len(values)], values[(choice * 7 + k) % len(values)]
            values.append([a + b * 0.5, a * b, a - b * a, sin(a)][choice % 4])
        return values[-3:]

    return record(text, {"x": (3,)})


programs = st.lists(st.integers(0, 10_000), min_size=3, max_size=40).map(mixture)


@given(programs)
def test_visited_nodes_come_after_their_arguments(program: Program) -> None:
    """All that the roots need and nothing else, each once."""
    roots = [o.node for o in program.outputs if o.node is not None]
    order = visit_nodes(program.graph, roots)
    place = {node: n for n, node in enumerate(order)}
    assert len(place) == len(order) and set(roots) <= set(order)
    needed = set(roots)
    for node in reversed(order):
        operation, arguments = program.graph.nodes[node]
        assert node in needed
        if operation != "input":
            needed |= {x for x in arguments if isinstance(x, int)}
            assert all(place[x] < place[node] for x in arguments if isinstance(x, int))


@given(programs)
def test_statements_read_only_computed_values(program: Program) -> None:
    """Fused products have no statement, and stored values are not fused away."""
    known: set[int] = set()
    for statement in program.statements:
        assert set(operands(statement)) <= known
        known.add(statement.target)
    assert {o.node for o in program.outputs if o.node is not None} <= known


@given(programs)
def test_fusing_products_does_not_change_results(program: Program) -> None:
    """Statements give the values of the nodes."""
    x = [0.3, -0.7, 1.1]
    plain = Program(
        program.graph, program.inputs, program.outputs, program.results, as_recorded=True
    )
    found, wanted = (p.on_numbers({"x": x})["out"] for p in (program, plain))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300)


def test_a_product_used_once_is_fused_with_its_sum() -> None:
    """a b + c is one statement. A product that is used twice or stored has its own."""
    once = record(lambda x: [x[0] * x[1] + x[2]], {"x": (3,)})
    assert [s.operation for s in once.statements if s.operation != "input"] == ["fma"]
    stored = record(lambda x: [x[0] * x[1] + x[2], x[0] * x[1]], {"x": (3,)})
    assert sorted(s.operation for s in stored.statements if s.operation != "input") == [
        "add",
        "mul",
    ]
    order = visit_nodes(once.graph, [once.outputs[0].node])
    assert "fma" in {s.operation for s in fuse_products(once.graph, order, {once.outputs[0].node})}


def test_inputs_are_loaded_just_before_their_first_use() -> None:
    """This holds for each input."""
    program = record(lambda x: [(x[0] + x[1]) * x[2]], {"x": (3,)})
    late = inputs_late(sorted(program.statements, key=lambda s: s.operation != "input"))
    assert [s.operation for s in late] == ["input", "input", "add", "input", "mul"]


def test_results_of_a_loop_are_read_directly_after_it() -> None:
    """They are in memory that the next call of a routine may overwrite."""
    program = record(lambda x: repeat(lambda s: [s[1], s[0] * x[0]], [x[0], 2.0], 3), {"x": (1,)})
    order = group_calls(
        program.graph, visit_nodes(program.graph, [o.node for o in program.outputs])
    )
    operations = [program.graph.nodes[i][0] for i in order]
    assert operations[-3:] == ["call", "of", "of"]


@pytest.mark.parametrize(("count", "most"), [(2, 2), (5, 6)])
def test_values_alive_counts_live_values(count: int, most: int) -> None:
    """Inputs that are summed after all were loaded are live together, with the first sum."""
    program = record(lambda x: [sum(x[1:], x[0])], {"x": (count,)})
    early = sorted(program.statements, key=lambda s: s.operation != "input")
    assert values_alive(early) == most
    assert values_alive(program.statements) <= most

"""Nodes of a recording: equal ones are shared, arguments come first, and loops capture outer
values.
"""

from __future__ import annotations

import gc
import math
from weakref import ref

import pytest

from warpdyn.algebra.scalar import maximum, repeat, sqrt
from warpdyn.recording.graph import Graph, segments
from warpdyn.recording.program import record
from warpdyn.recording.recorder import input_symbols


def test_equal_nodes_are_recorded_once() -> None:
    """The index 2 and the number 2.0 are different arguments."""
    graph = Graph()
    a, b = (graph.node("input", "x", k) for k in range(2))
    assert graph.node("add", a, b) == graph.node("add", a, b)
    assert graph.node("mul", a, b) != graph.node("mul", a, float(b))
    assert len(graph.nodes) == 5


def test_arguments_come_before_their_nodes() -> None:
    """The graph of a loop's step has this order, too."""
    program = record(
        lambda x: repeat(lambda s: [s[0] * x[1] + s[1], s[0]], [x[0], 1.0], 4), {"x": (2,)}
    )
    for graph in (program.graph, *(r.graph for r in program.graph.routines.values())):
        for i, (operation, arguments) in enumerate(graph.nodes):
            if operation != "input":
                assert all(x < i for x in arguments if isinstance(x, int))


def test_split_factor_separates_constant_factors() -> None:
    """Other nodes have the factor one."""
    graph = Graph()
    (x,) = input_symbols(graph, "x", 1)
    assert graph.split_factor((x * 3.0).index) == (3.0, x.index)
    assert graph.split_factor(x.index) == (1.0, x.index)


def test_a_loop_captures_each_outer_value_once() -> None:
    """A value computed from outer values only is computed outside of the loop."""

    def text(x: list) -> list:
        return repeat(lambda s: [s[0] * x[1] + x[1] * x[2] + x[1]], [x[0]], 4)

    program = record(text, {"x": (3,)})
    (routine,) = program.graph.routines.values()
    inside = routine.graph
    assert (program.graph.depth, inside.depth) == (0, 1)
    read = [program.graph.nodes[i] for i in inside.captured]
    assert [operation for operation, _ in read] == ["input", "mul"]
    assert sorted(inside.captured.values()) == [0, 1] and routine.shared == 2


def test_a_finished_recording_is_freed_without_a_garbage_collection() -> None:
    """Graphs of loops refer to the outer graph only while they are recorded."""

    def step(s: list) -> list:
        return repeat(lambda t: [t[0] * s[0], t[1] + s[1]], s, 3)

    program = record(lambda x: repeat(step, [x[0], x[1]], 4), {"x": (2,)})
    (outer,) = program.graph.routines.values()
    (inner,) = outer.graph.routines.values()
    graphs = [ref(graph) for graph in (program.graph, outer.graph, inner.graph)]
    gc.disable()
    try:
        del program, outer, inner
        assert [graph() for graph in graphs] == [None] * 3
    finally:
        gc.enable()


@pytest.mark.parametrize("times", [*range(17, 60), 100, 257, 1000])
def test_segments_minimise_the_number_of_stored_states(times: int) -> None:
    """States between segments plus those of one segment.

    Steps before the first segment are another loop.
    """
    first, number, length = segments(times)
    assert first + number * length == times and 0 <= first < length

    def stored_states(length: int) -> float:
        first = times % length
        return times // length + length + (first + math.sqrt(times) if first else 0)

    assert all(stored_states(length) <= stored_states(other) for other in range(2, times))


def test_loops_of_up_to_sixteen_steps_store_all_states() -> None:
    """A longer loop is a loop of loops when it is differentiated, and otherwise one loop."""
    for times, rolls, depth in ((16, False, 1), (17, False, 2), (17, True, 1)):
        program = record(
            lambda x, times=times: repeat(lambda s: [s[0] * x[1]], [x[0]], times),
            {"x": (2,)},
            rolls=rolls,
        )
        graph, found = program.graph, 0
        while graph.routines:
            graph, found = list(graph.routines.values())[-1].graph, found + 1
        assert found == depth


def test_the_size_of_a_graph_counts_arithmetic() -> None:
    """Sums, products and reciprocals, also unused ones."""
    graph = Graph()
    x, y = input_symbols(graph, "x", 2)
    assert [x + y, x - y, x * y, x / y, 2.0 * x, x + 1.0] and graph.size() == 7
    assert [sqrt(x), maximum(x, y)] and graph.size() == 7

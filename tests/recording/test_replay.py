"""Steps recorded again, and which of their entries vary."""

from __future__ import annotations

from typing import Any

import pytest

from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.recording.graph import Graph, Routine
from warpdyn.recording.program import record
from warpdyn.recording.recorder import Symbol
from warpdyn.recording.replay import (
    _replay_array,
    active_entries,
    carriers,
    is_moving,
    with_sign,
)


def routine() -> Routine:
    """A loop whose second state entry varies only through an array."""

    def text(x: list) -> list:
        a, b = RowArray([[0.0], [0.0]]), RowArray([[1.0]])

        def step(k: Any, state: list, _: Any) -> list:
            a[k] = [state[0]]
            return [state[0], a[0][0] + b[k][0], state[2]]

        return loop(2, step, [x[0], x[1], x[1]], [a, b])

    (found,) = record(text, {"x": (2,)}).graph.routines.values()
    return found


def test_active_entries_follow_derivatives_through_arrays() -> None:
    """The derivative goes from the first entry into the array, and from there into the second.

    The third entry is constant.
    """
    found = active_entries(routine(), {0}, set(), frozenset())
    assert found == ([0, 1], [0])
    assert active_entries(routine(), set(), set(), frozenset()) == ([], [])
    assert active_entries(routine(), set(), set(), frozenset(), {1}) == ([1], [1])


def test_an_index_carries_no_derivative() -> None:
    """Arrays and values do."""
    assert carriers("gather", (3, "0", 7)) == [3]
    assert carriers("scatter", (3, 7, 8, "", 0.5)) == [3, 8]
    assert carriers("add", (1, 2)) == [1, 2] and carriers("look", ("table", 1, 2)) == []


def test_signs_of_symbols_and_tangents_are_applied() -> None:
    """A tangent of 0 does not move."""
    graph = routine().graph
    assert with_sign(2.0, Symbol(graph, 0, negative=True)) == -2.0
    assert is_moving(Symbol(graph, 0)) and is_moving(1.0) and not is_moving(0.0)


def test_only_operations_on_arrays_are_recorded_again() -> None:
    """Others that name an array are refused with the remedy."""
    graph = Graph()
    graph.node("begun", "0", "1")
    with pytest.raises(TypeError, match="need `unrolls`: begun"):
        _replay_array(graph, 0, Graph(), ["0", "1"])

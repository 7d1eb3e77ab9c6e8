"""Columns side by side: what is done to one is done to each, and equal numbers are one again."""

from __future__ import annotations

from warpdyn.recording.graph import Graph
from warpdyn.recording.recorder import input_symbols
from warpdyn.recording.side_by_side import Together, one_constant


def test_what_is_done_to_one_is_done_to_each() -> None:
    """Sums, differences and products, with a scalar on either side."""
    pair = Together([2.0, 5.0])
    for result, wanted in (
        (pair + 1.0, (3.0, 6.0)),
        (1.0 - pair, (-1.0, -4.0)),
        (pair * Together([3.0, -1.0]), (6.0, -5.0)),
        (-pair, (-2.0, -5.0)),
    ):
        assert isinstance(result, Together) and result.sides == wanted


def test_equal_numbers_are_one() -> None:
    """A product with zero is zero, not two zeros; symbols stay apart."""
    graph = Graph()
    x, y = input_symbols(graph, "x", 2)
    assert Together([x, y]) * 0.0 == 0.0
    assert one_constant([1.0, 1]) and not one_constant([1.0, 2.0])
    assert not one_constant([x, x]) and not one_constant([1.0, x])

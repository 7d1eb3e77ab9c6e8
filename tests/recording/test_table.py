"""Tables in a program: looked up by name, and whole cells at once."""

from __future__ import annotations

from typing import Any

import pytest

from warpdyn.algebra.scalar import floor, look, repeat
from warpdyn.recording.order import CELL, CORNER
from warpdyn.recording.program import record
from warpdyn.recording.table import LOOK

NUMBERS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def operations(program) -> list[str]:
    return [s.operation for s in program.statements]


def test_a_look_up_reads_the_table_of_the_call() -> None:
    """It reads a node, and beyond the edges the nearest one. The size is not part of the program."""
    program = record(
        lambda x, t: [look(t, x[0], x[1]), look(t, 1.0, 0.0)],
        {"x": (2,), "t": (2, 3)},
        tables=("t",),
    )
    assert program.inputs["t"] == (0, 0) and operations(program).count(LOOK) == 2
    assert program.on_numbers({"x": [0.0, 2.0], "t": NUMBERS})["out"] == [3.0, 4.0]
    assert program.on_numbers({"x": [9.0, -9.0], "t": NUMBERS})["out"] == [4.0, 4.0]
    assert program.on_numbers({"x": [float("nan"), 1.0], "t": [[7.0], [8.0]]})["out"] == [7.0, 8.0]


def test_a_loop_looks_up_a_table_at_its_state() -> None:
    """The table is not captured by the loop."""

    def walk(x, t):
        return repeat(lambda s: [s[0] + look(t, s[1], x[0]), s[1] + 1.0], [0.0, 0.0], 2)

    program = record(walk, {"x": (1,), "t": (2, 3)}, tables=("t",))
    assert program.on_numbers({"x": [1.0], "t": NUMBERS})["out"] == [7.0, 2.0]
    assert walk([1.0], NUMBERS) == [7.0, 2.0]


def corners(x, t):
    i, j = floor(x[0]), floor(x[1])
    return [look(t, a, b) for a in (i, i + 1.0) for b in (j, j + 1.0)]


def test_the_corners_of_a_cell_are_one_look_up() -> None:
    """The order of the corners does not matter. Numbers are the same, also at the edges."""
    program = record(corners, {"x": (2,), "t": (2, 3)}, tables=("t",))
    assert operations(program).count(CELL) == 1 and operations(program).count(CORNER) == 4
    assert LOOK not in operations(program) and "add" not in operations(program)
    for x in ([0.5, 1.5], [0.0, -0.5], [-3.0, 2.5], [1.0, 2.0]):
        assert program.on_numbers({"x": x, "t": NUMBERS})["out"] == corners(x, NUMBERS)


def test_three_corners_are_separate_look_ups() -> None:
    program = record(lambda x, t: corners(x, t)[:3], {"x": (2,), "t": (2, 3)}, tables=("t",))
    assert operations(program).count(LOOK) == 3 and CELL not in operations(program)


def test_indices_of_a_cell_can_be_results() -> None:
    """They are not removed with the look-ups that used them."""
    program = record(
        lambda x, t: [*corners(x, t), floor(x[0]) + 1.0], {"x": (2,), "t": (2, 3)}, tables=("t",)
    )
    assert CELL in operations(program)
    found = program.on_numbers({"x": [0.5, 0.5], "t": NUMBERS})["out"]
    assert found == [1.0, 2.0, 4.0, 5.0, 1.0]


def test_the_listing_shows_look_ups() -> None:
    program = record(corners, {"x": (2,), "t": (2, 3)}, tables=("t",))
    assert "t[t" in program.listing() and "corner 3 of" in program.listing()


@pytest.mark.parametrize("row", [-1.0, 0.0, 1.0, 5.0, float("inf"), float("-inf")])
def test_look_works_on_numbers_as_in_a_program(row: float) -> None:
    assert look(NUMBERS, row, 1.0) == NUMBERS[int(min(max(row, 0.0), 1.0))][1]


def test_the_repr_of_a_table_has_its_name() -> None:
    tables: list[Any] = []
    record(lambda x, t: (tables.append(t), [x[0]])[1], {"x": (1,), "t": (2, 3)}, tables=("t",))
    assert repr(tables) == "[ProgramTable(t)]"

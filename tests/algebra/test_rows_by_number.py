"""Rows read by number: columns that are equal in all rows need no memory."""

from __future__ import annotations

from typing import Any

import pytest

from warpdyn.algebra.row_arrays import loop
from warpdyn.algebra.rows_by_number import RowsByNumber
from warpdyn.algebra.scalar import sqrt
from warpdyn.recording.program import record


def test_equal_columns_are_not_stored() -> None:
    """Numbers, and equal symbols."""
    rows = RowsByNumber([[1.0, 2.0, 5.0], [1.0, 3.0, 5.0]])
    assert rows[0] == [1.0, 2.0, 5.0] and rows[1.0] == [1.0, 3.0, 5.0] == rows[7.0]
    (array,) = rows.arrays
    assert array.width == 1 and array.constant
    assert RowsByNumber([[1.0, 2.0]]).arrays == []


def test_a_loop_reads_rows_by_number() -> None:
    """The loop reads a row at its counter and a row at an index per environment."""

    def text(x: list) -> list:
        rows = RowsByNumber([[x[0], x[1]], [x[0], 2.0], [x[0], x[2]]])
        (array,) = rows.arrays
        assert not array.constant
        return loop(3, lambda k, s, _: [s[0] + rows[k][1], rows[x[3]][1]], [x[0], 0.0], [array])

    program = record(text, {"x": (4,)})
    assert program.on_numbers({"x": [1.0, 5.0, 7.0, 2.0]})["out"] == [15.0, 7.0]


def test_a_step_that_is_left_out_computes_nothing_of_a_row_that_it_reads_inside() -> None:
    """Symbols of a single row are stored then, and what a loop computes of them stays in the loop. A
    number is not stored."""

    def text(x: list, read_inside: int) -> list:
        rows = RowsByNumber([[x[0], 3.0]], read_inside)

        def step(k: Any, s: list, _: Any) -> list:
            y, three = rows[0.0]
            return [s[0] + sqrt(y) * three]

        return loop(1, step, [0.0], rows.arrays, needed=x[1])

    for read_inside in (0, 1):
        program = record(lambda x, inside=read_inside: text(x, inside), {"x": (2,)})
        (routine,) = program.routines.values()
        assert routine.uses("sqrt") is bool(read_inside)
        assert any(s.operation == "sqrt" for s in program.statements) is not bool(read_inside)
        assert program.on_numbers({"x": [4.0, 1.0]})["out"] == [6.0]
    assert RowsByNumber([[1.0, 2.0]], read_inside=2).arrays == []


def test_constant_rows_are_shared_by_all_environments() -> None:
    """Their numbers may be used as indices. They cannot be written."""

    def text(x: list) -> list:
        order, numbers = RowsByNumber([[2.0], [0.0], [1.0]]), RowsByNumber([[y] for y in x])
        arrays = [*order.arrays, *numbers.arrays]
        return loop(3, lambda k, s, _: [2.0 * s[0] + numbers[order[k][0]][0]], [0.0], arrays)

    program = record(text, {"x": (3,)})
    (step,) = program.routines.values()
    assert not step.uses("gather")
    assert program.on_numbers({"x": [1.0, 10.0, 100.0]})["out"] == [412.0]
    (array,) = RowsByNumber([[2.0], [0.0]]).arrays
    with pytest.raises(TypeError, match="constant array"):
        loop(1, lambda k, s, arrays: arrays[0].__setitem__(0, [1.0]) or s, [0.0], [array])

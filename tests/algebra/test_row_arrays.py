"""Arrays of scalars in loops, on numbers.

For recordings see tests/recording/test_array_loops.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from warpdyn.algebra.row_arrays import RowArray, loop, step_if_needed
from warpdyn.algebra.scalar import nearest_row
from warpdyn.recording.program import record


def test_a_loop_reads_and_writes_rows() -> None:
    """Cumulative sums in place."""
    a = RowArray([[1.0], [2.0], [3.0]])

    def step(k: Any, state: list, arrays: Any) -> list:
        total = state[0] + arrays[0][k][0]
        arrays[0][k] = [total]
        return [total]

    assert loop(3, step, [10.0], [a]) == [16.0]
    assert [*a] == [[11.0], [13.0], [16.0]]


@pytest.mark.parametrize("needed, wanted", [(0.0, 0), (1.5, 2), (2.0, 2), (9.0, 4), (-1.0, 0)])
def test_a_loop_ends_after_the_needed_steps(needed: float, wanted: int) -> None:
    """The loop runs on numbers. NaN needs no step."""

    def count(k: Any, state: list, _: Any) -> list:
        return [state[0] + 1.0]

    assert loop(4, count, [0.0], [], needed) == [float(wanted)]
    assert loop(4, count, [0.0], [], float("nan")) == [0.0]


def test_the_number_of_steps_can_be_an_entry_of_the_state() -> None:
    """A step may lower it."""

    def count(k: Any, state: list, _: Any) -> list:
        return [state[0] + 1.0, 2.0 if k == 1.0 else state[1]]

    assert loop(9, count, [0.0, 9.0], [], last=1) == [2.0, 2.0]
    assert loop(9, count, [0.0, 0.0], [], last=1) == [0.0, 0.0]


def test_writing_a_constant_array_is_refused() -> None:
    """The step of a loop with this array is refused, too."""
    a = RowArray([[1.0]], constant=True)

    def write(_: Any, state: list, arrays: Any) -> list:
        arrays[0][0] = [2.0]
        return state

    with pytest.raises(TypeError, match="constant array"):
        loop(1, write, [0.0], [a])


@pytest.mark.parametrize("index", [-3.0, -0.1, 0.0, 0.9, 1.0, 1.7, 2.0, 8.0, math.nan])
def test_rows_can_be_read_and_written_at_a_computed_index(index: float) -> None:
    """Read outside of loops and written in one: the nearest row, and 0 for NaN, as on numbers."""
    rows = [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]

    def text(x: list) -> list:
        a = RowArray(rows)

        def step(k: Any, state: list, arrays: Any) -> list:
            a[x[0]] = [state[0], 7.0]
            return [state[0] + 1.0]

        read = a[x[0]]
        loop(2, step, [5.0], [a])
        return [*read, *(y for row in a for y in row)]

    place = nearest_row(index, 3)
    written = [[6.0, 7.0] if k == place else row for k, row in enumerate(rows)]
    wanted = [*rows[place], *(y for row in written for y in row)]
    assert text([index]) == wanted
    for unrolls in (False, True):
        program = record(text, {"x": (1,)}, unrolls=unrolls)
        assert program.on_numbers({"x": [index]})["out"] == wanted


def test_arrays_without_values_contain_nan() -> None:
    array = RowArray.without_values(2, 3)
    assert array.is_unset and len(array) == 2 and array.width == 3
    assert all(math.isnan(x) for row in array for x in row)
    assert not RowArray([[1.0]]).is_unset


@pytest.mark.parametrize("rows", [[], [[]], [[1.0], [1.0, 2.0]]])
def test_rows_of_different_lengths_are_refused(rows: list) -> None:
    with pytest.raises(ValueError, match="rows of equal length above 0, got lengths"):
        RowArray(rows)
    with pytest.raises(IndexError, match="row -1 of an array of 1 rows"):
        RowArray([[1.0]])[-1]


@pytest.mark.parametrize("needed", [-1.0, 0.0, 1.0])
def test_a_step_that_is_not_needed_is_skipped(needed: float) -> None:
    """The step writes to an array and to the state."""
    array = RowArray([[1.0]])

    def step(state: list, arrays: Sequence[RowArray]) -> list:
        arrays[0][0] = [5.0]
        return [state[0] + 1.0]

    assert step_if_needed(needed, step, [2.0], [array]) == [3.0 if needed > 0 else 2.0]
    assert array[0] == [5.0 if needed > 0 else 1.0]


def test_a_loop_of_no_steps_returns_the_state() -> None:
    """Numbers and symbols are tested. The step is not called, so that nothing is recorded."""

    def never(k: Any, state: list, arrays: Any) -> list:
        raise AssertionError("a step of an empty loop")

    assert loop(0, never, [3.0], [RowArray([[1.0]])]) == [3.0]
    program = record(lambda x: loop(0, never, [x[0], 2.0], []), {"x": (1,)})
    assert program.on_numbers({"x": [3.0]})["out"] == [3.0, 2.0]

"""Programs on numbers: loops store values that other loops read."""

from __future__ import annotations

from typing import Any

from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.recording.program import record
from warpdyn.recording.program_on_numbers import call_routine, evaluate


def double_rows(x: list) -> list:
    """An array whose rows are doubled one after the other."""
    a = RowArray([[x[0]], [x[1]]])

    def step(k: Any, state: list, _: Any) -> list:
        a[k] = [2.0 * a[k][0] + state[0]]
        return state

    loop(2, step, [x[1]], [a])
    return [a[0][0], a[1][0]]


def test_a_loop_changes_the_rows_that_it_receives() -> None:
    """It stores a copy of the original rows."""
    program = record(double_rows, {"x": (2,)})
    assert evaluate(program, {"x": [1.0, 3.0]}, {}) == {"out": [5.0, 9.0]}
    ((name, routine),) = program.routines.items()
    rows, kept = [[1.0], [3.0]], dict[str, list[Any]]()
    call_routine(routine, name, [], [3.0], kept, {}, [rows])
    assert rows == [[5.0], [9.0]] and kept[f"{name} begun"] == [[[1.0], [3.0]]]


def test_a_program_does_not_change_its_inputs() -> None:
    """Two runs with the same numbers give the same results."""
    program = record(double_rows, {"x": (2,)})
    given = {"x": [1.0, 3.0]}
    assert program.on_numbers(given) == program.on_numbers(given)

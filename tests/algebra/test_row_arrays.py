"""Arrays of scalars in loops, on numbers. Recordings: tests/recording/test_array_loops.py."""

from __future__ import annotations

from typing import Any

import pytest

from warpdyn.algebra.row_arrays import RowArray, loop


def test_a_loop_reads_and_writes_rows() -> None:
    """Sums from the front, in place."""
    a = RowArray([[1.0], [2.0], [3.0]])

    def step(k: Any, state: list, arrays: Any) -> list:
        total = state[0] + arrays[0][k][0]
        arrays[0][k] = [total]
        return [total]

    assert loop(3, step, [10.0], [a]) == [16.0]
    assert [*a] == [[11.0], [13.0], [16.0]]


@pytest.mark.parametrize("needed, wanted", [(0.0, 0), (1.5, 2), (2.0, 2), (9.0, 4), (-1.0, 0)])
def test_a_loop_ends_after_the_needed_steps(needed: float, wanted: int) -> None:
    """On numbers at once; NaN needs none."""

    def count(k: Any, state: list, _: Any) -> list:
        return [state[0] + 1.0]

    assert loop(4, count, [0.0], [], needed) == [float(wanted)]
    assert loop(4, count, [0.0], [], float("nan")) == [0.0]


def test_a_loop_ends_after_the_steps_of_its_state() -> None:
    """An entry that a step may lower."""

    def count(k: Any, state: list, _: Any) -> list:
        return [state[0] + 1.0, 2.0 if k == 1.0 else state[1]]

    assert loop(9, count, [0.0, 9.0], [], last=1) == [2.0, 2.0]
    assert loop(9, count, [0.0, 0.0], [], last=1) == [0.0, 0.0]


def test_a_constant_array_is_not_written() -> None:
    """Not even in the step of a loop that has it."""
    a = RowArray([[1.0]], constant=True)

    def write(_: Any, state: list, arrays: Any) -> list:
        arrays[0][0] = [2.0]
        return state

    with pytest.raises(TypeError, match="constant array"):
        loop(1, write, [0.0], [a])

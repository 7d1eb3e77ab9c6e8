"""Recorded loops with arrays give the results on numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_programs import SEEDS, SHAPES, random_program

from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import repeat
from warpdyn.recording import array_loops
from warpdyn.recording.program import Program, record

SAME = 1e-12
"""Relative and absolute: the recording adds and multiplies in another order."""


def inputs(seed: int, count: int = 3) -> list[dict[str, list[float]]]:
    """Numbers, and indices inside and outside of the arrays."""
    draw = np.random.default_rng(seed)
    return [
        {"x": draw.normal(size=4).tolist(), "z": draw.integers(-1, 6, 3).astype(float).tolist()}
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unrolls", [False, True])
def test_a_recording_equals_the_function_on_numbers(seed: int, unrolls: bool) -> None:
    """It reads and writes at counters and at indices per environment, in nested loops."""
    program = record(random_program(seed), SHAPES, unrolls=unrolls)
    assert bool(program.routines) is not unrolls
    for numbers in inputs(seed):
        found = program.on_numbers(numbers)["out"]
        assert found == pytest.approx(random_program(seed)(**numbers), rel=SAME, abs=SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_large_arrays_are_written_row_by_row(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each array counts as large. Entries that are 0 are not written, -0 is."""
    monkeypatch.setattr(array_loops, "SMALL", 0)
    program = record(random_program(seed), SHAPES)
    assert not any(s.operation == "rows" for s in program.statements)
    for numbers in inputs(seed):
        found = program.on_numbers(numbers)["out"]
        assert found == pytest.approx(random_program(seed)(**numbers), rel=SAME, abs=SAME)


def test_a_step_is_recorded_once() -> None:
    """The number of steps and of rows does not change the length of a step."""

    def record_filter(n: int) -> Program:
        def text(x: list) -> list:
            a = RowArray([[0.0] for _ in range(n)])

            def step(k: Any, state: list, _: Any) -> list:
                a[k] = [0.5 * a[k - 1.0][0] + state[0]]
                return [state[0] * x[1]]

            loop(n, step, [x[0]], [a])
            return a[n - 1]

        return record(text, {"x": (2,)})

    (short,), (long,) = (record_filter(n).routines.values() for n in (5, 50))
    assert len(short.statements) == len(long.statements)


def test_unchanged_entries_are_not_written() -> None:
    """Writing a row with one new entry is one store."""

    def text(x: list) -> list:
        a = RowArray([[x[0], x[1], x[0]]] * 3)

        def step(k: Any, state: list, _: Any) -> list:
            row = a[k]
            row[1] = row[1] + state[0]
            a[k] = row
            return state

        loop(3, step, [x[1]], [a])
        return a[2]

    (step,) = record(text, {"x": (2,)}).routines.values()
    (write,) = (s for s in step.statements if s.operation == "write")
    assert [isinstance(x, int) for x in write.arguments[2:]] == [False, True, False]


def test_an_index_beyond_the_array_selects_the_nearest_row() -> None:
    """NaN selects row 0. Python's whole numbers must be within the array."""
    a = RowArray([[1.0], [2.0], [3.0]])
    assert [a[x][0] for x in (-4.0, 0.9, 1.0, 7.0, float("nan"))] == [1.0, 1.0, 2.0, 3.0, 1.0]

    def text(x: list) -> list:
        b = RowArray([[x[0]], [2.0], [3.0]])
        return loop(1, lambda k, s, arrays: b[x[1]], [0.0], [b])

    for program in (record(text, {"x": (2,)}), record(text, {"x": (2,)}, unrolls=True)):
        for index, found in ((-4.0, 1.0), (0.9, 1.0), (1.0, 2.0), (7.0, 3.0), (np.nan, 1.0)):
            assert program.on_numbers({"x": [1.0, index]})["out"] == [found]
    with pytest.raises(IndexError, match="row 3 of an array of 3 rows"):
        a[3]


def test_writing_an_array_outside_of_a_step_is_refused() -> None:
    """The write is outside a loop, in a loop without the array, or in `repeat`."""
    a = RowArray([[1.0]])
    with pytest.raises(TypeError, match="in the step of a loop"):
        a[0] = [2.0]
    with pytest.raises(ValueError, match="has 1 numbers, got 2"):
        a[0] = [2.0, 3.0]
    with pytest.raises(ValueError, match="rows of equal length"):
        RowArray([[1.0], [1.0, 2.0]])

    def write(b: RowArray) -> Any:
        def step(state: list) -> list:
            b[0] = [state[0]]
            return state

        return step

    def inside(x: list) -> list:
        b = RowArray([[x[0]]])
        return loop(2, lambda k, s, _: repeat(write(b), s, 2), [x[0]], [b])

    def not_passed(x: list) -> list:
        b, c = RowArray([[x[0]]]), RowArray([[x[0]]])

        def outer(k: Any, s: list, _: Any) -> list:
            return loop(2, lambda k, s, _: write(b)(s), s, [c])

        return loop(2, outer, [x[0]], [b, c])

    def in_repeat(x: list) -> list:
        b = RowArray([[x[0]]])
        loop(1, lambda k, s, _: s, [x[0]], [b])
        return repeat(lambda s: loop(2, lambda k, t, _: t, s, [b]), [x[0]], 2)

    for text, said in ((inside, "further in"), (not_passed, "further in"), (in_repeat, "pass it")):
        with pytest.raises(TypeError, match=said):
            record(text, {"x": (1,)})


def test_a_step_must_return_its_whole_state() -> None:
    """Another number of entries is refused."""

    def text(x: list) -> list:
        return loop(2, lambda k, s, _: [*s, 1.0], [x[0]], [RowArray([[0.0]])])

    with pytest.raises(ValueError, match="its state has, 1; got 2"):
        record(text, {"x": (1,)})


def test_an_index_of_an_inner_loop_needs_the_array_in_that_loop() -> None:
    def text(x: list) -> list:
        a, b = RowArray([[x[0]], [x[1]]]), RowArray([[0.0]])

        def outer(k: Any, state: list, _: Any) -> list:
            return loop(2, lambda n, s, _: [s[0] + a[n][0]], state, [b])

        return loop(2, outer, [x[0]], [a, b])

    with pytest.raises(TypeError, match="at an index of that loop; pass the array to that loop"):
        record(text, {"x": (2,)})


@pytest.mark.parametrize("needed", [0.0, 0.5, 1.0, 2.5, 3.0, 9.0, -1.0])
@pytest.mark.parametrize("kind", ["number", "symbol", "entry"])
def test_steps_that_are_not_needed_are_not_run(needed: float, kind: str) -> None:
    """Their number is a number, a computed value, or an entry of the state."""

    def text(x: list) -> list:
        a = RowArray([[1.0]] * 4)

        def step(k: Any, state: list, _: Any) -> list:
            a[k] = [2.0 * a[k][0] + x[1]]
            return [state[0] + 1.0, state[1]]

        ends = {"number": {"needed": needed}, "symbol": {"needed": x[0]}, "entry": {"last": 1}}
        done, _ = loop(4, step, [0.0, x[0]], [a], **ends[kind])
        return [done, *(a[k][0] for k in range(4))]

    steps = min(max(int(np.ceil(needed)), 0), 4)
    wanted = [float(steps), *[2.5] * steps, *[1.0] * (4 - steps)]
    assert text([needed, 0.5]) == wanted
    program = record(text, {"x": (2,)})
    assert program.on_numbers({"x": [needed, 0.5]})["out"] == wanted


def test_passing_an_array_twice_to_a_loop_is_refused() -> None:
    a = RowArray([[1.0]])
    with pytest.raises(ValueError, match="an array is passed to a loop twice"):
        loop(2, lambda k, s, arrays: s, [1.0], [a, a])

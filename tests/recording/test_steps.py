"""Sweeps give the numbers of unrolled steps in every form of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_on_host import needs_compiler
from cuda_on_host import run as run_on_host
from states import error

import warpdyn as wd
from warpdyn.algebra.scalar import repeat, sin, sweep, sweep_in_line
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call
from warpdyn.recording.program import Program, record

MODEL = wd.load_robot("cartpole")
CLOSE = {np.float32: 1e-5, np.float64: 1e-13}
"""Relative to the largest entry: tens of rounded operations."""

PATHS = [[0, 1, 2, 3, 4], [2, 3], [], [4, 1]]


def step(state: list, row: list) -> tuple[list, list]:
    """The second entry of the state is always zero, the third one only after the first step."""
    a, b, c = state
    x, number, same, minus = row
    return [a * x + number * c, b * x, c + same], [a + b, 3.0, c * minus]


def one_sweep(x: list, run: Any = sweep) -> list:
    """Rows of symbols, of different numbers, of one number, and of symbols with a sign."""
    rows = [[sin(x[k]), 0.1 * k - 0.3, 0.25, -x[k]] for k in range(5)]
    states = [[x[n], 0.0, 0.0] for n in range(len(PATHS))]
    values, ends = run(step, states, PATHS, rows)
    return [y for path in values for value in path for y in value] + [y for e in ends for y in e]


def one_after_the_other(x: list, run: Any = sweep) -> list:
    """The rows of the second sweep are values of the first one in reverse order."""
    values, _ = run(
        lambda s, row: ([s[0] * row[0] + 0.5], [s[0], s[0] + row[0]]),
        [[x[0]]],
        [range(4, -1, -1)],
        [[y] for y in x],
    )
    found = values[0][::-1]
    rows = [[x[k] * 2.0, *found[k]] for k in range(5)]
    _, ((a, b),) = run(
        lambda s, row: ([s[0] + row[0] * row[2], s[1] - row[1]], []),
        [[x[1], 1.0]],
        [range(5)],
        rows,
    )
    return [a, b, found[2][1]]


def in_a_loop(x: list, run: Any = sweep) -> list:
    """A sweep in the step of a loop."""

    def turn(state: list) -> list:
        rows = [[state[0], 0.5 + 0.1 * k] for k in range(4)]
        _, ((a,),) = run(
            lambda s, row: ([s[0] * row[1] + row[0]], []), [[state[1]]], [range(4)], rows
        )
        return [0.5 * state[0] + 0.1 * a, state[1] - 0.2 * a]

    return repeat(turn, [x[0], x[1]], 3)


FUNCTIONS = [one_sweep, one_after_the_other, in_a_loop]
each_function = pytest.mark.parametrize("function", FUNCTIONS)


def inputs(count: int) -> np.ndarray:
    return np.random.default_rng(count).uniform(-1.0, 1.0, (count, 5))


def evaluate_in_line(function: Any, x: np.ndarray) -> np.ndarray:
    return np.array([function(row.tolist(), sweep_in_line) for row in x])


def record_function(function: Any) -> Program:
    return record(function, {"x": (5,)})


@each_function
def test_a_recorded_sweep_equals_unrolled_steps(function: Any) -> None:
    """`scalar.sweep` and the recorded program run on numbers."""
    program, x = record_function(function), inputs(3)
    assert program.routines
    found = [program.on_numbers({"x": row})["out"] for row in x.tolist()]
    assert error(np.array(found), evaluate_in_line(function, x)) <= CLOSE[np.float64]
    assert np.array_equal([function(row) for row in x.tolist()], evaluate_in_line(function, x))


@each_function
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_kernel_with_sweeps_equals_unrolled_steps(function: Any, dtype: Any) -> None:
    """Arrays are in rows or in columns, and some lanes are unused."""

    @batched
    def run(model: wd.Model, x: Any, *, out: Any = None) -> Any:
        algorithm = (lambda tree, x: function(x),)
        return Call(function.__name__, model, algorithm, {"x": x}, out=out, shapes={"x": (5,)})

    x = inputs(19).astype(dtype)
    expected = evaluate_in_line(function, x.astype(float))
    for layout in (np.ascontiguousarray, np.asfortranarray):
        out = np.full(expected.shape, np.nan, dtype)
        run(MODEL, layout(x), out=out)
        assert error(out.astype(float), expected) <= CLOSE[dtype]


@needs_compiler
@each_function
def test_the_cuda_source_of_sweeps_equals_unrolled_steps(function: Any, tmp_path: Path) -> None:
    """Built by the host's compiler and run thread by thread."""
    x = inputs(5)
    out = np.full(evaluate_in_line(function, x).shape, np.nan)
    run_on_host(
        write(record_function(function), "swept", False, "cuda"), {"x": x}, out, folder=tmp_path
    )
    assert error(out, evaluate_in_line(function, x)) <= CLOSE[np.float64]


def test_a_step_is_recorded_once() -> None:
    """Five rows or fifty are programs with one step. Operations are counted for each row."""

    def along(n: int) -> Program:
        rows = [[0.1 * k] for k in range(n)]
        return record(
            lambda x: sweep(
                lambda s, row: ([s[0] * x[0] + row[0]], []), [[x[1]]], [range(n)], rows
            )[1][0],
            {"x": (2,)},
        )

    short, long = along(5), along(50)
    assert len(short.statements) == len(long.statements)
    assert (short.operations, long.operations) == (10, 100)
    assert "along 50 rows" in long.listing()


def test_zeros_and_equal_numbers_are_constants_of_a_sweep() -> None:
    """A state entry that stays zero is not an entry of the routine, nor is a number common to all
    rows.
    """
    (routine,) = record_function(one_sweep).graph.routines.values()
    assert routine.sweep is not None
    assert routine.sweep.state == 2 and routine.sweep.row == 2
    assert {len(row) for row in routine.sweep.fixed} == {1}


def test_values_of_an_earlier_sweep_are_read_in_place() -> None:
    _, second = record_function(one_after_the_other).graph.routines.values()
    assert second.sweep is not None and second.sweep.row == 1
    ((name, values, steps),) = [(s.routine, s.values, s.steps) for s in second.sweep.sources]
    assert (name, values, steps) == ("routine0", 2, (4, 3, 2, 1, 0))


def test_columns_of_mixed_values_are_not_read_in_place() -> None:
    """The values are of two sweeps, two values of one sweep, or of a sweep and symbols."""

    def mixed_columns(x: list, run: Any = sweep) -> list:
        rows = [[y] for y in x]
        (a,), _ = run(
            lambda s, row: ([s[0] * row[0]], [s[0], row[0] + s[0]]), [[2.0]], [range(5)], rows
        )
        (b,), _ = run(
            lambda s, row: ([s[0] - row[0]], [s[0], row[0] * s[0]]), [[3.0]], [range(5)], rows
        )
        two = [(a if k % 2 else b)[k][1] for k in range(5)]
        values = [a[k][k % 2] for k in range(5)]
        partly = [x[k] if k == 3 else b[k][0] for k in range(5)]
        negative = [-a[k][1] if k == 3 else a[k][1] for k in range(5)]
        columns = list(zip(two, values, partly, negative, strict=True))
        _, ends = run(
            lambda s, row: ([u * 0.5 + y for u, y in zip(s, row, strict=True)], []),
            [[1.0, 2.0, 3.0, 4.0]],
            [range(5)],
            columns,
        )
        return list(ends[0])

    program, x = record_function(mixed_columns), inputs(3)
    found = [program.on_numbers({"x": row})["out"] for row in x.tolist()]
    assert error(np.array(found), evaluate_in_line(mixed_columns, x)) <= CLOSE[np.float64]
    *_, last = program.graph.routines.values()
    assert last.sweep is not None and last.sweep.sources == () and last.sweep.row == 4


def test_derivatives_are_recorded_in_line() -> None:
    """A sweep has no derivative of its own."""
    assert not record(one_sweep, {"x": (5,)}, rolls=False).routines

"""Inputs that are the first content of arrays, and results that are their rows: the same values get to
the same places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import Scalar
from warpdyn.codegen.moved_rows import FEWEST, MovedRows
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call
from warpdyn.recording.array_operations import ROWS, UNSET, WRITE, ZEROS
from warpdyn.recording.program import Program, record

MODEL = wd.load_robot("cartpole")
COUNT, GAP = 40, 11
"""Rows of an array, and the row after which its content lies further on in the inputs."""

SHAPES = {"x": (COUNT + 30,), "y": (COUNT + 1, 2), "z": (COUNT, 2)}


def copy_rows(x: list, y: list, z: list) -> tuple[list, list, list]:
    """An array of inputs with a last row of constants, whose rows a loop changes, and one that no loop
    changes. Results are entries of the first, one of them used again, and sums."""
    rows = [[y[_place(k)][0], x[_place(k)], y[_place(k)][1]] for k in range(COUNT)]
    changed, kept = RowArray([*rows, [-1.0, 0.0, 0.0]]), RowArray(z)

    def step(k: Scalar, state: list, arrays: Any) -> list:
        a, b, c = arrays[0][k]
        d, e = kept[k]
        arrays[0][k] = [a + b, b * c + d, c]
        return [state[0] + a + e]

    (total,) = loop(COUNT - 5, step, [x[COUNT + 5]], [changed, kept])
    new_x = [changed[_row(k)][1] if k < COUNT + 1 else x[k] + 1.0 for k in range(COUNT + 30)]
    new_y = [[changed[_row(k)][0], changed[_row(k)][2]] for k in range(COUNT + 1)]
    return new_x, new_y, [total, -changed[20][2], changed[7][1], z[3][0]]


def _place(k: int) -> int:
    return k + (k >= GAP)


def _row(k: int) -> int:
    """The row of an entry of an input; the last row for the one in the gap."""
    return COUNT if k == GAP else k - (k > GAP)


@pytest.fixture(scope="module")
def program() -> Program:
    return record(copy_rows, SHAPES, ("x", "y", "sums"))


def test_inputs_have_the_places_of_their_rows(program: Program) -> None:
    """An entry in the gap is in no row, and z[3] is also read by the program."""
    moved = MovedRows.of(program)
    assert moved.inputs.keys() == {"x", "y", "z"}
    (changed,) = {place[0] for place in moved.inputs["y"] if place}
    (kept,) = {place[0] for place in moved.inputs["z"] if place}
    assert moved.written == {changed}
    where = {_place(k): 3 * k for k in range(COUNT)}
    assert moved.inputs["x"] == [
        (changed, where[k] + 1) if k in where else None for k in range(COUNT + 30)
    ]
    for j in range(2):
        assert moved.inputs["y"][j::2] == [
            (changed, where[k] + 2 * j) if k in where else None for k in range(COUNT + 1)
        ]
    assert moved.inputs["z"] == [None if k == 6 else (kept, k) for k in range(2 * COUNT)]


def test_results_have_the_places_of_rows(program: Program) -> None:
    """An entry whose negative or which itself is also in a short result is stored by the program."""
    moved = MovedRows.of(program)
    assert moved.results.keys() == {"x", "y"}
    (changed,) = moved.written
    again = {("x", 7), ("y", 2 * (20 + 1) + 1)}
    for name, width in (("x", 1), ("y", 2)):
        for k, place in enumerate(moved.results[name]):
            row, j = divmod(k, width)
            if (name, k) in again or row > COUNT:
                assert place is None
            else:
                assert place == (changed, 3 * _row(row) + (1 if name == "x" else 2 * j))
    stored = {
        program.outputs_of[n][k].node
        for n in ("x", "y")
        for k, p in enumerate(moved.results[n])
        if p
    }
    assert moved.stored == stored


def test_statements_without_copies_write_the_other_entries(program: Program) -> None:
    """The array of zeros becomes one that sets the zeros of the last row alone."""
    statements = MovedRows.of(program).statements
    assert len(statements) < len(program.statements) - 3 * SHAPES["x"][0]
    assert {s.operation for s in statements}.isdisjoint({ZEROS, UNSET})
    (zeros,) = (s for s in statements if s.operation == ROWS)
    assert [x for x in zeros.arguments[2:] if x != ""] == [0.0, 0.0, 0.0]
    assert zeros.arguments[2:].count(0.0) == 3 and zeros.arguments[-3:] == (0.0, 0.0, 0.0)
    writes = [s.arguments[1:] for s in statements if s.operation == WRITE]
    assert (float(COUNT), -1.0, "", "") in writes
    assert len(writes) == 2, "the last row of one array, and row 3 of the other one"


def test_programs_without_arrays_or_with_short_ones_stay_as_they_are() -> None:
    plain = record(lambda x: [x[0] + x[1]], {"x": (2,)})
    assert MovedRows.of(plain) == MovedRows(plain.statements)

    def short(x: list) -> list:
        rows = RowArray(x)
        loop(len(x), _double, [], [rows])
        return [*rows]

    for count, names in ((FEWEST // 2 - 1, set()), (FEWEST // 2, {"x"})):
        moved = MovedRows.of(record(short, {"x": (count, 2)}))
        assert moved.inputs.keys() == names
        assert len(moved.results) == len(names)


def _double(k: Scalar, state: list, arrays: Any) -> list:
    arrays[0][k] = [2.0 * x for x in arrays[0][k]]
    return state


def test_rows_that_change_later_are_no_result() -> None:
    """A result of rows before the last loop is stored by the program."""

    def twice(x: list) -> tuple[list, list]:
        rows = RowArray(x)
        loop(len(x), _double, [], [rows])
        between = [*rows]
        loop(len(x), _double, [], [rows])
        return between, [*rows]

    moved = MovedRows.of(record(twice, {"x": (FEWEST, 2)}, ("between", "end")))
    assert moved.results.keys() == {"end"} and moved.inputs.keys() == {"x"}


def test_most_entries_must_be_in_arrays() -> None:
    def few(x: list) -> list:
        rows = RowArray([[a] for a in x[: FEWEST // 2]])
        loop(FEWEST // 2, _double, [], [rows])
        return [*(rows[k][0] for k in range(FEWEST // 2)), *(a + 1.0 for a in x[FEWEST // 2 :])]

    moved = MovedRows.of(record(few, {"x": (FEWEST,)}))
    assert not moved.inputs and not moved.results


@batched
def copy_all(model: wd.Model, x: Any, y: Any, z: Any, *, out: Any = None) -> Any:
    """The program as a function of a model."""

    def compute(_: Any, x: list, y: list, z: list) -> tuple[list, list, list]:
        return copy_rows(x, y, z)

    given = {"x": x, "y": y, "z": z}
    return Call(
        "moved_rows", model, (compute,), given, results=("x", "y", "sums"), out=out, shapes=SHAPES
    )


def on_numbers(program: Program, x: Any, y: Any, z: Any) -> list[np.ndarray]:
    """The results of the program for one environment after the other."""
    each = [
        program.on_numbers({"x": a.tolist(), "y": b.tolist(), "z": c.tolist()})
        for a, b, c in zip(x, y, z, strict=True)
    ]
    return [np.array([found[name] for found in each]) for name in ("x", "y", "sums")]


def random_inputs(count: int, dtype: Any, seed: int = 0) -> list[np.ndarray]:
    """Whole numbers, so that no rounding differs."""
    random = np.random.default_rng(seed)
    return [random.integers(-9, 10, (count, *shape)).astype(dtype) for shape in SHAPES.values()]


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_gives_the_numbers_of_the_program(
    program: Program, dtype: Any, layout: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last block is not full. Environments are one after the other or side by side; results are
    new arrays, or written over the inputs."""
    monkeypatch.setattr(wd.config, "compile", "wait")
    x, y, z = map(layout, random_inputs(103, dtype))
    wanted = on_numbers(program, x, y, z)
    for found, numbers in zip(copy_all(MODEL, x, y, z), wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(found).reshape(numbers.shape), numbers)
    sums = np.full((103, 4), np.nan, dtype)
    copy_all(MODEL, x, y, z, out=(x, y, sums))
    for found, numbers in zip((x, y, sums), wanted, strict=True):
        np.testing.assert_array_equal(found, numbers)


def test_one_input_for_all_environments_is_read_in_each_block(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array that no loop writes keeps what all environments share, one that a loop writes does
    not."""
    monkeypatch.setattr(wd.config, "compile", "wait")
    x, y, z = random_inputs(103, np.float32)
    for shared in (0, 1, 2):
        inputs = [a[:1].repeat(103, 0) if k == shared else a for k, a in enumerate((x, y, z))]
        wanted = on_numbers(program, *inputs)
        inputs[shared] = inputs[shared][0]
        for found, numbers in zip(copy_all(MODEL, *inputs), wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(found), numbers)


def test_rows_that_are_equal_in_a_block_follow_changes(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs with one value in all environments of a block are left out where they do not change. Blocks
    with such runs, with other ones and with single numbers take turns, with launches in place."""
    monkeypatch.setattr(wd.config, "compile", "wait")
    x, y, z = random_inputs(163, np.float32)
    y[:] = 0.0
    z[:, :, 0] = 0.0
    for first, value in ((0, 0.0), (16, 2.0), (32, 2.0), (64, -0.0), (96, 0.0), (112, -3.0)):
        x[first : first + 16, : COUNT + 1] = value
    y[70, 30] = 4.0
    y[100, 5, 1] = np.nan
    sums = np.zeros((163, 4), np.float32)
    for _ in range(3):
        wanted = on_numbers(program, x, y, z)
        copy_all(MODEL, x, y, z, out=(x, y, sums))
        for found, numbers in zip((x, y, sums), wanted, strict=True):
            numbers = numbers.astype(np.float32)
            np.testing.assert_array_equal(found, numbers)
            np.testing.assert_array_equal(np.signbit(found[:100]), np.signbit(numbers[:100]))
        y[5] = 1.0


def test_a_kernel_moves_lines_that_return_to_their_places(program: Program) -> None:
    """Both results are written over inputs; z is kept, and no result."""
    over = replace(program, over={"x": "x", "y": "y"})
    code = write(over, "copies", True, "cpu").full_source
    assert code.count("Lanes::move_lines_in(") == code.count("Lanes::move_lines_out(")
    assert code.count("Lanes::move_in(") >= 1

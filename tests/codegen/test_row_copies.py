"""Rows that copy inputs, and results that copy rows: loops move the same values to the same places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import Scalar
from warpdyn.codegen import row_copies as chosen
from warpdyn.codegen.row_copies import FILL, SPREAD, RowRun, with_row_copies
from warpdyn.codegen.targets import write
from warpdyn.codegen.tiles import array_of
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call
from warpdyn.recording.order import Statement
from warpdyn.recording.program import Program, record

MODEL = wd.load_robot("cartpole")
ROWS, GAP = 40, 11
"""Rows of an array, and the row after which its copies lie further on."""

SHAPES = {"x": (60,), "y": (ROWS + 1, 2)}


def copies(x: list, y: list) -> tuple[list, list]:
    """An array of inputs, whose rows a loop changes. Results are its entries, the sums of its rows, and
    some entries once more, one of them with the other sign."""
    rows = RowArray([[y[_place(k)][0], x[_place(k)], y[_place(k)][1]] for k in range(ROWS)])

    def step(k: Scalar, state: list, arrays: Any) -> list:
        a, b, c = arrays[0][k]
        arrays[0][k] = [a + b, b * c, c]
        return [state[0] + a]

    (total,) = loop(ROWS - 5, step, [x[50]], [rows])
    entries: list[list[Scalar]] = [[0.0, 0.0] for _ in range(ROWS + 1)]
    sums = []
    for k in range(ROWS):
        a, b, c = rows[k]
        entries[_place(k)] = [a, c]
        sums.append(a + b + c)
    return entries, [*sums, total, rows[3][0], -rows[20][2], rows[7][1]]


def _place(k: int) -> int:
    return k + (k >= GAP)


@pytest.fixture(scope="module")
def program() -> Program:
    return record(copies, SHAPES, ("entries", "sums"))


def moved(program: Program) -> tuple[list[Statement], set[int]]:
    places = [
        (array_of(f"r_{name}", (len(outputs), 1, 1)), k)
        for name, outputs in program.outputs_of.items()
        for k in range(len(outputs))
    ]
    return with_row_copies(program, places)


def run_of(statements: list[Statement], operation: str) -> list[RowRun]:
    return [s.arguments[0] for s in statements if s.operation == operation]


def test_all_rows_of_inputs_are_one_run(program: Program) -> None:
    """The copies of two columns lie in every second entry, and those of the other one side by side, but
    for the gap."""
    statements, _ = moved(program)
    (run,) = run_of(statements, FILL)
    assert run.first == 0 and run.offsets == tuple(map(_place, range(ROWS)))
    assert run.columns == ((0, "y", 0, 2), (1, "x", 0, 1), (2, "y", 1, 2))
    loads = [s.arguments for s in statements if s.operation == "input"]
    assert loads == [("x", 50)], "the loop loads all other inputs"


def test_only_results_that_are_stored_once_are_copied_in_a_loop(program: Program) -> None:
    """Rows 3, 7 and 20 have entries that are stored twice, and between 3 and 7 are too few rows."""
    statements, stored = moved(program)
    runs = run_of(statements, SPREAD)
    assert runs and all(name == "r_entries" for run in runs for _, name, _, _ in run.columns)
    by_loops = sum(len(run.offsets) * len(run.columns) for run in runs)
    assert by_loops == len(stored) == 2 * ((ROWS - 21) + (20 - 8))
    left = {s.target for s in statements} - stored
    assert all(node in stored or node in left for node in program.stores)


def test_evenly_spaced_copies_have_no_table() -> None:
    """Runs end where rows are not one after the other, where arrays change, and where columns are not
    spaced alike. Short ones are no runs."""
    rows = [(k, {0: ("x", 3 * k + 1), 2: ("y", 6 * k)}) for k in range(5)]
    assert list(chosen._runs(rows)) == [
        (0, RowRun(0, (0, 3, 6, 9, 12), ((0, "x", 1, 1), (2, "y", 0, 2))))
    ]
    for other in (
        (6, rows[4][1]),
        (4, {0: ("z", 13), 2: ("y", 24)}),
        (4, {0: ("x", 13), 2: ("y", 25)}),
    ):
        assert [len(run.offsets) for _, run in chosen._runs([*rows[:4], other])] == [4]
    assert list(chosen._runs(rows[: chosen.FEWEST - 1])) == []


def test_programs_without_arrays_are_left_as_they_are() -> None:
    plain = record(lambda x: [x[0] + x[1]], {"x": (2,)})
    assert with_row_copies(plain, []) == (plain.statements, set())


@batched
def copy(model: wd.Model, x: Any, y: Any, *, out: Any = None) -> Any:
    """The program as a function of a model."""

    def text(_: Any, x: list, y: list) -> tuple[list, list]:
        return copies(x, y)

    given = {"x": x, "y": y}
    return Call(
        "row_copies", model, (text,), given, results=("entries", "sums"), out=out, shapes=SHAPES
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_gives_the_numbers_of_the_program(
    program: Program, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last vector is not full. Arrays are in rows and in columns."""
    monkeypatch.setattr(wd.config, "compile", "wait")
    draw = np.random.default_rng(0)
    x, y = (draw.integers(-9, 10, (37, *shape)).astype(dtype) for shape in SHAPES.values())
    code = write(program, "copies", dtype is np.float32, "cpu").full_source
    assert code.count("const int n = offsets[k];") >= 2
    for layout in (np.ascontiguousarray, np.asfortranarray):
        entries, sums = copy(MODEL, layout(x), layout(y))
        for n in range(len(x)):
            wanted = program.on_numbers({"x": x[n].tolist(), "y": y[n].ravel().tolist()})
            np.testing.assert_array_equal(entries[n], wanted["entries"])
            np.testing.assert_array_equal(sums[n], wanted["sums"])

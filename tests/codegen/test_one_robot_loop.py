"""Loops of a thread, and of exported code, as source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpdyn.algebra import scalar
from warpdyn.codegen.one_robot_loop import (
    count_column_entries,
    count_written_entries,
    write_loop,
    write_sweep,
)
from warpdyn.recording.program import Program, record


def seven_steps(x):
    return scalar.repeat(lambda state: [2.0 * state[0] + state[1], state[1]], list(x), 7)


def routine() -> Program:
    """The step of a loop, as a program calls it."""
    (step,) = record(seven_steps, {"x": (2,)}).routines.values()
    return step


def test_a_loop_updates_its_state_in_the_result_array() -> None:
    """The body is told the names of its arrays."""
    step = routine()
    assert step.repetition is not None
    said: list[tuple[Mapping[str, str], str]] = []

    def body(arrays: Mapping[str, str], out: str) -> Iterator[str]:
        said.append((arrays, out))
        yield "body();"

    lines = list(write_loop(step, step.repetition, "double", 0, body))
    assert said == [({"column": "out"}, "then")]
    assert "for (int step = 0; step < 7; ++step) {" in lines and "body();" in lines
    assert lines.index("out[0] = column[0];") < lines.index("body();")
    assert lines.index("body();") < lines.index("out[0] = then[0];")


def test_a_loop_without_stored_states_writes_its_state_only() -> None:
    """The loop writes as many entries as its state has."""
    step = routine()
    assert count_written_entries(step) == len(step.outputs)


def test_a_sweep_visits_its_rows() -> None:
    """Each path begins at its own state. The body is told the names of state, row and numbers."""

    def sweep_rows(x):
        rows = [[x[k], 0.5 + k] for k in range(3)]
        values, ends = scalar.sweep(
            lambda s, row: ([s[0] * row[0] + row[1]], [s[0]]),
            [[x[0]], [x[1]]],
            [[0, 1, 2], [2]],
            rows,
        )
        return [y for path in values for (y,) in path] + [y for (y,) in ends]

    (step,) = record(sweep_rows, {"x": (3,)}).routines.values()
    assert step.sweep is not None
    assert (count_column_entries(step), count_written_entries(step)) == (2, 4 + 2)
    said: list[tuple[Mapping[str, str], str]] = []

    def body(arrays: Mapping[str, str], out: str) -> Iterator[str]:
        said.append((arrays, out))
        yield "body();"

    lines = list(write_sweep(step, step.sweep, "double", "double", str, body))
    assert said == [({"column": "state", "row": "row", "fixed": "fixed"}, "then")]
    assert "static const short rows[] = {0, 1, 2, 2};" in lines
    assert "static const int ends[] = {3, 4};" in lines
    assert "static const double constants_of_rows[] = {0.5, 1.5, 2.5};" in lines

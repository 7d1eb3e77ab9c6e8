"""Loops of a thread, and of exported code, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpdyn.algebra import scalar
from warpdyn.codegen.one_robot_loop import count_written_entries, write_loop
from warpdyn.recording.program import Program, record


def counted(x):
    return scalar.repeat(lambda state: [2.0 * state[0] + state[1], state[1]], list(x), 7)


def routine() -> Program:
    """The step of a loop, as a program calls it."""
    (step,) = record(counted, {"x": (2,)}).routines.values()
    return step


def test_a_loop_runs_its_steps() -> None:
    """The state goes into the results, then round; the body is told where its arrays are."""
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


def test_entries_of_a_loop_that_keeps_nothing() -> None:
    """As many as its state has."""
    step = routine()
    assert count_written_entries(step) == len(step.outputs)

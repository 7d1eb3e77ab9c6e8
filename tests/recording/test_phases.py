"""A program is cut at its loop: its three phases give the results of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpdyn.algebra.scalar import repeat, select_less, sin
from warpdyn.recording.phases import CARRIED, STATE, phases
from warpdyn.recording.program import Program, record
from warpdyn.recording.program_on_numbers import call_routine

SHAPES = {"x": (2,), "y": (2,)}


def text(x: list, y: list) -> tuple[list, Any]:
    """Newton's square root of a computed value. Its result is used with that value afterwards."""
    square, scale = 1.0 + x[0] * x[0], sin(y[0]) + 2.0

    def step(state: list) -> list:
        _, root, steps = state
        root = 0.5 * (root + square / root)
        error = root * root - square
        return [select_less(error * error, 1e-20, 1.0, 0.0), root, steps + 1.0]

    _, root, steps = repeat(step, [0.0, 1.0, 0.0], 40, until=lambda state: state[0])
    return [root * scale, square - y[1], 7.0], steps


def whole() -> Program:
    return record(text, SHAPES, ("roots", "steps"))


def test_three_phases_equal_the_program() -> None:
    """The phases run on numbers: before the loop, its steps, and after it."""
    program = whole()
    cut = phases(program)
    assert cut is not None and cut.step.repetition is not None
    for seed in range(5):
        draw = np.random.default_rng(seed)
        inputs = {name: draw.normal(size=shape).tolist() for name, shape in SHAPES.items()}
        first = cut.before.on_numbers(inputs)
        shared = first[CARRIED][: cut.step.inputs["shared"][0]]
        state = call_routine(cut.step, "step", shared, first[STATE], {}, {}, ())
        found = cut.after.on_numbers({**inputs, CARRIED: first[CARRIED], STATE: state})
        wanted = program.on_numbers(inputs)
        assert found == wanted
        np.testing.assert_allclose(
            wanted["roots"][0],
            np.sqrt(1 + inputs["x"][0] ** 2) * (np.sin(inputs["y"][0]) + 2),
            rtol=1e-9,
        )


def test_phases_compute_no_value_twice() -> None:
    """Values of the first phase that the last one needs are passed on. Inputs are read again."""
    program, cut = whole(), phases(whole())
    assert cut is not None
    operations = cut.before.operations + cut.step.work + cut.after.operations
    assert operations == program.operations
    assert cut.carried_size == cut.before.results[CARRIED][0] and cut.state_size == 3
    read = {s.arguments[0] for s in cut.after.statements if s.operation == "input"}
    assert read <= {"y", CARRIED, STATE}


def test_programs_without_one_loop_that_ends_have_no_phases() -> None:
    """The programs have no loop, a loop of known length, or two loops."""

    def two(x: list, y: list) -> tuple[list, Any]:
        (roots, steps), (again, _) = text(x, y), text(y, x)
        return [*roots, again[0]], steps

    plain = record(lambda x, y: [x[0] * y[1]], SHAPES)
    counted = record(lambda x, y: repeat(lambda s: [s[0] * y[0]], [x[0]], 5), SHAPES)
    assert phases(plain) is None and phases(counted) is None
    assert phases(record(two, SHAPES, ("roots", "steps"))) is None

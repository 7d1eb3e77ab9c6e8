"""Derivatives by the entries of a table against differences, also through nested loops."""

from __future__ import annotations

import random

import pytest

from warpdyn.algebra.scalar import floor, look, repeat, sin
from warpdyn.recording.differentiation import pull_back, pushforward
from warpdyn.recording.program import record
from warpdyn.recording.table import looks

SHAPE = (3, 4)
INPUTS = {"x": (2,), "t": SHAPE}


def straight(x, t):
    """An entry looked up twice, and another one whose index depends on it."""
    first = look(t, floor(x[0]), 1.0)
    return [sin(first) * x[1] + first, look(t, 2.0, floor(x[0])) * first]


def steps_with_tables(x, t):
    """Steps that read the table, with an inner loop that reads it too."""

    def step(s):
        inner = repeat(lambda u: [u[0] + look(t, s[1], u[1]) * x[1], u[1] + 1.0], [s[0], 0.0], 3)
        return [sin(inner[0]) + look(t, 0.0, s[1]), s[1] + 1.0]

    return repeat(step, [x[0], 0.0], 3)


def numbers() -> tuple[list[float], list[list[float]]]:
    draw = random.Random(1)
    return [1.3, 0.4], [[draw.uniform(-1, 1) for _ in range(SHAPE[1])] for _ in range(SHAPE[0])]


@pytest.mark.parametrize("text", [straight, steps_with_tables])
def test_derivatives_by_a_table_equal_finite_differences(text) -> None:
    def derivative(x, t, w):
        bars, touches = pull_back(x, text(x, t), w, {"t"})
        return bars, [[touch.share, touch.row, touch.column] for touch in touches]

    program = record(derivative, {**INPUTS, "w": (2,)}, ("x", "t"), tables=("t",))
    x, t = numbers()
    w = [0.7, -1.1]
    found = program.on_numbers({"x": x, "t": t, "w": w})
    sums = [[0.0] * SHAPE[1] for _ in range(SHAPE[0])]
    for share, row, column in found["t"]:
        sums[int(row)][int(column)] += share
    e = 1e-6
    for i in range(SHAPE[0]):
        for j in range(SHAPE[1]):
            ends = []
            for sign in (1, -1):
                moved = [row[:] for row in t]
                moved[i][j] += sign * e
                ends.append(sum(a * b for a, b in zip(w, text(x, moved), strict=True)))
            assert sums[i][j] == pytest.approx((ends[0] - ends[1]) / (2 * e), abs=1e-8)


@pytest.mark.parametrize("text", [straight, steps_with_tables])
def test_the_tangent_of_a_table_is_a_table(text) -> None:
    """J u for entries that move along u."""

    def derivative(x, t, u):
        return pushforward([], [], text(x, t), {"t": u})

    program = record(derivative, {**INPUTS, "u": SHAPE}, tables=("t", "u"))
    x, t = numbers()
    u = [[float(i - j) for j in range(SHAPE[1])] for i in range(SHAPE[0])]
    e = 1e-6
    ends = [
        text(x, [[a + s * e * b for a, b in zip(*r, strict=True)] for r in zip(t, u, strict=True)])
        for s in (1, -1)
    ]
    found = program.on_numbers({"x": x, "t": t, "u": u})["out"]
    wanted = [(a - b) / (2 * e) for a, b in zip(*ends, strict=True)]
    assert found == pytest.approx(wanted, abs=1e-8)


def test_look_ups_are_counted_for_each_step_of_a_loop() -> None:
    program = record(steps_with_tables, INPUTS, tables=("t",))
    (routine,) = program.graph.routines.values()
    assert looks(routine, {"t"}) == 3 * (3 + 1) and looks(routine, {"other"}) == 0

"""Derivatives of loops with arrays equal those of their unrolled steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_programs import SHAPES, random_program

from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import look, repeat, sin
from warpdyn.recording.differentiation import pull_back, pullback, pushforward
from warpdyn.recording.program import Program, record

SEEDS = range(24)
OUTPUTS = 8
SAME = 1e-11
STEP = 1e-6
"""Of central differences."""

Function = Callable[[list, list], list]


def tangents(function: Function, unrolls: bool = False) -> Program:
    def jvp(x: list, z: list, dx: list) -> list:
        return pushforward(x, dx, function(x, z))

    return record(jvp, {**SHAPES, "dx": (4,)}, rolls=False, unrolls=unrolls)


def adjoints(function: Function, outputs: int = OUTPUTS, unrolls: bool = False) -> Program:
    def vjp(x: list, z: list, w: list) -> list:
        return pullback(x, function(x, z), w)

    return record(vjp, {**SHAPES, "w": (outputs,)}, rolls=False, unrolls=unrolls)


def inputs(seed: int, outputs: int = OUTPUTS) -> dict[str, list[float]]:
    draw = np.random.default_rng(seed)
    x, dx, w = (draw.uniform(-0.6, 0.6, n).tolist() for n in (4, 4, outputs))
    return {"x": x, "dx": dx, "w": w, "z": draw.integers(-1, 6, 3).astype(float).tolist()}


def evaluate(program: Program, numbers: dict[str, list[float]]) -> list[float]:
    return program.on_numbers({name: numbers[name] for name in program.inputs})["out"]


@pytest.mark.parametrize("seed", SEEDS)
def test_rolled_and_unrolled_derivatives_are_equal(seed: int) -> None:
    """Tangents and adjoints of random programs. The tangents equal finite differences."""
    function, numbers = random_program(seed), inputs(seed)
    rolled = evaluate(tangents(function), numbers)
    assert rolled == pytest.approx(evaluate(tangents(function, True), numbers), rel=SAME, abs=SAME)
    x, dx = np.array(numbers["x"]), np.array(numbers["dx"])
    ahead, back = (np.array(function((x + s * dx).tolist(), numbers["z"])) for s in (STEP, -STEP))
    np.testing.assert_allclose(rolled, (ahead - back) / (2 * STEP), rtol=1e-5, atol=1e-7)
    rolled = evaluate(adjoints(function), numbers)
    unrolled = evaluate(adjoints(function, unrolls=True), numbers)
    assert rolled == pytest.approx(unrolled, rel=SAME, abs=SAME)


def long(x: list, z: list) -> list:
    """A filter of 40 steps that reads an array it writes, and one that it only reads."""
    a = RowArray([[x[k % 4], 0.1 * k] for k in range(40)])
    b = RowArray([[x[k % 3]] for k in range(5)])

    def step(k: Any, state: list, _: Any) -> list:
        before, here = a[k - 1.0], a[k]
        total = sin(before[0] + here[1] * state[0]) * b[z[0] + k][0]
        a[k] = [here[0] + 0.5 * total, before[1] * state[0]]
        return [0.9 * state[0] + 0.1 * total]

    (y,) = loop(40, step, [x[3]], [a, b])
    return [y, *a[39], *a[20], b[2][0]]


def sweeps(x: list, z: list) -> list:
    """Sweeps over slots in a loop whose arrays are created inside a step of `repeat`."""

    def outer(state: list) -> list:
        a = RowArray([[state[0], x[k]] for k in range(4)])

        def sweep(_: Any, state: list, arrays: Any) -> list:
            def slot(k: Any, state: list, arrays: Any) -> list:
                row = a[k]
                a[z[1]] = [row[0] + 0.3 * row[1] * state[0], sin(row[1])]
                return [state[0] + 0.1 * row[0]]

            return loop(4, slot, state, arrays)

        (y,) = loop(3, sweep, [state[1]], [a])
        return [y, state[0] + a[z[2]][0]]

    return repeat(outer, [x[0], x[1]], 3)


@pytest.mark.parametrize(("function", "outputs"), [(long, 6), (sweeps, 2)])
def test_derivatives_of_long_and_nested_loops_equal_the_unrolled_ones(
    function: Function, outputs: int
) -> None:
    """A loop of 40 steps is a loop of loops when it is differentiated."""
    numbers = inputs(3, outputs)
    for derive in (tangents, lambda f, **rest: adjoints(f, outputs, **rest)):
        rolled, unrolled = derive(function), derive(function, unrolls=True)  # type: ignore[operator]
        assert rolled.routines and not unrolled.routines
        wanted = evaluate(unrolled, numbers)
        assert evaluate(rolled, numbers) == pytest.approx(wanted, rel=SAME, abs=SAME)


def test_a_loop_stores_its_state_and_the_arrays_that_it_writes() -> None:
    """The state and the arrays are stored before each step.

    An array that is only read is stored once.
    """

    def short(x: list, z: list) -> list:
        a, b = RowArray([[x[0]], [x[1]]]), RowArray([[x[2]]] * 3)

        def step(k: Any, state: list, _: Any) -> list:
            a[k] = [a[1][0] * b[k][0] * state[0]]
            return state

        loop(2, step, [x[3]], [a, b])
        return a[0]

    forward, backward = adjoints(short, 1).routines.values()
    assert forward.repetition is not None and backward.repetition is not None
    assert forward.repetition.kept and forward.repetition.begun
    assert [x.is_written for x in forward.arrays] == [True, False]
    assert backward.repetition.reads in adjoints(short, 1).routines
    assert [x.rows for x in backward.arrays] == [2, 3, 3]  # two adjoints, and the copy of b


def test_derivatives_by_a_table_read_in_a_loop_with_arrays_are_refused() -> None:
    """The message says what to do."""

    def function(x: list, table: Any, w: list) -> list:
        a = RowArray([[x[0]]])

        def step(k: Any, state: list, _: Any) -> list:
            a[0] = [a[0][0] * look(table, k, 0.0)]
            return state

        loop(2, step, [x[0]], [a])
        return pull_back(x, a[0], w, {"table"})[0]

    shapes = {"x": (1,), "table": (3, 1), "w": (1,)}
    with pytest.raises(TypeError, match="look it up in `repeat`"):
        record(function, shapes, rolls=False, tables=["table"])


def test_second_derivatives_need_unrolled_steps() -> None:
    """A rolled backward loop reads values stored by the forward loop, and cannot be differentiated
    again.
    """

    def short(x: list, z: list) -> list:
        a = RowArray([[x[0]], [x[1]]])

        def step(k: Any, state: list, _: Any) -> list:
            a[k] = [a[1][0] * state[0] * state[0]]
            return [sin(state[0])]

        loop(2, step, [x[3]], [a])
        return a[0]

    def second(unrolls: bool) -> Program:
        def text(x: list, z: list, w: list) -> list:
            return pullback(x, pullback(x, short(x, z), w), [1.0, 2.0, 3.0, 4.0])

        return record(text, {**SHAPES, "w": (1,)}, rolls=False, unrolls=unrolls)

    with pytest.raises(TypeError, match="derivatives of derivatives need loops that are unrolled"):
        second(False)
    numbers = inputs(3, 1)
    found = evaluate(second(True), numbers)

    def slope(x: list) -> float:
        bar = evaluate(adjoints(short, 1), {**numbers, "x": x})
        return sum(c * y for c, y in zip([1.0, 2.0, 3.0, 4.0], bar, strict=True))

    for k in range(4):
        ends = [[y + s * STEP * (j == k) for j, y in enumerate(numbers["x"])] for s in (1, -1)]
        ahead, back = map(slope, ends)
        assert found[k] == pytest.approx((ahead - back) / (2 * STEP), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("times", [17, 18, 19, 23, 29, 37])
def test_loops_of_loops_work_for_any_number_of_steps(times: int) -> None:
    """There may be steps before the first segment, or none."""

    def sums(x: list, z: list) -> list:
        a = RowArray([[0.0] for _ in range(times)])

        def step(k: Any, state: list, _: Any) -> list:
            a[k] = [state[0] * (k + 1.0)]
            return [state[0] * (1.0 + 0.01 * k * x[1])]

        (y,) = loop(times, step, [x[0]], [a])
        return [y, *(a[k][0] for k in range(times))]

    numbers = inputs(3, times + 1)
    for derive in (tangents, lambda f, **rest: adjoints(f, times + 1, **rest)):
        rolled, unrolled = derive(sums), derive(sums, unrolls=True)  # type: ignore[operator]
        assert rolled.routines
        wanted = evaluate(unrolled, numbers)
        assert evaluate(rolled, numbers) == pytest.approx(wanted, rel=SAME, abs=SAME)

"""Rolled loops are recorded once and give the function's results on numbers, in one launch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_on_host import run as run_on_host
from states import error

import warpdyn as wd
from warpdyn.algebra.scalar import Scalar, cos, each, maximum, minimum, repeat, rsqrt, sin
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call
from warpdyn.recording import recorder
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.graph import segments
from warpdyn.recording.program import Program, record

MODEL = wd.load_robot("cartpole")

CLOSE = {np.float32: 2e-5, np.float64: 1e-12}
"""Relative to the largest entry: a few hundred rounded operations."""

MOST = 40


def pendulum(tree: Any, x: list, rate: list) -> list:
    """A pendulum stepped ten times. The length of the step is computed once, outside."""
    h = rate[0] * rate[0] * 0.1

    def step(state: list) -> list:
        angle, speed = state
        speed = speed - h * sin(angle) - 0.05 * h * speed
        return [angle + h * speed, speed]

    angle, speed = repeat(step, [x[0], 2.0 * x[1]], 10)
    return [angle * rate[1], cos(angle), speed, x[0]]


def loop_in_loop(tree: Any, x: list, rate: list) -> list:
    """A loop in a loop that reads values of both outer levels, then a loop that starts from its
    result.
    """

    def outer(state: list) -> list:
        y, total = state
        z = y * rate[0]

        def inner(state: list) -> list:
            return [0.5 * state[0] + z * rate[1] + 0.1 * sin(y), state[1] + state[0] * x[1]]

        a, b = repeat(inner, [y, 1.0], 3)
        return [0.25 * a + y * 0.5, total + b]

    y, total = repeat(outer, [x[0], 0.0], 4)
    (again,) = repeat(lambda state: [state[0] * 0.5 + total], [y], 5)
    return [y, total, again, 7.0]


def series(tree: Any, x: list, rate: list) -> list:
    """A state of numbers, which become symbols through the values the step reads: eˣ by its Taylor
    series.
    """

    def step(state: list) -> list:
        n, term, total = state
        term = term * x[0] / (n + 1.0)
        return [n + 1.0, term, total + term]

    n, _, total = repeat(step, [0.0, 1.0, 1.0], 25)
    return [total, n, maximum(x[0], x[1]), rsqrt(1.0 + x[1] * x[1])]


TEXTS = {"pendulum": pendulum, "loop_in_loop": loop_in_loop, "series": series}


def function(text: Callable[..., list]) -> Callable[..., Any]:
    @batched
    def run(model: wd.Model, x: Any, rate: Any, *, out: Any = None) -> Any:
        arrays = {"x": x, "rate": rate}
        return Call(
            text.__name__, model, (text,), arrays, out=out, shapes={"x": (2,), "rate": (2,)}
        )

    return run


def inputs(count: int, dtype: Any = float) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(count)
    return tuple(draw.uniform(-1.5, 1.5, (count, 2)).astype(dtype) for _ in range(2))  # type: ignore[return-value]


def record_text(text: Callable[..., list]) -> Program:
    return record(lambda x, rate: text(None, x, rate), {"x": (2,), "rate": (2,)})


each_text = pytest.mark.parametrize("name", TEXTS)


@each_text
def test_a_recorded_loop_equals_the_function(name: str) -> None:
    """The program runs on numbers, statement by statement."""
    program = record_text(TEXTS[name])
    assert program.routines
    for x, rate in zip(*(array.tolist() for array in inputs(4)), strict=True):
        found = program.on_numbers({"x": x, "rate": rate})["out"]
        assert found == pytest.approx(TEXTS[name](None, x, rate), rel=1e-14)


@each_text
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 7, 16, 133])
def test_a_kernel_with_loops_equals_the_function(name: str, dtype: Any, count: int) -> None:
    """Arrays are in rows or in columns, and some lanes are unused."""
    run, given = function(TEXTS[name]), inputs(count, dtype)
    wanted = wd.oracle(run, MODEL, *given)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        out = np.full((count, 4), np.nan, dtype)
        run(MODEL, *(layout(x) for x in given), out=out)
        assert error(out.astype(float), wanted) <= CLOSE[dtype]


@each_text
def test_the_cuda_source_of_loops_equals_the_function(name: str, tmp_path: Path) -> None:
    """Built by the host's compiler and run thread by thread."""
    x, rate = inputs(5)
    out = np.full((5, 4), np.nan)
    source = write(record_text(TEXTS[name]), name, False, "cuda")
    assert source.code.count("for (int step") == len(_loops(record_text(TEXTS[name])))
    run_on_host(source, {"x": x, "rate": rate}, out, folder=tmp_path)
    assert error(out, wd.oracle(function(TEXTS[name]), MODEL, x, rate)) <= CLOSE[np.float64]


def _loops(program: Program) -> list[Program]:
    inside = [each for routine in program.routines.values() for each in (routine, *_loops(routine))]
    return [routine for routine in inside if routine.repetition]


def test_a_step_is_recorded_once() -> None:
    """Ten steps or a thousand give programs of equal length.

    Operations are counted for each step.
    """

    def text(times: int) -> Callable[..., list]:
        return lambda x: repeat(lambda s: [s[0] * x[1] + 0.5], [x[0]], times)

    short, long = (record(text(times), {"x": (2,)}) for times in (10, 1000))
    assert len(short.statements) == len(long.statements)
    assert (short.operations, long.operations) == (20, 2000)


def test_values_that_do_not_change_are_computed_before_the_loop() -> None:
    """Those that only depend on outer values."""
    program = record_text(pendulum)
    (step,) = program.routines.values()
    assert {
        s.operation
        for s in step.statements
        if s.operation == "input" and s.arguments[0] == "shared"
    }
    before = record(lambda x, rate: [rate[0] * rate[0] * 0.1], {"x": (2,), "rate": (2,)})
    assert program.operations - 10 * step.operations >= before.operations
    text = program.listing()
    assert "10 times" in text and text.index("frame") > text.index("rate[0]")


@each_text
def test_the_cuda_source_of_adjoints_equals_unrolled_derivatives(name: str, tmp_path: Path) -> None:
    """The adjoint of a loop goes back through stored states. It runs on the host."""

    def adjoint(x: list, rate: list, w: list) -> list:
        return pullback([*x, *rate], TEXTS[name](None, x, rate), w)

    shapes = {"x": (2,), "rate": (2,), "w": (4,)}
    rolled, unrolled = (record(adjoint, shapes, unrolls=unrolls) for unrolls in (False, True))
    assert _loops(rolled) and not _loops(unrolled)
    x, rate = inputs(5)
    w = np.random.default_rng(2).normal(size=(5, 4))
    out = np.full((5, 4), np.nan)
    source = write(rolled, name, False, "cuda")
    run_on_host(source, {"x": x, "rate": rate, "w": w}, out, folder=tmp_path)
    wanted = [
        unrolled.on_numbers({"x": a, "rate": b, "w": c})["out"]
        for a, b, c in zip(x.tolist(), rate.tolist(), w.tolist(), strict=True)
    ]
    assert error(out, np.array(wanted)) <= CLOSE[np.float64]


@each_text
def test_derivatives_of_loops_equal_finite_differences(name: str) -> None:
    """jvp against differences of the oracle, and vjp as its transpose."""
    run, (x, rate) = function(TEXTS[name]), inputs(3)
    draw = np.random.default_rng(1)
    dx, drate, w = (draw.normal(size=(3, n)) for n in (2, 2, 4))
    tangent = wd.jvp(run, MODEL, x, rate, tangents={"x": dx, "rate": drate})
    h = 1e-6
    ahead, back = (wd.oracle(run, MODEL, x + s * dx, rate + s * drate) for s in (h, -h))
    np.testing.assert_allclose(tangent, (ahead - back) / (2 * h), rtol=1e-6, atol=1e-7)
    bars = wd.vjp(run, MODEL, x, rate, cotangents=w)
    along = sum(np.sum(bar * d) for bar, d in zip(bars, (dx, drate), strict=True))
    assert along == pytest.approx(np.sum(w * tangent), rel=1e-10)


def long(times: int) -> Callable[..., list]:
    """A loop with a loop inside. The length of the step is shared, and x[1] enters each inner step."""

    def text(tree: Any, x: list, rate: list) -> list:
        h = rate[0] * 0.05

        def step(state: list) -> list:
            (y,) = repeat(lambda s: [s[0] - h * sin(s[0]) * x[1]], [state[0]], 3)
            return [y, state[1] + h * y * rate[1]]

        return [*repeat(step, [x[0], 2.0], times), x[1], rate[0]]

    text.__name__ = f"long_{times}"
    return text


@pytest.mark.parametrize("times", [17, 37, 60])
def test_a_long_loop_stores_the_square_root_of_its_states(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is differentiated as a loop of loops.

    Derivatives by its first state equal those with all states stored in all bits, others to
    rounding: on the CPU, for CUDA, and on numbers.
    """
    first, number, length = segments(times)
    assert first + number * length == times and first + number + length < times
    run, (x, rate) = function(long(times)), inputs(7)
    w = np.random.default_rng(2).normal(size=(7, 4))
    bars = wd.vjp(run, MODEL, x, rate, cotangents=w)
    np.testing.assert_allclose(bars, wd.oracle(wd.vjp, run, MODEL, x, rate, cotangents=w), 1e-12)

    def adjoint(x: list, rate: list, w: list) -> list:
        return pullback([*x, *rate], long(times)(None, x, rate), w)

    shapes = {"x": (2,), "rate": (2,), "w": (4,)}
    rooted = record(adjoint, shapes, rolls=False)
    source, out = write(rooted, "long", False, "cuda"), np.full((7, 4), np.nan)
    run_on_host(source, {"x": x, "rate": rate, "w": w}, out, folder=tmp_path)
    np.testing.assert_allclose(out, np.hstack(bars), rtol=1e-12)

    monkeypatch.setattr(recorder, "KEPT_WHOLE", times)
    whole = record(adjoint, shapes, rolls=False)
    for at in zip(x.tolist(), rate.tolist(), w.tolist(), strict=True):
        given = dict(zip(shapes, at, strict=True))
        found, wanted = (p.on_numbers(given)["out"] for p in (rooted, whole))
        assert found[0] == wanted[0] and found == pytest.approx(wanted, rel=1e-13)


def test_memory_of_a_long_loop_grows_with_the_square_root() -> None:
    """Slots of the workspace: four times the steps need twice the stored states."""

    def slots(times: int) -> int:
        def text(x: list, w: list) -> list:
            return pullback(x, repeat(lambda s: [sin(s[0]) * s[1], s[1]], x, times), w)

        program = record(text, {"x": (2,), "w": (2,)}, rolls=False)
        (size,) = re.findall(r"work\[\d+\]\[(\d+)\]", write(program, "long", False, "cpu").code)
        return int(size)

    at = {n: slots(n) for n in (16, 64, 256, 1024)}
    assert at[64] - at[16] < 2 * 16  # 8 + 8 states of two numbers for 16, and what they lie among
    assert at[256] - at[64] == 2 * (16 + 16 - 8 - 8)
    assert at[1024] - at[256] == 2 * (32 + 32 - 16 - 16)


def test_routines_in_a_differentiated_step_are_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything called for many columns in a loop that is differentiated is inlined, too."""
    monkeypatch.setattr(recorder, "ROLL_FROM", 0)

    def text(x: list) -> list:
        def step(s: list) -> list:
            columns = [[x[0], s[1]], [s[1], x[1]], [x[1], 0.5]]
            found = each(lambda shared, c: [c[0] * shared[0] + c[1]], [0.1 * s[0]], columns)
            return [sum(column[0] for column in found), 0.5 * s[0]]

        return repeat(step, list(x), 4)

    rolled, unrolled = (
        record(lambda x: pullback(x, text(x), [1.0, 2.0]), {"x": (2,)}, rolls=False, unrolls=u)
        for u in (False, True)
    )
    x = {"x": [0.3, 0.4]}
    assert rolled.on_numbers(x)["out"] == pytest.approx(unrolled.on_numbers(x)["out"], rel=1e-13)


@pytest.mark.parametrize("names", [("x", "state"), ("carried", "state")])
def test_arrays_of_a_kernel_with_loops_can_have_any_name(names: tuple[str, str]) -> None:
    """They do not clash with values passed from the phase before a loop to those after it."""

    def text(tree: Any, x: list, y: list) -> list:
        end = repeat(lambda s: [0.5 * s[0] + y[0], s[1] + 1.0], list(x), 30, lambda s: y[1] - s[0])
        return [*end, y[1], x[1]]

    @batched
    def run(model: wd.Model, x: Any, y: Any) -> Any:
        arrays = dict(zip(names, (x, y), strict=True))
        return Call("_".join(names), model, (text,), arrays, shapes=dict.fromkeys(names, (2,)))

    given = inputs(37)
    np.testing.assert_allclose(run(MODEL, *given), wd.oracle(run, MODEL, *given), rtol=1e-13)


def test_states_that_fill_the_stack_are_refused() -> None:
    """An adjoint stores the state of each step. A loop of a million would end the process."""

    def text(x: list) -> list:
        return pullback(x, repeat(lambda s: [s[0] * sin(s[0])], x, 1_000_000), [1.0])

    program = record(text, {"x": (1,)})
    with pytest.raises(ValueError, match="make a loop of fewer steps"):
        write(program, "long", False, "cpu")


def test_using_a_value_of_a_step_outside_is_refused() -> None:
    """Only its state is known outside."""
    kept: list[Scalar] = []

    def text(x: list) -> list:
        def step(state: list) -> list:
            kept.append(state[0] * 2.0)
            return [kept[-1]]

        (y,) = repeat(step, [x[0]], 3)
        return [y + kept[-1]]

    with pytest.raises(TypeError, match="let the step return them as part of its state"):
        record(text, {"x": (1,)})


def test_a_step_must_return_its_whole_state() -> None:
    with pytest.raises(ValueError, match="as many numbers as its state has, 2; got 1"):
        record(lambda x: repeat(lambda s: [s[0]], [x[0], x[1]], 3), {"x": (2,)})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_minimum_and_maximum_return_the_first_number_for_nan(dtype: Any) -> None:
    """Programs agree, and they have a reciprocal root, too."""

    def extremes(tree: Any, x: list, rate: list) -> list:
        a, b = x
        return [minimum(a, b), maximum(a, b), maximum(0.0, a), rsqrt(maximum(b, 0.25))]

    run = function(extremes)
    x = np.array([[1, 2], [2, 1], [-1, 4], [np.nan, 1], [1, np.nan], [-0.0, 0.0]] * 3, dtype)
    found = run(MODEL, x, np.ones((18, 2), dtype)).astype(float)
    wanted = np.array([extremes(None, row.tolist(), []) for row in x])
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if dtype is np.float32 else 1e-14)
    assert np.isnan(found[3, :2]).all() and found[4, 0] == 1
    program = record(lambda x: extremes(None, x, []), {"x": (2,)})
    assert {"min", "max", "rsqrt"} <= {s.operation for s in program.statements}

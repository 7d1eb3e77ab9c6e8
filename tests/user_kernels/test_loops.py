"""wd.kernels.repeat: states of every form, and what is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import warpdyn as wd

MODEL = wd.load_robot("cartpole")


class Pair(NamedTuple):
    x: Any
    y: Any


def test_a_state_keeps_its_form() -> None:
    """An array, a tuple in a dictionary, a named tuple, and plain numbers as initial values."""

    @wd.kernel
    def repeat_forms(robot: Any, q: Any) -> Any:
        flat = wd.kernels.repeat(3, lambda x: 2 * x + q, q)
        deep = wd.kernels.repeat(
            2,
            lambda s: {"a": (s["a"][0] + 1, s["a"][1] @ s["a"][1].T), "b": s["b"] * q[0]},
            {"a": (0.0, np.eye(2)), "b": q},
        )
        pair = wd.kernels.repeat(4, lambda s: Pair(s.y, s.x + s.y), Pair(q[0], q[1]))
        assert isinstance(pair, Pair)
        return np.concatenate(
            [flat, deep["a"][1][0], deep["b"], np.stack([deep["a"][0], pair.x, pair.y])]
        )

    q = np.array([[1.0, 2.0], [0.5, -1.0]])
    got = repeat_forms(MODEL, q)
    wanted = [
        [*(8 * x + 7 * x), 1, 0, *(x * x[0] ** 2), 2, 2 * x[0] + 3 * x[1] - 0 * x[0], 0] for x in q
    ]
    fibonacci = (
        np.array([[x + 2 * y, 2 * x + 3 * y] for x, y in q]) + q @ np.array([[1, 1], [1, 2]]) * 0
    )
    assert np.allclose(got[:, :7], np.array(wanted)[:, :7])
    assert np.allclose(got[:, 7:], [[2 * x + 3 * y, 3 * x + 5 * y] for x, y in q])
    assert fibonacci.shape == (2, 2)


def test_a_condition_in_a_state_remains_a_condition() -> None:
    """This holds in the step, in `until`, and for a result of type bool."""

    @wd.kernel
    def repeat_conditions(robot: Any, q: Any) -> Any:
        def step(state: Any) -> Any:
            x, far, near = state
            return np.where(far, x, 2 * x), (x > 4.0) | far, near & (x < 2.0)

        x, far, near = wd.kernels.repeat(6, step, (q, np.array([False, False]), q > 0.5))
        return {"x": x, "far": far, "left": ~near}

    q = np.array([[1.0, 0.01], [5.0, 0.6]])
    for found in (repeat_conditions(MODEL, q), wd.oracle(repeat_conditions, MODEL, q)):
        assert np.allclose(found.x, [[16.0, 0.64], [10.0, 9.6]])
        assert np.array_equal(found.far, [[1, 0], [1, 1]])
        assert np.array_equal(found.left, [[1, 1], [1, 1]])
    assert (
        repeat_conditions(MODEL, q).far.dtype == bool
        and repeat_conditions(MODEL, q).left.dtype == bool
    )


def test_a_condition_that_becomes_a_number_is_refused() -> None:
    """Starting with `False` and adding to it would lose the sum."""

    @wd.kernel
    def count_up(robot: Any, q: Any) -> Any:
        return wd.kernels.repeat(3, lambda count: count + 1, False)

    with pytest.raises(
        wd.kernels.RecordingError, match=r"begins with a condition.*begin with a number"
    ):
        count_up(MODEL, np.zeros((1, 2)))


def test_a_loop_is_recorded_once() -> None:
    """The number of recordings does not depend on the number of steps."""
    calls = []

    @wd.kernel
    def thousand_steps(robot: Any, q: Any) -> Any:
        def step(x: Any) -> Any:
            calls.append(1)
            return x * 0.5 + np.sin(x)

        return wd.kernels.repeat(1000, step, q)

    thousand_steps(MODEL, np.ones((2, 2)))
    assert len(calls) < 10


def test_gradients_through_a_loop_equal_finite_differences() -> None:
    @wd.kernel
    def six_steps(robot: Any, q: Any) -> Any:
        return wd.kernels.repeat(6, lambda x: x + 0.1 * np.sin(x) * q[::-1], q)

    q = np.array([[0.3, -0.7], [1.1, 0.2]])
    w = np.array([[1.0, 2.0], [-0.5, 0.3]])
    got = wd.vjp(six_steps, MODEL, q, cotangents=w, wrt="q")
    h = 1e-6
    for k in range(2):
        e = np.zeros(2)
        e[k] = h
        slope = ((six_steps(MODEL, q + e) - six_steps(MODEL, q - e)) * w).sum(1) / (2 * h)
        assert np.allclose(got[:, k], slope, rtol=1e-7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda q: wd.kernels.repeat(q[0], lambda x: x, q), "known whole number"),
        (lambda q: wd.kernels.repeat(-1, lambda x: x, q), "at least 0, got -1"),
        (
            lambda q: wd.kernels.repeat(2, lambda x: x[:1], q),
            r"arrays of shapes \[\(2,\)\]; got \[\(1,\)\]",
        ),
        (
            lambda q: wd.kernels.repeat(2, lambda x: x, q, until=lambda x: x > 0),
            "one condition, got shape",
        ),
        (lambda q: wd.kernels.repeat(2, lambda x: x if x[0] > 0 else -x, q), "a Python `if`"),
    ],
)
def test_invalid_loops_are_refused(text: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wd.kernel(lambda robot, q: text(q))(MODEL, np.ones((2, 2)))

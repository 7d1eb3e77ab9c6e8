"""Kernels that draw from generators of NumPy or Python are refused, and constant arrays are
accepted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.recording.program import Program, record
from warpdyn.user_kernels.random_states import random_states, refuse_different_programs
from warpdyn.user_kernels.refusals import RecordingError

MODEL = wd.load_robot("cartpole")
Q = np.zeros((3, 2))
GENERATOR = np.random.default_rng(0)
TABLE = np.random.default_rng(1).normal(size=2)


def with_closure() -> Callable[..., Any]:
    own = np.random.RandomState(0)
    return lambda robot, q: q + own.rand(2)


def in_a_loop(robot: Any, q: Any) -> Any:
    return wd.kernels.repeat(3, lambda q: q + 0.1 * GENERATOR.normal(size=2), q)


@pytest.mark.parametrize(
    "function",
    [
        lambda robot, q: q + np.random.rand(2),
        lambda robot, q: q * random.gauss(0.0, 1.0),
        lambda robot, q: np.where(q > random.random(), 1.0, 0.0),
        lambda robot, q: {"start": np.clip(q + GENERATOR.uniform(size=2), 0, 1)},
        with_closure(),
        in_a_loop,
    ],
    ids=["numpy", "python", "condition", "generator", "closure", "loop"],
)
def test_draws_of_a_generator_are_refused(function: Callable[..., Any]) -> None:
    """They would be the same in every environment and call."""
    with pytest.raises(RecordingError, match=r"draws random numbers.*wd\.random\.key"):
        wd.kernel(function)(MODEL, Q)


def test_a_generator_among_the_options_is_refused() -> None:
    @wd.kernel
    def noisy(robot: Any, q: Any, *, source: Any) -> Any:
        return q + source.normal(size=2)

    with pytest.raises(RecordingError, match="draws random numbers"):
        noisy(MODEL, Q, source=np.random.default_rng(3))


def test_numbers_drawn_outside_of_a_kernel_are_constants() -> None:
    assert np.array_equal(wd.kernel(lambda robot, q: q + TABLE)(MODEL, Q), Q + TABLE)
    own = wd.kernel(lambda robot, q: q + np.random.default_rng(1).normal(size=2))
    assert np.array_equal(own(MODEL, Q), Q + TABLE)  # the same in each recording


def around_a_loop(robot: Any, q: Any) -> Any:
    return wd.kernels.repeat(3, lambda q: q + 0.1 * np.sin(q), q)


def with_draws(robot: Any, q: Any) -> Any:
    return q * wd.random.uniform(wd.random.key(3, robot.env, 0), 2)


def in_a_simulation(robot: Any, q: Any) -> Any:
    return robot.step(q, 0.0 * q, 0.0 * q, points=[]).q


@pytest.mark.parametrize(
    "function", [lambda robot, q: np.cos(q), around_a_loop, with_draws, in_a_simulation]
)
def test_a_generator_used_by_another_thread_is_ignored(
    function: Callable[..., Any],
) -> None:
    """Its state differs after the recording, but two recordings agree."""

    @wd.kernel
    def move_generator(robot: Any, q: Any) -> Any:
        random.random()  # in the place of another thread
        return function(robot, q)

    assert np.array_equal(move_generator(MODEL, Q + 0.3), wd.kernel(function)(MODEL, Q + 0.3))


def test_random_states_change_with_each_draw() -> None:
    before = random_states(in_a_loop, {})
    assert random_states(in_a_loop, {}) == before
    GENERATOR.normal()
    assert random_states(in_a_loop, {}) != before
    assert random_states(len, {}) == before[:2]


def test_equal_programs_are_accepted() -> None:
    """Also with NaN among their constants."""

    def record_shift(by: float) -> Program:
        return record(lambda x: [x[0] + by, float("nan")], {"x": (1,)})

    refuse_different_programs("noisy", record_shift(1.0), record_shift(1.0))
    with pytest.raises(RecordingError, match=r"^noisy draws"):
        refuse_different_programs("noisy", record_shift(1.0), record_shift(2.0))


def test_a_variable_that_is_assigned_later_has_no_state() -> None:
    """The function of a closure may be examined before all its variables have values."""

    def reads() -> Any:
        return later

    before = random_states(reads, {})
    later = np.random.default_rng(1)
    assert len(random_states(reads, {})) == len(before) + 1

"""A first-order low pass: its step response, its delay, and angles that wrap."""

from __future__ import annotations

import numpy as np

from ros2_node.control.states.low_pass import LONGEST_STEP, LowPass


def test_the_step_response_does_not_depend_on_the_cycle():
    """It is 1 - exp(-2 pi f t) in cycles of any length."""
    rng = np.random.default_rng(0)
    low_pass, t = LowPass(10.0, 2), 0.0
    low_pass.follow(np.zeros(2), 1.0)
    for passed in rng.uniform(1e-4, 5e-3, 50):
        t += passed
        y = low_pass.follow(np.array([1.0, -2.0]), passed)
        np.testing.assert_allclose(y, np.array([1.0, -2.0]) * (1.0 - np.exp(-20.0 * np.pi * t)))


def test_a_ramp_has_the_documented_delay():
    """The delay is 1 / (2 pi f) in short cycles."""
    low_pass, dt = LowPass(50.0, 1), 1e-4
    for k in range(2000):
        y = low_pass.follow(np.array([3.0 * k * dt]), dt)[0]
    assert abs((3.0 * k * dt - y) / 3.0 - 1.0 / (100.0 * np.pi)) < dt


def test_the_filter_starts_at_the_first_value_and_after_a_pause():
    low_pass = LowPass(1.0, 1)
    assert low_pass.follow(np.array([5.0]), 0.01)[0] == 5.0
    assert low_pass.follow(np.array([6.0]), 0.01)[0] < 5.1
    for passed in (LONGEST_STEP + 0.01, -0.01, np.inf, np.nan):
        assert low_pass.follow(np.array([7.0]), passed)[0] == 7.0
        low_pass.value[:] = 0.0
    low_pass.forget()
    assert low_pass.follow(np.array([8.0]), 0.01)[0] == 8.0


def test_angles_are_filtered_along_the_short_way():
    low_pass = LowPass(10.0, 2, np.array([True, False]))
    low_pass.follow(np.array([3.1, 3.1]), 0.0)
    y = low_pass.follow(np.array([-3.1, -3.1]), 0.005)
    assert y[0] > 3.1 and y[1] < 3.1


def test_a_second_value_at_the_same_time_has_no_effect() -> None:
    """No time has passed."""
    low_pass = LowPass(1.0, 1)
    low_pass.follow(np.zeros(1), 0.01)
    assert low_pass.follow(np.ones(1), 0.0)[0] == 0.0


def test_a_pause_is_longer_than_a_tenth_of_a_second():
    low_pass = LowPass(1.0, 1)
    for passed, y in ((0.1, 1.0 - np.exp(-0.2 * np.pi)), (0.101, 1.0)):
        low_pass.forget()
        low_pass.follow(np.zeros(1), 0.0)
        np.testing.assert_allclose(low_pass.follow(np.ones(1), passed), [y], rtol=1e-12)

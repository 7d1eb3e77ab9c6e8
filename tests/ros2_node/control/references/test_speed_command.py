"""cmd_vel: the speeds wanted, for as long as somebody wants them."""

from __future__ import annotations

import numpy as np

from ros2_node.control.references.speed_command import SpeedCommand


def test_speeds_are_zero_until_told_and_again_when_nobody_tells():
    """After the timeout; a timeout of 0 is none."""
    command = SpeedCommand()
    np.testing.assert_array_equal(command.at(0.0, 0.5), np.zeros(3))
    assert command.read(0.5, -0.1, 0.3, 1.0) is None
    for now in (1.4, 1.5):
        np.testing.assert_array_equal(command.at(now, 0.5), [0.5, -0.1, 0.3])
    np.testing.assert_array_equal(command.at(1.6, 0.5), np.zeros(3))
    command.read(0.5, -0.1, 0.3, 2.0)
    np.testing.assert_array_equal(command.at(99.0, 0.0), [0.5, -0.1, 0.3])


def test_what_is_not_finite_leaves_the_command_before():
    command = SpeedCommand()
    command.read(0.5, 0.0, 0.0, 1.0)
    assert command.read(0.1, np.nan, 0.0, 2.0) == "speed_nonfinite"
    assert command.arrived == 1.0 and command.at(1.0, 0.5)[0] == 0.5


def test_any_number_that_is_none_is_refused():
    for k in range(3):
        speeds = [0.1, 0.2, 0.3]
        speeds[k] = np.inf
        assert SpeedCommand().read(*speeds, 0.0) == "speed_nonfinite"

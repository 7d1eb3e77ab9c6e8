"""The speeds of cmd_vel and their timeout."""

from __future__ import annotations

import numpy as np

from ros2_node.control.references.speed_command import SpeedCommand


def test_speeds_are_zero_before_a_command_and_after_its_timeout():
    """A timeout of 0 means that a command never expires."""
    command = SpeedCommand()
    np.testing.assert_array_equal(command.at(0.0, 0.5), np.zeros(3))
    assert command.read(0.5, -0.1, 0.3, 1.0) is None
    for now in (1.4, 1.5):
        np.testing.assert_array_equal(command.at(now, 0.5), [0.5, -0.1, 0.3])
    np.testing.assert_array_equal(command.at(1.6, 0.5), np.zeros(3))
    command.read(0.5, -0.1, 0.3, 2.0)
    np.testing.assert_array_equal(command.at(99.0, 0.0), [0.5, -0.1, 0.3])


def test_a_nonfinite_command_leaves_the_previous_one():
    command = SpeedCommand()
    command.read(0.5, 0.0, 0.0, 1.0)
    assert command.read(0.1, np.nan, 0.0, 2.0) == "speed_nonfinite"
    assert command.arrived == 1.0 and command.at(1.0, 0.5)[0] == 0.5


def test_each_nonfinite_speed_is_refused():
    for k in range(3):
        speeds = [0.1, 0.2, 0.3]
        speeds[k] = np.inf
        assert SpeedCommand().read(*speeds, 0.0) == "speed_nonfinite"

"""The ramp of the commands after ~/enable, when `ramp_time` changes."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, N

from ros2_node.control.commands.torque_output import TorqueOutput
from ros2_node.control.settings.node_settings import Settings

TORQUE = np.full(N, 10.0)


def ramping_output(ramp_time):
    """An output whose ramp begins at zero seconds."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": ramp_time}))
    output.start(0.0)
    np.testing.assert_array_equal(output.compute(TORQUE, 0.0), 0.0)
    return output


@pytest.mark.parametrize("after", [0.5, 5.0, 30.0, 59.0])
def test_a_longer_ramp_time_raises_no_command_beyond_the_torque(after):
    """The share of the torques in the commands does not fall, so that nothing has to be added."""
    output = ramping_output(1.0)
    before = output.compute(TORQUE, after).copy()
    output.change(Settings.of({"ramp_time": 60.0}))
    for now in after + np.arange(0.0, 130.0, 0.25):
        command = output.compute(TORQUE, now).copy()
        assert (command >= before - 1e-9).all() and (command <= TORQUE + 1e-9).all(), now
        before = command
    np.testing.assert_allclose(command, TORQUE)


@pytest.mark.parametrize("ramp_time, rest", [(0.5, 0.25), (4.0, 2.0)])
def test_the_rest_of_a_ramp_takes_the_present_ramp_time(ramp_time, rest):
    """Half of the ramp is over at the change."""
    output = ramping_output(1.0)
    output.compute(TORQUE, 0.5)
    output.change(Settings.of({"ramp_time": ramp_time}))
    output.compute(TORQUE, 0.5)
    np.testing.assert_allclose(output.compute(TORQUE, 0.5 + 0.5 * rest), 0.75 * TORQUE)
    np.testing.assert_allclose(output.compute(TORQUE, 0.5 + rest), TORQUE)


def test_a_ramp_time_of_zero_ends_a_ramp_without_a_step():
    """The rest of the torques comes within the ramp time of before."""
    output = ramping_output(1.0)
    output.compute(TORQUE, 0.5)
    output.change(Settings.of({"ramp_time": 0.0}))
    for passed, share in ((0.0, 0.5), (0.5, 0.75), (1.0, 1.0), (2.0, 1.0)):
        np.testing.assert_allclose(output.compute(TORQUE, 0.5 + passed), share * TORQUE)

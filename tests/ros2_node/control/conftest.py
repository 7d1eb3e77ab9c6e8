"""One fleet for all tests of a module. Its robot is reset before each test."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import panda_fleet, panda_settings


@pytest.fixture(scope="module")
def shared_fleet():
    return panda_fleet(ramp_time=1.0)


@pytest.fixture
def robot(shared_fleet):
    robot = shared_fleet.robots[0]
    robot.disable(0.0)
    while robot.stop_step(1e9) is not None:
        pass
    robot.output.command[:] = 0.0
    robot.reset()
    robot.last_fault = ""
    robot.counts.clear()
    robot.states.arrived = -np.inf
    robot.states.forget()
    shared_fleet.change(panda_settings(ramp_time=1.0))
    return robot

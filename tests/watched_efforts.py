"""A panda that watches its efforts for collisions, and states with a push."""

from __future__ import annotations

import numpy as np
import pytest
from feeling import feel, feeling_fleet
from fleets import MODEL, Q, launch

import warpdyn as wd

HELD = wd.gravity_torques(MODEL, Q)

PUSH = np.array([0.5, -6.0, 0.5, 0.3, 0.1, -0.2, 0.05, 0.0])


@pytest.fixture(name="fleet")
def watched_fleet():
    return feeling_fleet(collision_threshold=3.0)


def go(fleet, effort, begin, count, dt=0.002, q=Q):
    """Feed states. Returns the time after them and the last command."""
    robot, command = fleet.robots[0], None
    for k in range(count):
        now = begin + k * dt
        assert feel(robot, now, effort, q)
        command = launch(fleet, robot, now)[1]
    return begin + count * dt, command

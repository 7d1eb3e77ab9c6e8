"""References at a limit and wrenches that come with every state of an enabled robot that moves."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, Q, feed, launch, panda_fleet

from ros2_node.control.references.waypoint_spline import Waypoint

CYCLE = 0.01
"""Time between two states [s]."""
FIRST = 20
"""Number of cycles in which the first event, which may be a large step, fades."""
LIMIT = MODEL.position_upper[0]
TRACKING = {"mode": "computed_torque", "max_tracking_error": 0.0}


def alternating_wrench(robot, k, now):
    """A small force on one of two links."""
    link = ("panda_hand", "panda_link5")[k % 2]
    assert robot.wrench.read(link, (0.0, 0.0, 0.1), (0.0, 0.0, 0.0), now) is None


def noisy_reference(robot, k, now):
    """A reference of the first joint that leaves its limit and comes back."""
    way = Q.copy()
    way[0] = LIMIT + 1e-4 * (-1) ** k
    assert robot.refer(NAMES, (way, 0.0 * Q, 0.0 * Q), now) is None


def late_reference(robot, k, now):
    """A reference in motion that is older than `reference_timeout` at the next state."""
    way, v = Q.copy(), 0.0 * Q
    way[0], v[0] = LIMIT - 0.3, 1e-3
    assert robot.refer(NAMES, (way, v, 0.0 * Q), now) is None


def aborted_trajectory(robot, k, now):
    """A trajectory of an arm that is outside of the tolerance, so that the next state ends it."""
    way = [Waypoint(1.0, tuple(robot.setpoint.q))]
    assert robot.refer_trajectory(NAMES, way, 0.0, now) is None


@pytest.mark.parametrize(
    "values, event",
    [
        ({}, alternating_wrench),
        (TRACKING, noisy_reference),
        ({**TRACKING, "reference_timeout": 0.005}, late_reference),
        ({**TRACKING, "trajectory__path_tolerance": 1e-4}, aborted_trajectory),
    ],
    ids=["wrench", "limit", "late", "abort"],
)
def test_commands_follow_the_motion_while_events_come_in_every_cycle(values, event):
    """Each event alone blends the commands, which begin at the last one.

    Without a pause between two blends they would keep the command of the first event. The commands
    are at most one cycle in 50 ms behind, which is less than a tenth of the range of the torques.
    """
    fleet = panda_fleet(ramp_time=0.1, **values)
    (robot,) = fleet.robots
    commands, torques = [], []
    for k in range(300):
        now, q, v = CYCLE * k, Q.copy(), 0.0 * Q
        q[0], q[1] = LIMIT - 0.3, Q[1] + 0.2 * np.sin(3.0 * now)
        v[1] = 0.6 * np.cos(3.0 * now)
        feed(robot, now, q, v)
        if k == 1:
            fleet.compute()
            assert robot.enable(now, now)[0]
        command = launch(fleet, robot, now)[1]
        if k > 50:
            commands.append(command[1])
            torques.append(robot.state.torque[1])
            event(robot, k, now)
    span = np.ptp(torques)
    assert span > 5.0
    behind = np.abs(np.subtract(commands, torques))[FIRST:]
    assert behind.max() < 0.1 * span

"""Arm and gripper publish their states separately, with stamps of their own clocks."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import NAMES, Q, launch, panda_fleet

PARTS = {"arm": slice(0, 7), "hand": slice(7, 8)}
PERIOD = 0.005
SPEED = 0.5
"""Speed of the second joint [rad/s]."""


def moving(t):
    """Positions and velocities after a time [s]."""
    q, v = Q.copy(), 0.0 * Q
    q[1], v[1] = q[1] + SPEED * t, SPEED
    return q, v


def feed_part(robot, part, now, *, t=None, clock=0.0, effort=()):
    """Let the robot read the state of one part after a time t, stamped by the part's clock."""
    t, at = now if t is None else t, PARTS[part]
    q, v = moving(t)
    stamp = round((t + clock) * 1e9)
    return robot.read(NAMES[at], q[at], v[at], stamp, now, effort)


@pytest.mark.parametrize("source", ["message", "finite_difference"])
def test_a_repeated_message_of_a_held_part_changes_no_torque(source):
    """The arm's driver repeats its last message, with its velocity, and the hand goes on.

    The arm counts as resting in each message of the hand. The torques must not alternate between
    those of an arm that rests and of one that moves.
    """
    fleet = panda_fleet(
        mode="computed_torque",
        missing_joint_policy="hold",
        velocity_source=source,
        max_tracking_error=0.0,
        ramp_time=0.0,
    )
    robot, torques = fleet.robots[0], []
    for k in range(200):
        now = 1.0 + PERIOD * k
        for part in PARTS:
            t = min(now, 1.25) if part == "arm" else now
            assert feed_part(robot, part, now, t=t) or k == 0
            if k == 2:
                robot.enable(now, now)
            launch(fleet, robot, now)
            torques.append(robot.state.torque.copy())
    assert robot.counts["joint_held"] and robot.counts["repeated_message"] > 100
    assert robot.is_enabled and not robot.state.v.any()
    np.testing.assert_allclose(torques[-40:], np.tile(torques[-1], (40, 1)), atol=1e-9)


def test_a_repeated_message_does_not_replace_newer_positions():
    """Two drivers publish the same joints, and one repeats its last message."""
    fleet = panda_fleet()
    states, backwards = fleet.robots[0].states, slice(None, None, -1)
    for k in range(5):
        now = 1.0 + 0.01 * k
        assert states.read(NAMES, Q, (), 10**9, now) is None
        newer = Q + 0.001 * k
        stamp = round(now * 1e9) + 1
        assert states.read(NAMES[backwards], newer[backwards], (), stamp, now) is None
        assert states.read(NAMES, Q, (), 10**9, now) is None
        np.testing.assert_array_equal(states.q, newer)


@pytest.mark.parametrize("ahead", [0.05, 0.5, -3.0])
def test_filters_do_not_mix_the_clocks_of_two_publishers(ahead):
    """The filtered states are those of equal clocks, whatever the hand's clock shows."""
    filters = {"position_filter": 10.0, "velocity_filter": 10.0}
    found = []
    for clock in (0.0, ahead):
        robot = panda_fleet(mode="computed_torque", **filters).robots[0]
        for k in range(40):
            now = 1.0 + PERIOD * k
            feed_part(robot, "arm", now, clock=5.0)
            feed_part(robot, "hand", now + 0.5 * PERIOD, clock=5.0 + clock)
        found.append(np.concatenate([robot.state.q, robot.state.v]))
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-12)
    delay = moving(now)[0][1] - robot.state.q[1]
    assert abs(delay - SPEED / (20.0 * np.pi)) < SPEED * PERIOD


def test_a_held_part_rests_for_the_observer_and_its_effort_is_unknown():
    """The arm's driver ends in motion. Its last effort says nothing about the present."""
    fleet = panda_fleet(missing_joint_policy="hold", effort_source="message")
    robot = fleet.robots[0]
    watch = robot.effort_watch
    for k in range(60):
        now = 1.0 + PERIOD * k
        if k < 20:
            feed_part(robot, "arm", now, effort=[5.0] * 7)
        assert feed_part(robot, "hand", now, effort=[1.0]) or k == 0
        robot.note(0)
        if k == 19:
            assert watch.valid and watch.efforts.known.all() and robot.states.observer_v[1] == SPEED
    assert watch.valid and not robot.states.observer_v.any()
    assert watch.joints == NAMES[7:] and np.isnan(watch.external[:7]).all()

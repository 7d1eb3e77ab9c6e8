"""Filtered joint states: the torques use them, the checks do not."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from fleets import NAMES, N, Q, feed, launch, panda_fleet

from ros2_node.control.states.filtered_states import FilteredStates
from ros2_node.control.states.joint_states import JointStates

REST = np.zeros(N)
SHARE = 1.0 - np.exp(-2.0 * np.pi * 10.0 * 0.005)


def test_no_filter_by_default():
    states = panda_fleet().robots[0].states
    assert type(states) is JointStates
    assert states.q is states.q and not panda_fleet().settings.filters_states


@pytest.fixture
def fleet():
    return panda_fleet(
        mode="computed_torque", position_filter=10.0, velocity_filter=10.0, ramp_time=0.0
    )


def test_positions_and_velocities_are_filtered(fleet):
    """The filter uses the time between stamps. The first message is not changed."""
    robot = fleet.robots[0]
    assert isinstance(robot.states, FilteredStates)
    feed(robot, 1.0, v=REST)
    np.testing.assert_array_equal(robot.state.q, Q)
    feed(robot, 1.005, Q + 0.01, REST + 0.2)
    np.testing.assert_allclose(robot.state.q, Q + 0.01 * SHARE, rtol=1e-5)
    np.testing.assert_allclose(robot.state.v, 0.2 * SHARE, rtol=1e-5)
    np.testing.assert_array_equal(robot.states.q, Q + 0.01)
    robot.forget()
    feed(robot, 1.01, Q, REST)
    np.testing.assert_array_equal(robot.state.q, Q)


def test_a_rejected_message_does_not_reach_the_filter(fleet):
    """A jump is compared with the previous message, not with the filtered position."""
    robot = fleet.robots[0]
    feed(robot, 1.0, v=REST)
    robot.enable(1.0, 1.0)
    for k in range(1, 40):  # a motion at 0.4 rad/s, whose filtered position lags by 6 mrad
        assert feed(robot, 1.0 + 0.005 * k, Q + 0.002 * k, REST + 0.4)
    before = robot.state.q.copy()
    assert np.abs(robot.states.q - before).max() > 0.005
    assert not feed(robot, 1.2, Q + 0.08 + 0.5, REST + 0.4)
    assert (
        robot.counts["position_jump_dropped"] + robot.counts["position_against_velocity_dropped"]
        == 1
    )
    np.testing.assert_array_equal(robot.state.q, before)


def test_a_mode_without_velocities_gets_zero_velocities(fleet):
    robot = fleet.robots[0]
    feed(robot, 1.0, v=REST + 0.2)
    assert robot.state.v.any()
    fleet.change(fleet.settings.with_changes({"mode": "gravity"}))
    assert not robot.state.v.any()
    feed(robot, 1.005, v=REST + 0.2)
    assert not robot.state.v.any()


def test_the_torque_filter_smooths_commands():
    """A step of the torques is delayed. ~/torques and the stop sequence are not filtered."""
    fleet = panda_fleet(torque_filter=10.0, ramp_time=0.0, max_torque_rate=0.0)
    robot = fleet.robots[0]
    feed(robot, 1.0)
    robot.enable(1.0, 1.0)
    _, first = launch(fleet, robot, 1.0)
    first = first.copy()
    np.testing.assert_allclose(first, robot.state.torque, atol=1e-12)
    moved = Q + 0.05
    feed(robot, 1.005, moved)
    _, command = launch(fleet, robot, 1.005)
    np.testing.assert_allclose(command, first + SHARE * (robot.state.torque - first), atol=1e-9)
    robot.disable(1.01)
    assert not robot.watch(1.02, 1.02).any()


@pytest.mark.parametrize(
    ("stamps", "share"),
    [((1, 5_000_001), SHARE), ((2, 1), SHARE), ((7, 7), SHARE), ((0, 0), SHARE), ((1, 0), SHARE)],
)
def test_the_filter_uses_stamps_that_advance_or_else_arrivals(fleet, stamps, share):
    """A stamp that stands still must not stop the filter, and one that goes back must not make it
    jump."""
    robot = fleet.robots[0]
    arrivals = (1.0, 1.0) if stamps[1] > stamps[0] > 0 else (1.0, 1.005)
    for stamp, now, q in zip(stamps, arrivals, (Q, Q + 0.01), strict=True):
        robot.read(NAMES, array("d", q), array("d", REST), stamp, now)
    np.testing.assert_allclose(robot.state.q, Q + 0.01 * share, rtol=1e-5)
    robot.forget()

"""Measured states of one robot and their times: glitches, gaps, old stamps, clock jumps."""

from __future__ import annotations

import numpy as np
from fleets import (
    MODEL,
    Q,
    feed,
    launch,
    loss_of,
    panda_fleet,
    panda_settings,
)

import warpdyn as wd
from ros2_node.control.commands.torque_output import LAST_COMMANDS, STOP_TIME
from ros2_node.control.safety.status import Status


def test_a_stale_state_stops_and_latches(shared_fleet, robot):
    """The stop sequence only decreases and ends with zeros. No command follows until ~/enable."""
    feed(robot, 0.0)
    robot.enable(0.0, -10.0)
    _, before = launch(shared_fleet, robot, 0.0)
    before = before.copy()
    assert robot.watch(0.1, 0.1) is None
    sent = []
    t = 0.11
    while (command := robot.watch(t, t)) is not None:
        sent.append(command.copy())
        t += 0.01
    assert robot.status(t) is Status.LOST and "0.1 s" in loss_of(robot)
    assert 0.8 * STOP_TIME <= t - 0.11 <= STOP_TIME + 0.1
    sizes = np.array([abs(c[3]) for c in sent])
    assert (np.diff(sizes) <= 1e-12).all() and sizes[0] == abs(before[3])
    assert not np.any(sent[-LAST_COMMANDS:])
    feed(robot, t)
    assert launch(shared_fleet, robot, t) == (True, None), "latched until ~/enable"
    assert robot.enable(t, t)[0] and robot.status(t) is Status.ENABLED


def test_rejections_are_named_with_their_counts(robot):
    """~/enable and the diagnostics quote these texts."""
    robot.read([], (), (), 0, 0.0)
    robot.read(["nose"], (1.0,), (), 0, 0.0)
    robot.read([], (), (), 0, 0.0)
    assert robot.rejections() == "empty_message 2, no_known_joint 1"
    assert robot.status(0.0) is Status.WAITING


def test_a_glitch_of_a_velocity_changes_no_command():
    """One message of 9,000 rad/s among good ones is dropped and counted."""
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.0)
    robot = fleet.robots[0]
    commands = []
    for k in range(10):
        v = np.full(8, 9000.0) if k == 5 else 0 * Q
        if feed(robot, 0.001 * k, v=v):
            robot.enable(0.0, 0.0)
            commands.append(launch(fleet, robot, 0.001 * k)[1].copy())
    assert len(commands) == 9 and robot.counts["velocity_out_of_range"] == 1
    np.testing.assert_allclose(commands, np.tile(commands[0], (9, 1)), atol=1e-9)


def test_one_position_glitch_is_dropped_and_many_stop_the_robot():
    """Many dropped messages leave no fresh state, and the answer says why."""
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.0)
    robot = fleet.robots[0]
    feed(robot, 0.0, v=0 * Q)
    robot.enable(0.0, 0.0)
    before = launch(fleet, robot, 0.0)[1].copy()
    assert not feed(robot, 0.001, Q + 1.5, 0 * Q) and feed(robot, 0.002, v=0 * Q)
    np.testing.assert_allclose(launch(fleet, robot, 0.002)[1], before, atol=1e-9)
    for k in range(3, 104):
        assert not feed(robot, 0.001 * k, Q + 1.5, 0 * Q)
        robot.watch(0.001 * k, 0.001 * k)
    assert loss_of(robot) and "position_jump_dropped" in robot.last_fault and robot.output.stopping
    assert feed(robot, 0.2, Q + 1.5, 0 * Q), "disabled, it is believed"


def test_a_change_of_parameters_keeps_the_measured_velocities():
    """The next launch has the damping of the state, with no message in between."""
    fleet = panda_fleet(mode="inverse_dynamics")
    robot, v = fleet.robots[0], np.linspace(-0.3, 0.3, 8)
    feed(robot, 0.0, v=v)
    fleet.change(panda_settings(mode="inverse_dynamics", torque_scale=0.5))
    fleet.compute()
    np.testing.assert_allclose(robot.state.torque, wd.rnea(MODEL, Q, v, 0 * v), atol=1e-9)


def test_a_state_after_a_gap_does_not_hide_the_gap(shared_fleet, robot):
    """A process that was frozen stops the robot, in whatever order the callbacks come
    afterwards."""
    for first in ("state", "watchdog"):
        feed(robot, 0.0)
        assert robot.enable(0.0, -10.0)[0]
        robot.watch(0.0, 0.0)
        launch(shared_fleet, robot, 0.0)
        if first == "state":
            assert not feed(robot, 1.0, Q + 0.02), "the state must not refresh the age"
            assert robot.counts["state_after_gap"] == 1
        robot.watch(1.0, 1.0)
        assert robot.status(1.0) is Status.STOPPING and robot.counts["state_lost"] == 1
        assert (
            loss_of(robot) == "no valid joint_states for 0.1 s: this process did not run for 1.00 s"
        )
        while robot.watch(2.0, 2.0) is not None:
            pass
        assert not robot.output.command.any()
        feed(robot, 2.0)
        assert launch(shared_fleet, robot, 2.0) == (True, None), "latched until ~/enable"
        robot.counts.clear()
        robot.states.arrived = -np.inf


def test_old_stamps_prevent_enabling_and_stop_the_robot(robot):
    """The stamps advance but lag behind the clock by more than max_state_age."""
    second = 1_000_000_000
    feed(robot, 20.0)
    robot.note(ros_now=int(30 * second))
    good, text = robot.enable(20.0, 20.0)
    assert not good and "10 s older than this node's clock" in text and "use_sim_time" in text
    assert robot.counts["stamp_old"] == 1
    feed(robot, 20.01)
    robot.note(ros_now=int(20.4 * second))
    assert robot.enable(20.01, 20.01)[0]
    feed(robot, 20.02)
    robot.note(ros_now=int(21.02 * second))
    robot.watch(20.03, 20.03)
    assert robot.status(20.03) is Status.ENABLED
    for now in (20.08, 20.13):
        feed(robot, now)
        robot.note(ros_now=int((now + 1.0) * second))
    robot.watch(20.13, 20.13)
    assert robot.status(20.13) is Status.STOPPING and "max_state_age 0.5 s" in loss_of(robot)


def test_a_clock_that_jumps_after_the_states_stops_nothing(robot):
    """The stamps of a restarted simulation jump first, then its clock does."""
    second = 1_000_000_000
    feed(robot, 20.0)
    robot.note(ros_now=int(20.0 * second))
    assert robot.enable(20.0, 20.0)[0]
    feed(robot, 20.05)
    robot.note(ros_now=int(1520.05 * second))
    robot.watch(20.06, 20.06)
    robot.forget()
    feed(robot, 20.12)
    robot.note(ros_now=int(20.12 * second))
    robot.watch(20.13, 20.13)
    assert robot.status(20.13) is Status.ENABLED and robot.counts["stamp_old"] == 1


def test_positions_beyond_their_limits_prevent_enabling(robot):
    """A driver might send degrees. Positions within the margin are accepted."""
    feed(robot, 0.0, np.degrees(Q))
    good, text = robot.enable(0.0, 0.0)
    assert not good and "panda_joint2 is at -40.11, beyond its limits -1.763 to 1.763" in text
    assert "are joint_states in radians" in text
    assert robot.counts["position_beyond_limit"] == 0, "counted when the torques are out"
    robot.note(0)
    assert robot.counts["position_beyond_limit"] == 1
    feed(robot, 1.0, Q)
    edge = Q.copy()
    edge[0] = MODEL.position_upper[0] + 0.05
    feed(robot, 2.0, edge)
    assert robot.enable(2.0, 2.0)[0]


def test_a_state_as_old_as_the_timeout_is_fresh(shared_fleet, robot):
    """This holds for ~/enable, the next state, the status and the watchdog. A slightly older state
    is stale."""
    shared_fleet.change(panda_settings(ramp_time=0.0, state_timeout=0.125))
    late = 0.125 + 2**-10
    feed(robot, 1.0)
    assert robot.status(1.125) is Status.READY and robot.status(1.0 + late) is Status.WAITING
    assert not robot.enable(1.0 + late, 0.0)[0] and robot.enable(1.125, 0.0)[0]
    assert robot.watch(1.125, 0.0) is None and feed(robot, 1.125)
    assert robot.watch(1.25, 0.0) is None and robot.is_enabled
    assert not feed(robot, 1.125 + late) and robot.counts["state_after_gap"] == 1
    robot.watch(1.125 + late, 0.0)
    assert loss_of(robot) == "no valid joint_states for 0.125 s"


def test_a_process_that_did_not_run_for_the_timeout_is_reported(shared_fleet, robot):
    for gap, told in ((0.125, ""), (0.25, ": this process did not run for 0.25 s")):
        shared_fleet.change(panda_settings(ramp_time=0.0, state_timeout=0.125))
        feed(robot, 1.0)
        assert robot.enable(1.0, 0.0)[0]
        robot._watched = 1.5 - gap
        robot.watch(1.5, 0.0)
        assert loss_of(robot) == f"no valid joint_states for 0.125 s{told}"
        while robot.stop_step(1e9) is not None:
            pass
        robot.reset()


def test_stamps_may_be_too_old_for_a_tenth_of_a_second(robot, monkeypatch):
    monkeypatch.setattr(robot.states, "lateness", lambda: "late")
    monkeypatch.setattr(robot.states, "late_for", lambda now: now - 5.0)
    feed(robot, 5.0625)
    robot.states.arrived = 5.0625
    monkeypatch.setattr(robot.states, "lateness", lambda: "")
    assert robot.enable(5.0625, 0.0)[0]
    monkeypatch.setattr(robot.states, "lateness", lambda: "late")
    monkeypatch.setattr(robot.states, "late_for", lambda now: 0.1)
    robot.watch(5.07, 0.0)
    assert robot.is_enabled
    monkeypatch.setattr(robot.states, "late_for", lambda now: 0.101)
    robot.watch(5.07, 0.0)
    assert not robot.is_enabled and loss_of(robot) == "late"

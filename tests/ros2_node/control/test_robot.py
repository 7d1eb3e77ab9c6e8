"""The gate, the commands and the watchdog of one robot, without ROS."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import (
    MODEL,
    NAMES,
    Q,
    fault_of,
    feed,
    launch,
    panda_fleet,
    panda_settings,
    wheel_text,
)

import warpdyn as wd
from ros2_node.control.blend_spacing import FLOAT_TIME
from ros2_node.control.commands.torque_output import LAST_COMMANDS
from ros2_node.control.fleet import Fleet
from ros2_node.control.safety.gate import EXPLAINED, STOPPING, Phase
from ros2_node.control.safety.status import Status
from ros2_node.control.settings.node_settings import Settings


def test_a_disabled_robot_shows_the_torque_and_sends_none(shared_fleet, robot):
    """The torque is the inverse dynamics of the state at rest."""
    assert feed(robot, 0.0)
    assert launch(shared_fleet, robot, 0.0) == (True, None)
    np.testing.assert_allclose(robot.state.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-12)


def test_enable_needs_a_fresh_state(robot):
    """The gate remains closed without a fresh state, and the answer says why."""
    good, text = robot.enable(5.0, 5.0)
    assert not good and "no fresh joint_states" in text
    feed(robot, 5.0)
    assert robot.status(5.0) is Status.READY
    assert robot.enable(5.05, 5.05) == (True, "enabled")
    assert robot.status(5.05) is Status.ENABLED


def test_commands_ramp_in_linearly(shared_fleet, robot):
    """They grow from zero at ~/enable to the full torque after ramp_time."""
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    full = wd.rnea(MODEL, Q, 0 * Q, 0 * Q)
    for t in (0.0, 0.25, 0.5, 1.0, 2.0):
        feed(robot, t)
        _, command = launch(shared_fleet, robot, t)
        np.testing.assert_allclose(command, min(t, 1.0) * full, atol=1e-9)


@pytest.mark.parametrize("action, share", [("zero", 0.0), ("hold", 1.0)])
def test_stop_sequences_of_zeros_and_holds(shared_fleet, robot, action, share):
    """Five equal commands are sent: zeros, or the last command."""
    shared_fleet.change(panda_settings(stale_action=action, ramp_time=0.0))
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    _, full = launch(shared_fleet, robot, 0.0)
    full = full.copy()
    robot.disable(0.0)
    sent = [robot.watch(0.01 * k, 0.01 * k) for k in range(LAST_COMMANDS)]
    assert robot.watch(1.0, 1.0) is None
    np.testing.assert_allclose(sent, np.tile(share * full, (LAST_COMMANDS, 1)))


def test_a_nonfinite_torque_is_a_latched_fault(shared_fleet, robot):
    """It is neither shown nor sent. Only ~/reset and ~/enable lead on."""
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    launch(shared_fleet, robot, 0.0)
    shared_fleet.dynamics.state.torque[0, 2] = np.nan
    assert robot.command(0.01, 0.01) == (False, None)
    assert "panda_joint3" in fault_of(robot) and robot.output.stopping
    while (command := robot.watch(0.02, 9.0)) is not None:
        assert np.isfinite(command).all()
    feed(robot, 9.0)
    good, text = robot.enable(9.0, 9.0)
    assert not good and "~/reset" in text
    robot.reset()
    assert robot.enable(9.0, 9.0)[0] and robot.last_fault


def test_computed_torque_tracks_and_holds():
    """The torque is M(q) (a + kp e + kd de) + h(q, v). Without a reference the position is held."""
    tracking = panda_fleet(mode="computed_torque", kp=[50.0] * 8, kd=5.0, state_timeout=1.0)
    robot = tracking.robots[0]
    v = np.array([*np.linspace(-0.5, 0.3, 7), 0.0])
    feed(robot, 0.0, v=v)
    robot.enable(0.0, 0.0)
    feed(robot, 0.1, Q + 0.01, v)
    tracking.compute()
    np.testing.assert_allclose(
        robot.state.torque, wd.rnea(MODEL, Q + 0.01, v, -50 * 0.01 - 5 * v), atol=1e-9
    )
    way, a = np.array([0.2] * 7 + [0.01]), np.ones(8)
    assert robot.setpoint.read(NAMES[::-1], ((Q + way)[::-1], (), a), 0.1) is None
    feed(robot, 0.2, Q, v)
    tracking.compute()
    np.testing.assert_allclose(
        robot.state.torque, wd.rnea(MODEL, Q, v, a + 50 * way - 5 * v), atol=1e-9
    )
    for now in (1.0, 1.9, 2.8):  # the reference is not refreshed meanwhile
        feed(robot, now, Q, v)
    tracking.compute()
    np.testing.assert_allclose(
        robot.state.torque, wd.rnea(MODEL, Q, v, 50 * way - 5 * v), atol=1e-9
    )


def test_a_wrench_is_compensated_while_it_is_fresh(shared_fleet, robot):
    """The torque is rnea with that force on that link, and without the force later."""
    assert robot.wrench.read("panda_hand", (0, 0, 10.0), (0, 0, 0), 0.0) is None
    feed(robot, 0.05)
    launch(shared_fleet, robot, 0.05)
    f_ext = {"panda_hand": np.array([0, 0, 10.0, 0, 0, 0])}
    np.testing.assert_allclose(
        robot.state.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q, f_ext=f_ext), atol=1e-9
    )
    feed(robot, 0.2)
    launch(shared_fleet, robot, 0.2)
    np.testing.assert_allclose(robot.state.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-9)
    assert robot.wrench.read("nose", (0, 0, 0), (0, 0, 0), 0.0) == "wrench_unknown_link"
    assert robot.wrench.read("panda_hand", (0, 0, np.nan), (0, 0, 0), 0.0) == "wrench_nonfinite"


@pytest.mark.parametrize("wrong", ["panda_joint99", "panda_finger_joint2"])
def test_command_joints_must_be_read(wrong):
    """A command joint without a state is refused when the robot is created."""
    with pytest.raises(ValueError, match=wrong):
        panda_fleet(command_joints=[wrong])


def test_start_enabled_starts_once_and_never_after_another_model():
    """The first valid state opens the gate, unless the robot replaces another."""
    first, second = panda_fleet(start_enabled=True), panda_fleet(start_enabled=True)
    second.robots[0].replace(first.robots[0])
    for one in (first, second):
        feed(one.robots[0], 0.0)
        launch(one, one.robots[0], 0.0)
    assert first.robots[0].is_enabled and not second.robots[0].is_enabled
    first.robots[0].disable(0.0)
    feed(first.robots[0], 0.1)
    launch(first, first.robots[0], 0.1)
    assert not first.robots[0].is_enabled
    while first.robots[0].stop_step(1e9) is not None:
        pass
    first.robots[0].start()  # as a managed node does when it is activated again
    launch(first, first.robots[0], 0.1)
    assert first.robots[0].is_enabled


@pytest.mark.parametrize("how", ["disabled", "fault"])
def test_a_gate_closed_before_the_start_does_not_start(how):
    """~/enable with false, or a fault and ~/reset, come before the first state."""
    fleet = panda_fleet(start_enabled=True)
    robot = fleet.robots[0]
    if how == "fault":
        robot.fail("an exception in a callback", 0.0)
        robot.reset()
    else:
        assert robot.disable(0.0) == (True, "already disabled")
    for k in range(3):
        feed(robot, 0.01 * k)
        assert launch(fleet, robot, 0.01 * k) == (True, None)
    assert not robot.is_enabled
    assert robot.enable(0.02, 0.02)[0]


def test_a_fault_latched_at_activation_needs_enable_after_reset():
    """A robot activated with a latched fault and start_enabled is not enabled by ~/reset. The next
    activation enables it again."""
    fleet = panda_fleet(start_enabled=True)
    robot = fleet.robots[0]
    robot.fail("an exception in a callback", 0.0)
    robot.start()  # a managed node calls it on activate
    assert robot.reset() == (True, "cleared: an exception in a callback")
    for k in range(3):
        feed(robot, 0.01 * k)
        assert launch(fleet, robot, 0.01 * k)[1] is None
    assert robot.gate.phase is Phase.OFF
    robot.start()
    launch(fleet, robot, 0.02)
    assert robot.is_enabled


def test_services_answer_in_each_phase_of_the_gate(robot):
    """The answers are those of ~/enable, ~/enable with false, and ~/reset."""
    requests = (lambda now: robot.enable(now, 0.0), robot.disable, lambda now: robot.reset())
    answers = {}
    for now, phase in enumerate(Phase):
        robot.gate.phase = Phase.OFF
        feed(robot, now)
        said = []
        for ask in requests:
            robot.gate.phase, robot.gate.reason = phase, "why" if phase in EXPLAINED else ""
            said.append(ask(now))
            robot.output._last_left = 0
        answers[phase] = tuple(said)
    enabled, off = (True, "enabled"), (True, "already disabled")
    latched = (False, "a fault is latched, call ~/reset first: why")
    stopping = (False, "the stop sequence is still running")
    floating = (False, "floating after a why: call ~/enable with false first")
    nothing, cleared = (True, "there was no fault"), (True, "cleared: why")
    assert answers == {
        Phase.OFF: (enabled, off, nothing),
        Phase.STARTING: (enabled, off, nothing),
        Phase.ENABLED: ((True, "already enabled"), (True, "disabled"), nothing),
        Phase.FLOATING: (floating, (True, "disabled"), nothing),
        Phase.STOPPING: (stopping, off, nothing),
        Phase.STOPPING_LOST: (stopping, off, cleared),
        Phase.STOPPING_FAULT: (latched, off, cleared),
        Phase.LOST: (enabled, off, cleared),
        Phase.LOST_STARTING: (enabled, off, cleared),
        Phase.FAULT: (latched, off, cleared),
    }


def test_the_gate_and_the_output_stop_together():
    """Both are stopping until the last command of the stop sequence, whatever begins it."""
    fleet = panda_fleet(ramp_time=0.0)
    robot = fleet.robots[0]
    ends = (
        lambda now: robot.disable(now),
        lambda now: robot.fail("a fault", now),
        lambda now: robot.watch(now + 1.0, now),
    )
    for k, end in enumerate(ends):
        now = 10.0 * k
        feed(robot, now)
        robot.reset()
        assert robot.enable(now, now)[0] and robot.gate.phase is Phase.ENABLED
        end(now)
        while robot.gate.phase in STOPPING:
            assert robot.output.stopping and not robot.idle
            assert robot.stop_step(now + 1.0) is not None
        assert not robot.output.stopping and robot.idle and robot.stop_step(now + 1.0) is None


def test_with_a_command_controller_the_first_state_does_not_start():
    """The gate starts the robot after it has asked the controller."""
    fleet = panda_fleet(start_enabled=True, command_controller="c")
    feed(fleet.robots[0], 0.0)
    launch(fleet, fleet.robots[0], 0.0)
    assert not fleet.robots[0].is_enabled


def test_joints_missing_in_a_reference_before_enable_are_held():
    """A reference for two joints streams. The others do not move to the neutral pose."""
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.0)
    robot = fleet.robots[0]
    for k in range(5):
        feed(robot, 0.01 * k, v=0 * Q)
        robot.refer(NAMES[:2], (Q[:2] + 0.1, (), ()), 0.01 * k)
    assert robot.enable(0.05, 0.05)[0]
    feed(robot, 0.06, v=0 * Q)
    launch(fleet, robot, 0.06)
    wanted = np.array([0.1, 0.1, *[0.0] * 6])
    np.testing.assert_allclose(
        robot.state.torque, wd.rnea(MODEL, Q, 0 * Q, 100 * wanted), atol=1e-9
    )


def test_a_large_tracking_error_prevents_enabling_and_stops():
    """The fault is latched and has the joint's name."""
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.0, max_tracking_error=0.2)
    robot = fleet.robots[0]
    feed(robot, 0.0, v=0 * Q)
    robot.refer(NAMES, (Q + 0.1 * np.arange(8)[::-1] / 3, (), ()), 0.0)
    good, text = robot.enable(0.0, 0.0)
    assert not good and "panda_joint1" in text and "max_tracking_error 0.2" in text
    robot.refer(NAMES, (Q + 0.1, (), ()), 0.0)
    assert robot.enable(0.0, 0.0) == (True, "enabled")
    feed(robot, 0.01, v=0 * Q)
    assert launch(fleet, robot, 0.01)[1] is not None
    pushed, v = Q.copy(), 0 * Q
    v[2] = -1.5
    for k in range(10):
        pushed[2] -= 0.015
        feed(robot, 0.02 + 0.01 * k, pushed, v)
    assert launch(fleet, robot, 0.11)[1] is None and robot.output.stopping
    assert (
        fault_of(robot)
        == "panda_joint3 is 0.25 from its reference, more than max_tracking_error 0.2"
    )


def test_a_reference_jump_while_enabled_is_refused_and_has_no_effect():
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.0)
    robot = fleet.robots[0]
    feed(robot, 0.0, v=0 * Q)
    robot.enable(0.0, 0.0)
    assert robot.refer(NAMES, (Q + 0.6, (), ()), 0.0) == "reference_too_far"
    feed(robot, 0.01, v=0 * Q)
    np.testing.assert_allclose(
        launch(fleet, robot, 0.01)[1], wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-9
    )


@pytest.mark.parametrize("effort", ["0", "-5"])
def test_enable_without_an_effort_limit_needs_a_parameter(effort):
    text = wheel_text("revolute").replace('effort="0"', f'effort="{effort}"')
    for values, good in (
        ({}, False),
        ({"effort_limits": 3.0}, True),
        ({"unlimited_effort": True}, True),
    ):
        settings = Settings.of({"robot_description": text, **values})
        robot = Fleet(settings, "", [Counter()]).robots[0]
        robot.read(["spin"], [0.0], [], 0, 0.0)
        answer = robot.enable(0.0, 0.0)
        assert answer[0] is good
    robot = Fleet(Settings.of({"robot_description": text}), "", [Counter()]).robots[0]
    robot.read(["spin"], [0.0], [], 0, 0.0)
    assert "no effort limit for spin: give effort_limits" in robot.enable(0.0, 0.0)[1]


def test_enable_after_a_hold_begins_at_the_held_command(shared_fleet, robot):
    """Commands from zero would drop the arm. The same robot with another model also begins
    there."""
    shared_fleet.change(panda_settings(stale_action="hold", ramp_time=1.0))
    feed(robot, 0.0)
    robot.enable(0.0, -10.0)
    held = launch(shared_fleet, robot, 0.0)[1].copy()
    robot.disable(0.0)
    while robot.stop_step(1.0) is not None:
        pass
    other = panda_fleet()
    other.robots[0].replace(robot)
    for fleet in (shared_fleet, other):
        again = fleet.robots[0]
        feed(again, 5.0)
        assert again.enable(5.0, 5.0)[0]
        np.testing.assert_allclose(launch(fleet, again, 5.0)[1], held, atol=1e-9)
        np.testing.assert_allclose(launch(fleet, again, 5.5)[1], held, atol=1e-9)


def test_a_reference_lost_in_motion_makes_no_step():
    """Its velocity and acceleration decrease to zero within FLOAT_TIME, not at once."""
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.1, reference_timeout=0.2)
    robot, v, commands = fleet.robots[0], np.array([*[0.5] * 7, 0.0]), []
    for k in range(500):
        now = 0.001 * k
        feed(robot, now, v=v)
        if k == 5:
            assert robot.enable(now, now - 10.0)[0]
        if 10 <= k < 250:
            robot.refer(NAMES, (Q, v, np.ones(8)), now)
        command = launch(fleet, robot, now)[1]
        if command is not None:
            commands.append(command.copy())
    steps = np.abs(np.diff(commands[300:], axis=0)).max(axis=0)
    whole = np.abs(commands[-1] - commands[300])
    assert whole.max() > 10.0, "the moving reference made torques"
    assert (steps <= 1.05 * whole / (FLOAT_TIME / 0.001)).all()


def test_an_external_wrench_begins_and_ends_without_a_step():
    """The command changes within FLOAT_TIME, and back when the wrench expires."""
    fleet = panda_fleet(ramp_time=0.2)
    robot, commands = fleet.robots[0], []
    for k in range(700):
        now = 0.001 * k
        if 100 <= k < 300:
            robot.wrench.read("panda_hand", (0.0, 0.0, 100.0), (0.0, 0.0, 0.0), now)
        feed(robot, now)
        if k == 5:
            assert robot.enable(now, now - 10.0)[0]
        command = launch(fleet, robot, now)[1]
        if command is not None:
            commands.append(command.copy())
    commands = np.array(commands)[50:]
    whole = np.abs(commands - commands[0]).max(axis=0)
    assert whole.max() > 10.0, "the force changed the torques"
    steps = np.abs(np.diff(commands, axis=0)).max(axis=0)
    assert (steps <= 1.05 * whole / (FLOAT_TIME / 0.001)).all()
    np.testing.assert_allclose(commands[-1], commands[0], atol=1e-9)


def test_the_cause_of_a_closed_gate_is_reported(shared_fleet, robot):
    """The reports are the answers of requests, the count of faults, and the text of the last
    one."""
    assert robot.disable(0.0) == (True, "already disabled")
    feed(robot, 1.0)
    assert robot.enable(1.0, 0.0) == (True, "enabled")
    assert robot.enable(1.0, 0.0) == (True, "already enabled")
    assert robot.disable(0.0) == (True, "disabled")
    while robot.stop_step(1e9) is not None:
        pass
    assert robot.reset() == (True, "there was no fault")
    robot.fail("broken", 0.0)
    assert robot.reset() == (True, "cleared: broken")
    assert robot.counts["fault"] == 1 and robot.last_fault == "broken"
    robot.read([], (), (), 0, 2.0)
    assert robot.enable(2.0, 0.0) == (False, "there is no fresh joint_states: empty_message 1")

"""External torques of a robot from state to state: collisions while enabled, floating, and
services."""

from __future__ import annotations

import numpy as np
import pytest
from feeling import feel, feeling_fleet
from fleets import MODEL, Q, fault_of, launch
from watched_efforts import HELD, PUSH, go, watched_fleet  # noqa: F401  a fixture

import warpdyn as wd
from ros2_node.control.blend_spacing import FLOAT_TIME
from ros2_node.control.safety.gate import Phase
from ros2_node.control.safety.status import Status


def test_efforts_are_evaluated_after_the_command(fleet):
    """They belong to the command before it. A state that comes earlier does not lose them."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD, 0.0, 60)
    watch, before = robot.effort_watch, robot.effort_watch.external.copy()
    assert feel(robot, now, HELD - PUSH)
    np.testing.assert_array_equal(watch.external, before)
    assert feel(robot, now + 0.002, HELD)
    assert watch.external[1] < -0.5, "of the state before"
    robot.note(0)
    after = watch.external.copy()
    robot.note(0)
    np.testing.assert_array_equal(watch.external, after)


def test_a_collision_stops_at_the_state_that_shows_it(fleet):
    """The next command is the first one of the stop sequence, and a fault is latched. A disabled
    robot has nothing to stop."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    assert not fault_of(robot) and robot.effort_watch.collision, (
        "told, but there is nothing to stop"
    )
    np.testing.assert_allclose(robot.effort_watch.external, PUSH, atol=1e-4)
    now, _ = go(fleet, HELD, now, 60)
    assert robot.enable(now, now)[0]
    now, command = go(fleet, HELD, now, 5)
    np.testing.assert_allclose(command, HELD, atol=1e-9)
    told = 0
    while not fault_of(robot) and told < 20:
        now, command = go(fleet, HELD - PUSH, now, 1)
        told += 1
    assert told < 5, "a filter of 5 ms passes half of it within two states"
    assert command is not None and not command.any()
    assert "panda_joint2" in fault_of(robot) and robot.counts["collision"] == 1
    assert robot.status(now) is Status.FAULT


def test_floating_carries_the_weight_and_follows_no_reference(fleet):
    """The reference of computed torque no longer pulls. ~/enable with false ends floating."""
    robot = fleet.robots[0]
    values = {"mode": "computed_torque", "collision_reaction": "gravity", "max_tracking_error": 0.2}
    fleet.change(fleet.settings.with_changes({**values, "ramp_time": 1.0}))
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now - 10.0)[0]
    robot.setpoint.q[1] += 0.1
    now, command = go(fleet, HELD, now, 5)
    assert np.abs(command - HELD).max() > 1.0
    now, _ = go(fleet, HELD - PUSH, now, 20)
    assert (
        robot.gate.phase is Phase.FLOATING
        and robot.status(now) is Status.FLOATING
        and not fault_of(robot)
    )
    robot.setpoint.q[1] += 1.0
    now, command = go(fleet, HELD, now + FLOAT_TIME, 5, dt=FLOAT_TIME / 3)
    np.testing.assert_allclose(command, HELD, atol=1e-9)
    assert not fault_of(robot), "what floats follows no reference"
    robot.disable(now)
    assert robot.gate.phase is not Phase.FLOATING


def test_a_state_without_velocity_gives_no_external_torque(fleet):
    """Mode gravity uses the state, since its torques need no velocity. The observer restarts at the
    next state."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    assert feel(robot, now, HELD, v=()) and not robot.note(0)
    assert not robot.effort_watch.valid and np.isnan(robot.effort_watch.external).all()
    assert robot.counts["effort_no_velocity"] == 1
    go(fleet, HELD - PUSH, now + 0.002, 1)
    assert robot.effort_watch.valid and not np.abs(robot.effort_watch.external).max()
    report = robot.effort_watch.report()
    assert "N·m" in report["largest external torque"]
    assert report["efforts known of"] == " ".join(robot.states.joints)


def test_commands_may_replace_measured_efforts():
    """Torques are known while commands are sent if `effort_source` is `command`.

    A push is detected without any measured effort.
    """
    fleet = feeling_fleet(effort_source="command", payload__link="")
    robot = fleet.robots[0]
    now, _ = go(fleet, (), 0.0, 3)
    assert not robot.effort_watch.valid
    robot.enable(now, now)
    now, _ = go(fleet, (), now, 60)
    assert np.abs(robot.effort_watch.external).max() < 1e-9
    assert "measured efforts are needed" in robot.effort_watch.identify()[1]


@pytest.mark.parametrize("jump", [0.0, -0.06, 5.0])
def test_a_clock_jump_resets_the_observer(fleet, jump):
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 1.0, 60)
    assert np.abs(robot.effort_watch.external).max() > 1.0
    assert feel(robot, now, HELD)
    robot.forget()
    before = robot.effort_watch.external.copy()
    robot.note(0)
    np.testing.assert_array_equal(robot.effort_watch.external, before)  # no state is left
    go(fleet, HELD - PUSH, now + 0.002 + jump, 1)
    assert not np.abs(robot.effort_watch.external).max()


def test_a_collision_is_not_lost_between_two_cycles(fleet):
    """Several states come in one cycle if `rate` is set.

    One that shows a collision stops the arm, whatever the next ones show. A collision while
    disabled is no reason to stop.
    """
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    assert robot.enable(now, now)[0]
    assert launch(fleet, robot, now)[1] is not None and not fault_of(robot)
    now, _ = go(fleet, HELD, now, 1)
    robot.reset()
    robot.disable(now)
    while robot.stop_step(now + 9.0) is not None:
        pass
    now, _ = go(fleet, HELD, now, 60)
    assert robot.enable(now, now)[0]
    for k in range(120):
        assert feel(robot, now + 0.002 * k, HELD - PUSH if k < 20 else HELD)
    assert robot.note(0)
    assert np.abs(robot.effort_watch.external).max() < 1e-3, "it is over"
    assert not launch(fleet, robot, now + 0.24)[1].any() and "panda_joint2" in fault_of(robot)


def test_the_estimate_recovers_from_absurd_efforts(fleet):
    """Meanwhile the joint is unknown, as with NaN. Its estimate then restarts."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD, 0.0, 20)
    now, _ = go(fleet, np.where(np.arange(8) == 2, 1e308, HELD), now, 5)
    assert np.isnan(robot.effort_watch.external[2]) and not robot.effort_watch.collision
    now, _ = go(fleet, HELD - PUSH, now, 200)
    np.testing.assert_allclose(robot.effort_watch.external, PUSH, atol=1e-4)
    assert robot.counts["effort_nonfinite"] == 5


def test_a_joint_with_intermittent_efforts_does_not_affect_others(fleet):
    """A sensor drops every second value, and a push on another joint stops the arm."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now)[0]
    for k in range(40):
        effort = HELD - PUSH
        effort[6] = np.nan if k % 2 else effort[6]
        now, _ = go(fleet, effort, now, 1)
    assert "panda_joint2" in fault_of(robot)


@pytest.mark.parametrize("lost", ["missing", "not a number", "velocity", "gaps"])
def test_collision_detection_without_efforts_stops_and_cannot_be_enabled(fleet, lost):
    """When efforts end, in whatever way, commands end within `state_timeout`. Missing efforts are
    reported before."""
    robot, step = fleet.robots[0], 0.002
    fleet.change(fleet.settings.with_changes({"state_timeout": 0.2, "collision_threshold": 3.0}))
    effort = np.full(8, np.nan) if lost == "not a number" else () if lost == "missing" else HELD
    more = {"v": ()} if lost == "velocity" else {}
    step = 0.15 if lost == "gaps" else step

    def state_without_efforts(now):
        assert feel(robot, now, effort, **more)
        return launch(fleet, robot, now)[1]

    state_without_efforts(0.0)
    state_without_efforts(step)
    good, text = robot.enable(step, step)
    assert not good and text.startswith(
        "collision_threshold is set, and no external torque is known"
    )
    assert lost == "gaps" or "panda_joint1, " in robot.effort_watch.unguarded_message
    now, _ = go(fleet, HELD, 1.0, 5)
    assert robot.enable(now, now) == (True, "enabled") and not robot.effort_watch.unguarded_message
    until = now + 0.2
    while now < until - 1e-9:
        assert state_without_efforts(now) is not None and robot.watch(now, now) is None
        now += step
    assert robot.watch(until + 0.001, until) is not None
    assert fault_of(robot).startswith("collision_threshold is set")


def test_a_threshold_may_be_set_while_enabled(fleet):
    """The guard uses it from the next state on. Setting it does not stop the robot."""
    robot = fleet.robots[0]
    fleet.change(fleet.settings.with_changes({"collision_threshold": 0.0}))
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now)[0]
    now, _ = go(fleet, HELD, now, 100)
    fleet.change(fleet.settings.with_changes({"collision_threshold": 3.0}))
    assert robot.watch(now, now) is None and robot.is_enabled
    go(fleet, HELD - PUSH, now, 20)
    assert "panda_joint2" in fault_of(robot)


def test_a_joint_without_effort_is_named_at_enable(fleet):
    """One threshold applies to all joints, and the gripper has no effort. The robot is enabled, and
    the answer names the joint."""
    robot = fleet.robots[0]
    effort = HELD.copy()
    effort[7] = np.nan
    now, _ = go(fleet, effort, 0.0, 5)
    text = "collisions of panda_finger_joint1 are not detected: no effort"
    assert robot.effort_watch.unguarded_message == text
    robot.effort_watch._silent = True
    assert robot.effort_watch.unguarded_message == "", "no command is sent, so there is no effort"
    robot.effort_watch._silent = False
    assert robot.enable(now, now) == (True, f"enabled; {text}")
    now, _ = go(fleet, effort, now, 200)
    assert robot.watch(now, now) is None and robot.is_enabled


def test_floating_reports_how_to_end_it_and_discards_blends(fleet):
    """A parameter change that is being blended does not push on after a collision. ~/enable with
    true is refused."""
    robot = fleet.robots[0]
    values = {"collision_reaction": "gravity", "mode": "computed_torque", "max_tracking_error": 0.0}
    fleet.change(fleet.settings.with_changes({**values, "kp": 1000.0, "ramp_time": 1.0}))
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now - 10.0)[0]
    robot.setpoint.q[1] += 0.1
    now, before = go(fleet, HELD, now, 5)
    before = before.copy()
    fleet.change(fleet.settings.with_changes({"kp": 0.0}))
    now, still = go(fleet, HELD, now, 2)
    np.testing.assert_allclose(still, before, atol=0.01 * np.abs(before).max())
    now, _ = go(fleet, HELD - PUSH, now, 20)
    assert robot.gate.phase is Phase.FLOATING
    now, command = go(fleet, HELD, now, 40)
    np.testing.assert_allclose(command, HELD, atol=1e-9)
    good, text = robot.enable(now, now)
    assert not good and text.startswith(
        "floating after a collision: external torque of panda_joint2"
    )
    assert text.endswith("call ~/enable with false first")


def test_nonfinite_torques_while_floating_are_a_fault(fleet, monkeypatch):
    robot = fleet.robots[0]
    fleet.change(fleet.settings.with_changes({"collision_reaction": "gravity"}))
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now)[0]
    now, _ = go(fleet, HELD - PUSH, now, 20)
    assert robot.gate.phase is Phase.FLOATING
    monkeypatch.setattr(robot.effort_watch.torques, "gravity_torques", lambda: np.full(8, np.nan))
    now, command = go(fleet, HELD, now, 1)
    assert command is None and fault_of(robot) and robot.output.stopping


def test_a_hold_after_a_collision_sends_only_the_weight(fleet):
    """`stale_action: hold` sends torques that carry the weight, not those that pressed."""
    robot = fleet.robots[0]
    values = {"stale_action": "hold", "mode": "computed_torque", "max_tracking_error": 0.0}
    fleet.change(fleet.settings.with_changes(values))
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now)[0]
    robot.setpoint.q[1] += 0.1
    now, pressing = go(fleet, HELD, now, 2)
    assert np.abs(pressing - HELD).max() > 5.0
    now, _ = go(fleet, HELD - PUSH, now, 20)
    assert fault_of(robot)
    last = [c.copy() for _ in range(9) if (c := robot.stop_step(now)) is not None][-1]
    np.testing.assert_allclose(last, HELD, atol=1e-9)
    robot.output.settle(np.full(8, np.nan), now)
    assert np.isfinite(robot.output.command).all()


def test_friction_parameters_remove_friction_from_external_torques():
    """The arm has friction that the model lacks and moves freely. The error is less than a tenth of
    that without the parameters. A push is detected as before."""
    coulomb, viscous = 2.0, 0.7
    told = {"friction__coulomb": coulomb, "friction__viscous": viscous, "friction__speed": 0.02}
    largest = {}
    for known in (False, True):
        fleet = feeling_fleet(**(told if known else {}))
        robot, felt, pushed = fleet.robots[0], [], []
        size, w = np.array([*[0.3] * 7, 0.0]), 2 * np.pi * np.linspace(0.4, 0.8, 8)
        for k in range(800):
            t = 0.002 * k
            q, v = Q + size * np.sin(w * t), size * w * np.cos(w * t)
            tau = wd.rnea(MODEL, q, v, -size * w * w * np.sin(w * t))
            effort = tau + coulomb * np.sign(v) + viscous * v - (PUSH if t > 1.3 else 0.0)
            feel(robot, t, effort, q, v)
            (pushed if t > 1.4 else felt).append(robot.effort_watch.external[:7].copy())
        largest[known] = np.sqrt(np.mean(np.square(felt[50:650])))
        if known:
            np.testing.assert_allclose(np.mean(pushed, axis=0), PUSH[:7], atol=0.2)
    assert largest[False] > 2.0 and largest[True] < 0.1 * largest[False]


def test_a_state_with_a_repeated_stamp_is_ignored(fleet):
    """The external torques do not change, and nothing is recorded."""
    watch = fleet.robots[0].effort_watch
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    felt = watch.external.copy()
    watch.record.listening = True
    assert feel(fleet.robots[0], now - 0.002, HELD + 50.0, Q + 1e-6)
    assert not fleet.robots[0].note(0)
    np.testing.assert_array_equal(watch.external, felt)
    assert not watch.record._rows
    watch.record.listening = False

"""Parameters that change in every cycle while an enabled robot moves."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, Q, feed, launch, panda_fleet, panda_settings

import warpdyn as wd
from ros2_node.control.blend_spacing import FLOAT_TIME
from ros2_node.control.safety.gate import GateEvent, Phase

CYCLE = 0.01
"""Time between two states [s]."""
TINY = 1e-7
"""Size of each change: commands with and without changes agree within some of these changes."""
HAND = {"payload__link": "panda_hand", "payload__mass": 1.0}
SPRINGS = {"law": "joint_impedance", "law_inputs__stiffness": 50.0}
RUBBED = {**SPRINGS, "friction__scale": 0.5, "friction__coulomb": 2.0}
FREE = {"max_tracking_error": 0.0, "ramp_time": 0.2}


def motion(k):
    """Position and velocity in cycle k: joint 2 swings with 0.3 rad."""
    t, q, v = CYCLE * k, Q.copy(), 0.0 * Q
    q[1] += 0.3 * np.sin(3.0 * t)
    v[1] = 0.9 * np.cos(3.0 * t)
    return q, v


def commands_of_motion(values, change=None, cycles=150):
    """Commands of a moving robot; `change` gives parameters before each state, or None."""
    fleet = panda_fleet(**{**FREE, **values})
    (robot,) = fleet.robots
    commands = []
    for k in range(cycles):
        if change is not None and k > 50:
            new = change(k)
            try:
                fleet.change(panda_settings(**{**FREE, **values, **new}))
            except ValueError as error:
                assert "payload__inertia" in new, error
        feed(robot, CYCLE * k, *motion(k))
        if k == 1:
            fleet.compute()
            assert robot.enable(CYCLE, CYCLE)[0]
        command = launch(fleet, robot, CYCLE * k)[1]
        if k > 50:
            commands.append(command.copy())
    return np.array(commands)


@pytest.mark.parametrize(
    "values, change",
    [
        (HAND, lambda k: {"payload__mass": 1.0 + TINY * k}),
        (HAND, lambda k: {"torque_scale": 1.0 - TINY * (k % 2)}),
        (HAND, lambda k: {"gravity": [TINY * k, 0.0, -9.81]}),
        (HAND, lambda k: {"effort_limits": 20.0 + TINY * (k % 2)}),
        (HAND, lambda k: {"ramp_time": 0.2 + TINY * k}),
        (HAND, lambda k: {}),
        (HAND, lambda k: {"payload__inertia": [-1.0, 0.0, 0.0, 1.0, 0.0, 1.0]}),
        ({**HAND, "torque_filter": 5.0}, lambda k: {"payload__mass": 1.0 + TINY * k}),
        ({"mode": "computed_torque"}, lambda k: {"kp": 100.0 + TINY * k}),
        ({"mode": "computed_torque"}, lambda k: {"joint_limit_margin": 0.1 + TINY * k}),
        (SPRINGS, lambda k: {"law_inputs__stiffness": 50.0 + TINY * k}),
        (RUBBED, lambda k: {"friction__coulomb": 2.0 + TINY * k}),
    ],
)
def test_commands_follow_the_motion_while_a_parameter_changes_in_every_cycle(values, change):
    """They are those without the changes, which are tiny. A refused change counts as well."""
    if "effort_limits" in change(0):
        values = {**values, "effort_limits": 20.0}
    expected = commands_of_motion(values)
    assert np.ptp(expected[:, 1]) > 5.0, "the torques change with the motion"
    np.testing.assert_allclose(commands_of_motion(values, change), expected, atol=1e-4)


@pytest.mark.parametrize(
    "values, change",
    [
        ({"velocity_source": "finite_difference"}, lambda k: {"velocity_cutoff": 50.0 + TINY * k}),
        ({}, lambda k: {"missing_joint_policy": ("hold", "reject")[k % 2]}),
        ({}, lambda k: {"ft_deadband": [1.0, 0.1 + TINY * k]}),
        ({}, lambda k: {"ft_cutoff": 30.0 + TINY * k}),
    ],
)
def test_commands_follow_the_motion_while_the_reading_of_states_changes_in_every_cycle(
    values, change
):
    """Such a change begins at the last command, but not within 50 ms after another one. The
    commands are at most one cycle in 50 ms behind, within one `ramp_time`."""
    values = {"mode": "computed_torque", **values}
    expected = commands_of_motion(values)
    changed = commands_of_motion(values, change)
    assert np.abs(changed - expected).max() < 0.1 * np.ptp(expected[:, 1])


def test_a_growing_payload_arrives_one_ramp_time_later():
    """The load is estimated in each cycle, and grows by 1 kg within a second."""
    commands = commands_of_motion(HAND, lambda k: {"payload__mass": 1.0 + CYCLE * (k - 50)})
    for k in (120, 149):
        q, _ = motion(k)
        weight, bound = [
            wd.gravity_torques(MODEL.with_payload("panda_hand", 1.0 + CYCLE * (k - 50 - back)), q)
            for back in (0, 20)
        ]
        low, high = np.minimum(weight, bound) - 1e-3, np.maximum(weight, bound) + 1e-3
        assert ((commands[k - 51] >= low) & (commands[k - 51] <= high)).all()


def test_a_floating_robot_follows_the_motion_while_its_payload_changes():
    """After a collision the commands are gravity torques."""
    values = {**FREE, **HAND, "effort_source": "command", "collision_reaction": "gravity"}
    fleet = panda_fleet(**values)
    (robot,) = fleet.robots
    for k in range(100):
        feed(robot, CYCLE * k, *motion(k))
        if k == 1:
            fleet.compute()
            assert robot.enable(CYCLE, CYCLE)[0]
        if k == 30:
            robot.gate.send(GateEvent.COLLIDE, "test")
            robot.output.blend_again(FLOAT_TIME)
        command = launch(fleet, robot, CYCLE * k)[1]
        if k > 30:
            fleet.change(panda_settings(**{**values, "payload__mass": 1.0 + TINY * k}))
    assert robot.gate.phase is Phase.FLOATING
    weight = wd.gravity_torques(MODEL.with_payload("panda_hand", 1.0), motion(99)[0])
    np.testing.assert_allclose(command, weight, atol=1e-3)


def test_a_velocity_source_that_changes_makes_no_step():
    """Its velocities are in the next state, and the commands start at the last one."""
    values = {**FREE, "mode": "computed_torque", "kd": 50.0}
    fleet = panda_fleet(**values)
    (robot,) = fleet.robots
    for k in range(60):
        feed(robot, CYCLE * k, *motion(k))
        if k == 1:
            assert robot.enable(CYCLE, CYCLE)[0]
        last = launch(fleet, robot, CYCLE * k)[1]
    last = last.copy()
    fleet.change(panda_settings(**{**values, "velocity_source": "zero"}))
    feed(robot, CYCLE * 60, *motion(60))
    np.testing.assert_array_equal(launch(fleet, robot, CYCLE * 60)[1], last)


def robot_at_rest(values, q=Q, cycles=60):
    """A fleet whose enabled robot has been at rest, and its last command."""
    fleet = panda_fleet(**{**FREE, **values})
    (robot,) = fleet.robots
    for k in range(cycles):
        feed(robot, CYCLE * k, q, 0.0 * q)
        if k == 1:
            fleet.compute()
            assert robot.enable(CYCLE, CYCLE)[0]
        command = launch(fleet, robot, CYCLE * k)[1]
    return fleet, robot, command.copy()


def next_command(fleet, robot, k=60, q=Q):
    """The command of the next state at rest."""
    feed(robot, CYCLE * k, q, 0.0 * q)
    return launch(fleet, robot, CYCLE * k)[1]


def test_two_changes_before_a_state_make_no_step():
    """Their steps add up, and the commands end at the torques of the second one."""
    fleet, robot, last = robot_at_rest(HAND)
    for mass in (4.0, 2.0):
        fleet.change(panda_settings(**{**FREE, **HAND, "payload__mass": mass}))
    np.testing.assert_allclose(next_command(fleet, robot), last, atol=1e-9)
    weight = wd.gravity_torques(MODEL.with_payload("panda_hand", 2.0), Q)
    for k in range(61, 90):
        command = next_command(fleet, robot, k)
    np.testing.assert_allclose(command, weight, atol=1e-9)


def test_a_change_after_an_event_starts_at_the_last_command():
    """The event's step is not known, so that the transfer of the event stays."""
    fleet, robot, last = robot_at_rest(HAND)
    assert robot.wrench.read("panda_hand", (0.0, 0.0, 20.0), (0.0, 0.0, 0.0), CYCLE * 59.5) is None
    robot.output.blend(FLOAT_TIME)
    fleet.change(panda_settings(**{**FREE, **HAND, "payload__mass": 3.0}))
    np.testing.assert_allclose(next_command(fleet, robot), last, atol=1e-9)


@pytest.mark.parametrize("is_floating", [True, False])
def test_a_watched_robot_makes_no_step(is_floating):
    """The step is that of gravity torques after a collision, and that of the mode otherwise."""
    values = {
        **HAND,
        "effort_source": "command",
        "collision_reaction": "gravity",
        "mode": "computed_torque",
    }
    fleet, robot, last = robot_at_rest(values)
    if is_floating:
        robot.gate.send(GateEvent.COLLIDE, "test")
        robot.output.blend_again(FLOAT_TIME)
        for k in range(60, 100):
            last = next_command(fleet, robot, k).copy()
    robot.setpoint.q[0] = Q[0] + 0.1
    if not is_floating:
        for k in range(60, 100):
            last = next_command(fleet, robot, k).copy()
    fleet.change(panda_settings(**{**FREE, **values, "payload__mass": 3.0, "kp": 150.0}))
    np.testing.assert_allclose(next_command(fleet, robot, 100), last, atol=1e-6)


def test_a_margin_of_joint_limits_makes_no_step():
    """The repulsion of the new margin fades in."""
    values = {**HAND, "mode": "computed_torque", "joint_limit_margin": 0.02}
    near = Q.copy()
    near[3] = MODEL.position_upper[3] - 0.01
    fleet, robot, last = robot_at_rest(values, near, 2000)  # the spring depends on the mean cycle
    fleet.change(panda_settings(**{**FREE, **values, "joint_limit_margin": 0.1}))
    np.testing.assert_allclose(next_command(fleet, robot, 2000, near), last, atol=1e-9)
    for k in range(2001, 2030):
        command = next_command(fleet, robot, k, near)
    assert abs(command[3] - last[3]) > 0.1


def test_a_robot_that_is_not_enabled_computes_nothing(monkeypatch):
    """A change of its parameters costs no launch."""
    fleet = panda_fleet(**FREE)
    monkeypatch.setattr(fleet.dynamics, "compute", lambda: pytest.fail("it computes"))
    fleet.change(panda_settings(**{**FREE, "torque_scale": 0.5}))

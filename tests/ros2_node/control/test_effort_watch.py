"""What a robot feels from state to state: collisions while enabled, floating, its services."""

from __future__ import annotations

import numpy as np
import pytest
from feeling import feel, feeling_fleet
from fleets import MODEL, Q, launch

import warpdyn as wd
from ros2_node.control.robot import FLOAT_TIME, Phase

HELD = wd.gravity_torques(MODEL, Q)
PUSH = np.array([0.5, -6.0, 0.5, 0.3, 0.1, -0.2, 0.05, 0.0])


@pytest.fixture
def fleet():
    return feeling_fleet(collision_threshold=3.0)


def go(fleet, effort, begin, count, dt=0.002):
    """Feed states; the time after them, and the last command."""
    robot, command = fleet.robots[0], None
    for k in range(count):
        now = begin + k * dt
        assert feel(robot, now, effort)
        command = launch(fleet, robot, now)[1]
    return begin + count * dt, command


def test_a_collision_stops_at_the_state_that_tells_of_it(fleet):
    """The answer to that very state is the first command of the stop sequence, and a fault is
    latched; while disabled nothing stops."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    assert not robot.fault and robot.touch.hit, "told, but there is nothing to stop"
    np.testing.assert_allclose(robot.touch.external, PUSH, atol=1e-4)
    now, _ = go(fleet, HELD, now, 60)
    assert robot.enable(now, now)[0]
    now, command = go(fleet, HELD, now, 5)
    np.testing.assert_allclose(command, HELD, atol=1e-9)
    told = 0
    while not robot.fault and told < 20:
        now, command = go(fleet, HELD - PUSH, now, 1)
        told += 1
    assert told < 5, "a filter of 5 ms passes half of it within two states"
    assert command is not None and not command.any()
    assert "panda_joint2" in robot.fault and robot.counts["collision"] == 1
    assert robot.phase(now) is Phase.FAULT


def test_floating_carries_the_weight_whatever_is_tracked(fleet):
    """In computed torque the reference pulls no more; ~/enable with false ends it."""
    robot = fleet.robots[0]
    values = {"mode": "computed_torque", "collision_reaction": "gravity", "max_tracking_error": 0.2}
    fleet.change(fleet.settings.changed({**values, "ramp_time": 1.0}))
    now, _ = go(fleet, HELD, 0.0, 5)
    assert robot.enable(now, now - 10.0)[0]
    robot.setpoint.q[1] += 0.1
    now, command = go(fleet, HELD, now, 5)
    assert np.abs(command - HELD).max() > 1.0
    now, _ = go(fleet, HELD - PUSH, now, 20)
    assert robot.floating and robot.phase(now) is Phase.FLOATING and not robot.fault
    robot.setpoint.q[1] += 1.0
    now, command = go(fleet, HELD, now + FLOAT_TIME, 5, dt=FLOAT_TIME / 3)
    np.testing.assert_allclose(command, HELD, atol=1e-9)
    assert not robot.fault, "what floats follows no reference"
    robot.disable(now)
    assert not robot.floating


def test_a_state_without_velocity_is_used_and_nothing_is_felt(fleet):
    """The torques need none in mode gravity; the observer begins anew with the next."""
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    assert feel(robot, now, HELD, v=())
    assert not robot.touch.valid and np.isnan(robot.touch.external).all()
    assert robot.counts["effort_no_velocity"] == 1
    go(fleet, HELD - PUSH, now + 0.002, 1)
    assert robot.touch.valid and not np.abs(robot.touch.external).max()
    assert "N·m" in robot.touch.report()["largest external torque"]


def test_commands_in_place_of_efforts():
    """`effort_source: command`: known while they are sent, and a push is felt without any effort."""
    fleet = feeling_fleet(effort_source="command", payload__link="")
    robot = fleet.robots[0]
    now, _ = go(fleet, (), 0.0, 3)
    assert not robot.touch.valid
    robot.enable(now, now)
    now, _ = go(fleet, (), now, 60)
    assert np.abs(robot.touch.external).max() < 1e-9
    assert "measured efforts are needed" in robot.touch.identify()[1]


def test_services_say_what_they_lack(fleet):
    robot = fleet.robots[0]
    good, text = robot.touch.diagnose()
    assert not good and text.startswith("0 poses at rest")
    bare = feeling_fleet(payload__link="").robots[0]
    assert bare.touch.identify() == (False, "set payload.link: name the link that carries the load")


def test_a_jump_of_the_clock_begins_anew(fleet):
    robot = fleet.robots[0]
    now, _ = go(fleet, HELD - PUSH, 0.0, 60)
    robot.forget()
    go(fleet, HELD - PUSH, now, 1)
    assert not np.abs(robot.touch.external).max()

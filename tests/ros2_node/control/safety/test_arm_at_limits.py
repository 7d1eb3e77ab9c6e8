"""Simulated arms at their position limits."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest
from fleets import (
    MODEL,
    NAMES,
    N,
    Q,
    fault_of,
    launch,
    panda_fleet,
    panda_settings,
)
from simulated_arms import SimulatedArm

from ros2_node.control.fleet import Fleet
from ros2_node.control.report import WARN, Reporter
from ros2_node.control.safety.position_limits import position_limits
from ros2_node.control.settings.node_settings import Settings
from ros2_node.demo.plant import READY

TRACKING = {"mode": "computed_torque"}

UPPER = MODEL.position_upper

ELBOW = {
    "shoulder_lift_joint": -1.2,
    "elbow_joint": 2.6,
    "wrist_1_joint": -0.8,
    "wrist_2_joint": 0.5,
}


@pytest.mark.parametrize("rate, damping", [(200.0, 0.05), (1000.0, 0.0)])
def test_the_repulsion_returns_no_energy(rate, damping):
    """A free pendulum in MuJoCo that moves into its limit comes back with less energy than it
    brought."""
    text = (
        '<robot name="p"><link name="a"/><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="spin" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="20" velocity="3"/></joint></robot>'
    )
    for speed in (0.1, 0.5, 2.0):
        arm = SimulatedArm(
            text,
            rate,
            {"spin": 0.85},
            damping,
            joint_limit_repulsion="always",
            law="teaching",
            law_inputs__damping=0.0,
            law_inputs__max_speed=100.0,
            ramp_time=0.0,
        )
        arm.arm.data.qvel[:] = speed
        arm.run(0.2 / speed + 0.6)
        v = np.array(arm.velocities)[:, 0]
        assert v[-1] < 0.0 or np.abs(v[-1]) < 1e-3, "it came back"
        assert np.abs(v[len(v) // 2 :]).max() <= 0.999 * speed
        assert np.array(arm.positions).max() < 1.0


def drive_beyond_limit(robot, pose, joint, sign, rate, **values):
    """An arm and the largest excess [rad] of one joint, whose reference moves 1.2 rad beyond the
    limit at 0.5 rad/s."""
    arm = SimulatedArm(robot, rate, pose, 0.1, **values)
    k, start = arm.names.index(joint), arm.q
    low, high = position_limits(arm.fleet.dynamics.model, arm.names)
    limit = high[k] if sign > 0 else low[k]
    seconds = abs(limit + sign * 1.2 - start[k]) / 0.5

    def reference(t):
        q, v = start.copy(), np.zeros(len(start))
        q[k] += sign * 0.5 * min(t, seconds)
        v[k] = sign * 0.5 * (t < seconds)
        return q, v, 0 * v

    arm.run(seconds + 0.5, reference)
    excess = (sign * (np.array(arm.positions)[:, k] - limit)).max()
    return arm, excess


@pytest.mark.parametrize(
    "values",
    [
        {"mode": "computed_torque", "kp": 400.0, "kd": 40.0},
        {"law": "joint_impedance", "law_inputs__stiffness": [100.0] * 3 + [5.0, 5.0, 1.0]},
    ],
)
@pytest.mark.parametrize("rate", [200.0, 1000.0])
def test_a_reference_beyond_a_limit_does_not_move_the_arm_there(values, rate):
    """UR5e's elbow starts at 2.6 rad, and its reference ends at 4.3, beyond the limit of 3.14. The
    reference stops at the limit and the arm before it, and both are reported."""
    arm, excess = drive_beyond_limit("ur5e", ELBOW, "elbow_joint", 1.0, rate, **values)
    assert arm.robot.is_enabled and excess <= 0.0, (excess, arm.robot.last_fault)
    assert arm.robot.counts["reference_beyond_limit"]
    assert "elbow_joint is to be at 4.3" in arm.robot.setpoint.clipped
    level, text = Reporter(arm.robot.counts).level(arm.robot, arm.now, arm.now, 1.0)
    assert (
        level == WARN and "joint_limit: elbow_joint is" in text and "its upper limit 3.142" in text
    )
    steps = np.abs(np.diff(arm.commands, axis=0)).max(axis=0) * rate
    assert (steps < 10.0 * arm.robot.output.limit).all(), "no step where the reference ends"


SOFT = [300.0, 300.0, 300.0, 0.0, 50.0, 50.0, 50.0, 100.0]


@pytest.mark.parametrize("rate", [200.0, 1000.0])
@pytest.mark.parametrize(
    "hand, values",
    [
        (10.0, {"law": "teaching"}),
        (40.0, {"law": "joint_impedance", "law_inputs__stiffness": SOFT}),
    ],
)
def test_an_external_torque_does_not_push_an_arm_over_its_limit(hand, values, rate):
    """A hand pushes the panda's fourth joint with up to 0.46 of its effort limit. The joint is held
    within 10 mrad of the limit. Without the repulsion it moves on."""
    push = np.zeros(N)
    push[3] = hand
    ends = []
    for word in ("by_law", "never"):
        pose = {**READY, "panda_joint4": -0.3}
        free = {"max_tracking_error": 0.0, "position_limit_margin": 0.0}
        arm = SimulatedArm("panda", rate, pose, 0.5, joint_limit_repulsion=word, **free, **values)
        arm.run(2.0, push=lambda t: min(t, 1.0) * push)
        ends.append((np.array(arm.positions)[:, 3] - UPPER[3]).max())
        if word == "by_law":
            assert arm.robot.is_enabled, (arm.robot.last_fault, ends)
            said = Reporter(arm.robot.counts).level(arm.robot, arm.now, arm.now, 1.0)[1]
            assert "joint_limit: panda_joint4" in said
            assert np.abs(np.array(arm.velocities)[-20:, 3]).max() < 0.05, "and it rests"
    assert ends[0] < 0.010 and ends[1] > 0.3, ends


def test_a_reference_and_an_arm_beyond_a_limit_are_reported():
    """A driver that follows every reference reports 3.0 to 4.18 rad; the limit is 3.14. A past
    version of the node stayed enabled and reported nothing."""
    settings = {"robot_description_file": "ur5e", **TRACKING, "kp": 400.0, "ramp_time": 0.0}
    fleet = Fleet(Settings.of(settings), "", [Counter()])
    robot, names = fleet.robots[0], list(fleet.dynamics.model.joint_names)
    q, v = np.array([0.3, -1.2, 3.0, -0.8, 0.5, 0.2]), np.zeros(6)
    v[2], told = 0.5, ""
    for k in range(480):
        now = 0.005 * k
        robot.read(names, array("d", q), array("d", v), int(1e9 * now) + 1, now)
        robot.note(0)
        if k == 0:
            robot.enable(0.0, 0.0)
        robot.refer(names, (q, v, ()), now)
        launch(fleet, robot, now)
        if robot.is_enabled:
            told = Reporter(robot.counts).level(robot, now, now, 1.0)[1]
        q[2] += 0.0025
    assert "joint_limit: elbow_joint is 0.498 beyond its upper limit 3.142" in told
    assert "reference_beyond_limit" in told
    assert "elbow_joint is 0.501 from its reference" in fault_of(robot) and not robot.is_enabled


def test_a_reference_beyond_its_limit_rests_there():
    """Its position is the limit, and its velocity and acceleration are zero. The other joints move
    on."""
    fleet = panda_fleet(**TRACKING, max_tracking_error=0.0)
    point, robot = fleet.robots[0].setpoint, fleet.robots[0]
    position, rates = Q.copy(), 0.1 * np.ones(N)
    position[3] = 0.5
    assert robot.refer(NAMES, (position, rates, rates), 0.0) is None
    expected = np.where(np.arange(N) == 3, 0.0, 0.1)
    np.testing.assert_array_equal(point.v, expected)
    np.testing.assert_array_equal(point.a, expected)
    assert point.q[3] == UPPER[3] and point.at_limits == {"panda_joint4"}
    assert robot.counts == {"reference_beyond_limit": 1}
    position[3] = UPPER[3]
    robot.refer(NAMES, (position, -rates, -rates), 0.0)
    assert point.v[3] == -0.1 and point.at_limits == frozenset(), "back is free"
    robot.refer(NAMES, (position, rates, rates), 0.0)
    assert point.v[3] == 0.0 and robot.counts == {"reference_beyond_limit": 1}
    fleet.change(panda_settings(**TRACKING, max_tracking_error=0.0, joint_limit_repulsion="never"))
    position[3] = 0.5
    robot.refer(NAMES, (position, (), ()), 0.0)
    assert point.q[3] == 0.5

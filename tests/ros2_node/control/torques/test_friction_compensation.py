"""Friction compensation: its size, the source of its parameters, and its effect on an arm with
friction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from driven_arm import READY
from fleets import MODEL, N, feed, launch, panda_fleet, panda_settings

import warpdyn as wd
from ros2_node.control.states.state import State
from ros2_node.control.torques.friction_compensation import FrictionCompensation, friction_of
from ros2_node.demo.plant import READY as POSE
from ros2_node.demo.plant import Arm

URDF = (Path(wd.__file__).parent / "robots" / "panda.urdf").read_text()


def compensation(v, **values):
    """The torque that is added for velocities (B, nv)."""
    state = State.of_robots(MODEL, len(v))
    state.v[:], state.torque[:] = v, 0.0
    friction = FrictionCompensation(MODEL, panda_settings(mode="computed_torque", **values), state)
    friction.add()
    return state.torque


def test_the_compensation_never_exceeds_its_share_of_the_friction():
    """It is Coulomb's torque at speed, less near rest, and zero at rest. Its power is at most the
    share of the power that such friction takes."""
    v = np.random.default_rng(0).normal(size=(200, N)) * np.logspace(-4, 1, 200)[:, None]
    coulomb, viscous = np.linspace(1.0, 8.0, N), np.linspace(0.5, 4.0, N)
    values = {"friction__coulomb": list(coulomb), "friction__viscous": list(viscous)}
    scale = [*[0.9] * 7, 0.0]
    tau = compensation(v, friction__scale=scale, friction__speed=0.02, **values)
    given, taken = tau * v, scale * (coulomb * np.abs(v) + viscous * v * v)
    assert (given >= 0.0).all() and (given <= taken + 1e-15).all()
    fast = np.abs(v) > 2.0
    assert fast.any() and (given[fast] >= 0.999 * taken[fast]).all()
    assert not compensation(np.zeros((1, N)), friction__scale=1.0).any()
    at_speed = compensation(
        np.full((1, N), 0.02), friction__scale=scale, friction__speed=0.02, **values
    )
    np.testing.assert_allclose(at_speed[0], scale * (coulomb / np.sqrt(2) + viscous * 0.02))


def test_the_description_gives_friction_that_parameters_lack():
    """This is decided for each joint. A joint with mimic joints has their friction as well, by
    their multiplier."""
    finger = MODEL.joint("panda_finger_joint2")
    assert finger.mimic.joint == "panda_finger_joint1"
    assert friction_of(MODEL, "panda_joint1") == (0.2, 0.003)
    assert friction_of(MODEL, "panda_finger_joint1") == (0.0, 0.6)
    tau = compensation(
        np.full((1, N), 5.0), friction__scale=1.0, friction__viscous=[2.0] + [0.0] * 7
    )
    np.testing.assert_allclose(tau[0, :2], [0.2 + 10.0, 0.2 + 0.015], rtol=1e-4)


def test_the_observer_uses_all_friction_whatever_the_share():
    """The observer uses the parameters once one of them is set.

    It uses the description for the rest.
    """
    v = np.array([2.0, -2.0, 2.0, -2.0, 2.0, 2.0, 2.0, 2.0])
    state = State.of_robots(MODEL, 1)
    values = {"friction__coulomb": [1.0] * 4 + [0.0] * 4, "friction__viscous": [0.5] + [0.0] * 7}
    friction = FrictionCompensation(MODEL, panda_settings(**values), state)
    assert friction.is_known and not friction.active
    wanted = np.array([1.0, -1.0, 1.0, -1.0, 0.2, 0.2, 0.2, 0.0]) + 0.003 * v
    wanted[[0, 7]] = 1.0 + 0.5 * 2.0, 0.6 * 2.0
    np.testing.assert_allclose(friction.friction_torques(v), wanted, atol=1e-3)
    friction.change(panda_settings(mode="computed_torque", friction__scale=0.1))
    assert friction.is_known
    friction.change(panda_settings())
    assert not friction.is_known


def test_a_scale_beyond_one_and_mode_gravity_are_refused():
    with pytest.raises(ValueError, match=r"friction.scale must lie in 0 .. 1, got 1.1"):
        panda_settings(law="teaching", friction__scale=1.1)
    with pytest.raises(ValueError, match="mode gravity uses none: law teaching is gravity with"):
        panda_settings(friction__scale=0.5)
    with pytest.raises(ValueError, match=r"friction.coulomb has 3 numbers but there are 8"):
        panda_fleet(mode="computed_torque", friction__coulomb=[1.0] * 3)


def test_a_change_of_the_compensation_makes_no_step():
    """It is blended like every change of parameters. A list of the wrong length changes nothing."""
    fleet = panda_fleet(
        mode="computed_torque", kp=0.0, kd=0.0, friction__coulomb=2.0, ramp_time=1.0
    )
    robot, v = fleet.robots[0], np.array([*[0.5] * 7, 0.0])

    def command_at(t):
        feed(robot, t, READY, v)
        return launch(fleet, robot, t)[1].copy()

    feed(robot, 0.0, READY, v)
    robot.enable(0.0, -10.0)
    before = command_at(0.0)
    fleet.change(fleet.settings.with_changes({"friction.scale": 1.0}))
    first, half, last = command_at(0.001), command_at(0.501), command_at(1.1)
    np.testing.assert_allclose(first, before, atol=1e-9)
    np.testing.assert_allclose(half, (before + last) / 2, atol=1e-9)
    np.testing.assert_allclose((last - before)[:7], 2.0 / np.hypot(1.0, 0.1) + 0.0015, rtol=1e-6)
    with pytest.raises(ValueError, match=r"friction.viscous has 2 numbers"):
        fleet.change(fleet.settings.with_changes({"friction.viscous": [1.0, 2.0]}))
    np.testing.assert_allclose(command_at(1.2), last, atol=1e-9)


class LedArm:
    """MuJoCo's panda with friction of 2 N·m and 1 N·m·s/rad in its hinges under law teaching, in
    simulated time."""

    def __init__(self, scale: float, pose=POSE, coulomb=2.0, **values) -> None:
        self.arm = Arm(URDF, pose, damping=1.0, friction=2.0)
        self.fleet = panda_fleet(
            law="teaching",
            law_inputs__damping=0.1,
            friction__scale=[*[scale] * 7, 0.0],
            friction__coulomb=coulomb,
            friction__viscous=1.0,
            ramp_time=0.0,
            state_timeout=0.1,
            **values,
        )
        self.robot = self.fleet.robots[0]
        self.fleet.dynamics.friction.clock = lambda: self.now
        columns = [self.arm.names.index(name) for name in MODEL.joint_names]
        self.columns, self.now = np.array(columns), 0.0
        self.torque, self.push = np.zeros(self.arm.model.nv), np.zeros(self.arm.model.nv)

    def cycle(self, steps=2):
        """One state, one command, and simulation steps until the next state."""
        data = self.arm.data
        assert feed(self.robot, self.now, data.qpos[self.columns], data.qvel[self.columns])
        command = launch(self.fleet, self.robot, self.now)[1]
        if command is not None:
            self.torque[self.columns] = command
        else:
            assert self.robot.enable(self.now, self.now)[0]
        for _ in range(steps):
            self.arm.step(self.torque + self.push)
        self.now += 1e-3 * steps


def test_a_hand_needs_less_force():
    """Turning the first joint at 0.4 rad/s takes a fifth of its friction and the light damping."""
    forces = {}
    for scale in (0.0, 0.8):
        led, pulled = LedArm(scale), []
        joint = led.arm.names.index("panda_joint1")
        start = led.arm.data.qpos[joint]
        while led.now < 2.0:
            way = start + 0.4 * led.now - led.arm.data.qpos[joint]
            led.push[joint] = 200.0 * way + 20.0 * (0.4 - led.arm.data.qvel[joint])
            pulled.append(led.push[joint])
            led.cycle()
        forces[scale] = np.mean(pulled[len(pulled) // 2 :])
    assert forces[0.0] == pytest.approx(2.0 + 0.4 + 0.04, rel=0.05)
    assert forces[0.8] == pytest.approx(0.2 * 2.4 + 0.04, rel=0.1)


def motion_after_touch(**values):
    """Positions of panda's seven hinges, one row every 2 ms, for 8 s after a touch of the first one."""
    led, ways = LedArm(1.0, **values), []
    joint = led.arm.names.index("panda_joint1")
    while led.now < 8.3:
        led.push[joint] = 6.0 if led.now < 0.3 else 0.0
        led.cycle()
        ways.append(led.arm.data.qpos[:7].copy())
    return np.array(ways[150:])


def test_overstated_friction_does_not_move_the_arm_for_ever():
    """The parameters have 3 N·m for 2, and all of it is compensated.

    After a touch the arm would move at 1.3 rad/s for ever. With friction.travel it comes to rest,
    though other joints may set a resting joint in motion once more. Position limits do not push
    here.
    """
    ways = motion_after_touch(coulomb=3.0, friction__travel=0.0, joint_limit_repulsion="never")
    assert np.abs(np.diff(ways[:, 0])).sum() > 5.0
    ways = motion_after_touch(coulomb=3.0, joint_limit_repulsion="never")
    assert np.abs(ways[-1] - ways[-1000]).max() < 1e-3, "within the last two seconds"
    assert np.abs(np.diff(ways, axis=0)).sum(axis=0).max() < 2.0, (
        "at most two times friction.travel"
    )


def test_the_travel_with_compensation_is_bounded_until_the_joint_rests():
    """The compensation is full within four fifths of the travel, decreases to its end, and is zero
    beyond, in both directions, for each joint and robot. Laws that hold a position have no such
    bound."""
    state = State.of_robots(MODEL, 2)
    settings = panda_settings(law="teaching", friction__scale=1.0, friction__coulomb=2.0)
    friction, clock = FrictionCompensation(MODEL, settings, state), [0.0]
    friction.clock, friction._at = lambda: clock[0], 0.0

    def move(way, v, seconds=0.001, by=friction):
        """The torque added to joint 1 of each of two robots, of which the first moves."""
        clock[0] += seconds
        state.q[0, 0] += way
        state.v[:, 0], state.torque[:] = v, 0.0
        by.add()
        return state.torque[:, 0].copy()

    full = move(0.0, 0.5)[0]
    assert full > 1.9
    np.testing.assert_allclose(move(0.4, 0.5), full)
    np.testing.assert_allclose(move(-0.4, -0.5), -full)
    np.testing.assert_allclose(move(0.1, 0.5), [0.5 * full, full], rtol=1e-9)
    np.testing.assert_allclose(move(0.2, 0.5), [0.0, full])
    move(0.0, 0.0, seconds=0.09)  # after 0.3 of the time that counts as a rest
    np.testing.assert_allclose(move(0.0, -0.5), [-full, -full], rtol=1e-9)
    move(0.0, 0.0, seconds=0.3)
    np.testing.assert_allclose(move(0.1, 0.5), full)
    for share, left in ((0.499, 1.0), (0.5, 0.5)):  # a joint rests below half of friction.speed
        v = share * settings.friction_speed
        move(0.0, 0.0, seconds=0.3)
        whole = move(0.0, v)
        np.testing.assert_allclose(move(0.9, v), whole * [left, 1.0], rtol=1e-9)
    held = FrictionCompensation(MODEL, settings, state, law_holds=True)
    np.testing.assert_allclose(move(5.0, 0.5, by=held), full)


def test_laws_that_hold_a_position_are_recognised():
    """They read a wanted position or pose. Law teaching and mode inverse_dynamics do not."""
    joints = {"law_inputs__stiffness": 100.0}
    frame = {"law_options": ["frame=panda_hand"], "law_inputs__stiffness": [100.0] * 6}
    for holds, values in (
        (False, {"law": "teaching"}),
        (True, {"law": "joint_impedance", **joints}),
        (True, {"law": "cartesian_impedance", **frame}),
        (False, {"mode": "inverse_dynamics"}),
        (True, {"mode": "computed_torque"}),
    ):
        friction = panda_fleet(**values, friction__scale=1.0).dynamics.friction
        assert friction.bounded is not holds, values


def test_an_arm_under_compensation_does_not_drift_in_a_minute():
    """A hand has moved the arm to a pose with large torques and let go. In 60 simulated seconds,
    with 90 % of the friction compensated, no joint moves by more than 0.05 degrees."""
    led = LedArm(0.9)
    while led.now < 0.5:
        led.push[:7] = 6.0 * np.sin(8.0 * led.now) * np.array([1, -1, 1, -1, 0.3, 0.3, 0.3])
        led.cycle()
    led.push[:] = 0.0
    while led.now < 3.0:
        led.cycle()
    begin = led.arm.data.qpos[led.arm.hinges].copy()
    assert np.abs(begin - Arm(URDF, POSE).data.qpos[led.arm.hinges]).max() > 0.01, "it was led"
    while led.now < 63.0:
        led.cycle(4)
    drift = np.degrees(np.abs(led.arm.data.qpos[led.arm.hinges] - begin).max())
    assert drift < 0.05 and led.robot.is_enabled


def test_friction_lists_are_in_the_order_of_the_command_joints():
    """The order of the commands is that of the lists."""
    joints = ["panda_joint4", "panda_joint2"]
    state = State.of_robots(MODEL, 1)
    state.v[:], state.torque[:] = 10.0, 0.0
    settings = panda_settings(
        mode="computed_torque",
        command_joints=joints,
        friction__scale=1.0,
        friction__coulomb=[3.0, 5.0],
    )
    friction = FrictionCompensation(MODEL, replace(settings, friction_speed=1e-3), state)
    friction.add()
    at = MODEL.v_indices(joints)
    np.testing.assert_allclose(state.torque[0, at], [3.03, 5.03], rtol=1e-6)
    assert not np.delete(state.torque[0], at).any()

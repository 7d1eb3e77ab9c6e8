"""The virtual body: it moves as its parameters say, in MuJoCo too, and waits for an arm that is
blocked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from driven_arm import HAND, READY
from fleets import N, feed, launch, loss_of, panda_fleet
from simulated_arms import SimulatedArm

import warpdyn as wd
from ros2_node.control.references.pose_reference import turn_between
from ros2_node.control.references.virtual_body import VirtualBody

REST = [0.0] * N
BODY = {
    "law": "admittance",
    "law_inputs__virtual_mass": [4.0] * 3 + [0.2] * 3,
    "law_inputs__virtual_damping": [80.0] * 3 + [4.0] * 3,
    "law_inputs__virtual_stiffness": [200.0] * 3 + [10.0] * 3,
    "ft_deadband": [0.0, 0.0],
    "ft_cutoff": 0.0,
    "ramp_time": 0.0,
}


@pytest.fixture(scope="module")
def fleet():
    return panda_fleet(law_options=[f"frame={HAND}"], state_timeout=0.5, **BODY)


class PushedArm:
    """A panda at rest whose sensor measures a force in the root link's axes."""

    def __init__(self, fleet, **values):
        self.fleet, self.robot = fleet, fleet.robots[0]
        self.now = getattr(fleet, "now", 0.0) + 10.0
        self.robot.disable(0.0)
        while self.robot.stop_step(1e9) is not None:
            pass
        self.robot.reset()
        fleet.change(
            fleet.settings.with_changes(
                {"max_pose_error": [0.0, 0.0], "twist_max_speed": [9.0, 9.0], **values}
            )
        )
        self.robot.states.forget()
        self.R = np.asarray(wd.fk(fleet.dynamics.model, READY, frame=HAND))[:3, :3]
        sensor = self.robot.references.body.sensor
        self.weight = sensor._mass * np.array([0, 0, -9.81]), sensor._com
        self.step(np.zeros(6))
        assert self.robot.enable(self.now, self.now) == (True, "enabled")

    def step(self, push, dt=0.002):
        self.now += dt
        self.fleet.now = self.now
        force = self.R.T @ (push[:3] + self.weight[0])
        torque = self.R.T @ push[3:] + np.cross(self.weight[1], self.R.T @ self.weight[0])
        body = self.robot.references.body
        assert body.sensor.read(HAND, force, torque, self.now) is None
        feed(self.robot, self.now, READY, REST)
        _, command = launch(self.fleet, self.robot, self.now)
        return command


def test_the_body_solves_its_equation_of_motion(fleet):
    """The solution of m z¨ + d z˙ + k z = f in closed form is met to 1 % of its end, for linear and
    angular motion."""
    pushed = PushedArm(fleet)
    state = pushed.robot.state
    begin = state.pose_desired.copy()
    push = np.array([8.0, 0, 0, 0, 0, 0.5])
    way, turn = [], []
    for _ in range(500):
        pushed.step(push)
        way.append(state.pose_compliant[0] - begin[0])
        turn.append(state.twist_compliant[5])
    t = 0.002 * np.arange(1, 501)
    for m, d, k, f, got in ((4.0, 80.0, 200.0, 8.0, way),):
        a, b = np.roots([m, d, k])
        exact = f / k * (1.0 - (b * np.exp(a * t) - a * np.exp(b * t)) / (b - a))
        np.testing.assert_allclose(got, exact, atol=0.01 * f / k)
    rate = np.array(turn)
    assert rate[0] > 0.0 and abs(0.002 * rate.sum() - 0.05) < 0.01
    for _ in range(1500):
        pushed.step(push)
    np.testing.assert_allclose(state.pose_compliant[0] - begin[0], 8.0 / 200.0, rtol=1e-3)


def test_a_stiff_light_body_is_stable(fleet):
    """The body comes to rest in cycles of 20 ms."""
    inputs = {"law_inputs.virtual_stiffness": 1e5, "law_inputs.virtual_mass": 0.1}
    before = fleet.settings
    values = {name: [x] * 6 for name, x in inputs.items()}
    pushed = PushedArm(fleet, **values)
    for _ in range(200):
        pushed.step(np.array([50.0, 0, 0, 0, 0, 0]), 0.02)
    assert np.abs(pushed.robot.state.twist_compliant).max() < 1e-6
    fleet.change(before)


def test_the_body_is_bounded_in_speed_and_waits_for_the_frame(fleet):
    """Its speed is at most twist_max_speed. It is at most 0.9 max_pose_error ahead of an arm that
    does not follow."""
    pushed = PushedArm(fleet, max_pose_error=[0.05, 0.2], twist_max_speed=[0.1, 0.2])
    state = pushed.robot.state
    begin = state.pose_desired.copy()
    for _ in range(800):
        pushed.step(np.array([50.0, 0, 0, 0, 0, 0]))
        assert np.linalg.norm(state.twist_compliant[:3]) <= 0.1 + 1e-9
    np.testing.assert_allclose(state.pose_compliant[0] - begin[0], 0.9 * 0.05, atol=3e-4)
    pushed.step(np.array([50.0, 20.0, -30.0, 2.0, -3.0, 4.0]))
    assert not state.twist_compliant.any()
    assert pushed.robot.is_enabled


@pytest.mark.parametrize("most", [[0.1, 9.0], [9.0, 0.2], [0.1, 0.2], [9.0, 9.0]])
def test_linear_and_angular_speed_each_have_a_bound(fleet, most):
    """A velocity beyond its bound keeps its direction.

    The push acts along all axes for one cycle.
    """
    pushed = PushedArm(fleet, twist_max_speed=most)
    push = np.array([90.0, -60.0, 30.0, 4.0, -5.0, 6.0])
    dt = 0.01
    pushed.step(push, dt)
    inputs = (np.array(BODY[f"law_inputs__virtual_{x}"]) for x in ("mass", "damping", "stiffness"))
    m, d, k = inputs
    twist = dt * push / (m + dt * d + dt**2 * k)
    for part, bound in ((twist[:3], most[0]), (twist[3:], most[1])):
        part *= min(bound / np.linalg.norm(part), 1.0)
    np.testing.assert_allclose(pushed.robot.state.twist_compliant, twist, rtol=1e-9)


def test_the_acceleration_of_the_body_is_that_of_its_motion(fleet):
    """It is (F - D z˙ - K z) / M while the body is free. It is zero at the largest speed, while the
    body waits, and at its start. A clock that stands still does not change it."""
    m, d, k = (np.array(BODY[f"law_inputs__virtual_{x}"]) for x in ("mass", "damping", "stiffness"))
    push = np.array([8.0, -6.0, 4.0, 0.0, 0.0, 0.5])
    pushed = PushedArm(fleet)
    state = pushed.robot.state
    assert not state.acceleration_compliant.any()
    for _ in range(20):
        pushed.step(push)
        way = state.pose_compliant[:3] - state.pose_desired[:3]
        z = np.append(way, turn_between(state.pose_desired[3:], state.pose_compliant[3:]))
        free = (push - d * state.twist_compliant - k * z) / m
        np.testing.assert_allclose(state.acceleration_compliant, free, atol=2e-5)
    before = state.acceleration_compliant.copy()
    pushed.step(push, 0.0)
    np.testing.assert_array_equal(state.acceleration_compliant, before)
    for values in ({"twist_max_speed": [0.01, 0.01]}, {"max_pose_error": [1e-4, 1e-4]}):
        pushed = PushedArm(fleet, **values)
        for _ in range(20):
            pushed.step(push)
        np.testing.assert_allclose(state.acceleration_compliant, 0.0, atol=1e-3)
        pushed.robot.references.body.begin()
        assert not state.acceleration_compliant.any()


def test_a_lost_sensor_stops_the_robot(fleet):
    """The loss is latched, and without a fresh wrench ~/enable is refused."""
    pushed = PushedArm(fleet)
    robot = pushed.robot
    pushed.step(np.zeros(6))
    now = pushed.now
    for k in range(1, 70):
        feed(robot, now + 0.01 * k, READY, REST)
        robot.watch(now + 0.01 * k, now + 0.01 * k)
    assert loss_of(robot).startswith("no ft_wrench for 0.5 s") and not robot.is_enabled
    later = now + 2.0
    while robot.stop_step(1e9) is not None:
        pass
    feed(robot, later, READY, REST)
    good, text = robot.enable(later, later)
    assert not good and "no ft_wrench" in text


def test_a_push_moves_a_simulated_arm():
    """The tool of a UR5e in MuJoCo is pushed with 10 N. It moves by force over stiffness and
    returns. Without stiffness it moves with force over damping."""
    arm = SimulatedArm(
        "ur5e",
        500.0,
        {
            "shoulder_lift_joint": -1.2,
            "elbow_joint": 1.6,
            "wrist_1_joint": -2.0,
            "wrist_2_joint": -1.5,
        },
        damping=0.0,
        law_options=["frame=tool0"],
        **{**BODY, "ramp_time": 0.0},
    )
    model = arm.fleet.dynamics.model
    push = np.zeros(6)

    def place():
        return np.asarray(wd.fk(model, arm.q, frame="tool0"))

    def sense(q, v):
        T = np.asarray(wd.fk(model, q, frame="tool0"))
        sensor = arm.robot.references.body.sensor
        sensor.read("tool0", T[:3, :3].T @ push[:3], T[:3, :3].T @ push[3:], arm.now)
        return q, v

    def torque(t):
        J = wd.jacobian(model, arm.q, frame="tool0", reference="local_world_aligned")
        return J.T @ push

    arm.run(0.5, sense=sense, push=torque)
    begin = place()[:3, 3].copy()
    push[:3] = 0.0, 8.0, 6.0
    arm.run(2.5, sense=sense, push=torque)
    np.testing.assert_allclose(place()[:3, 3] - begin, push[:3] / 200.0, atol=5e-4)
    push[:] = 0.0
    arm.run(2.5, sense=sense, push=torque)
    np.testing.assert_allclose(place()[:3, 3], begin, atol=5e-4)
    settings = arm.fleet.settings.with_changes({"law_inputs.virtual_stiffness": [0.0] * 6})
    arm.fleet.change(settings)
    push[1] = 8.0
    arm.run(0.5, sense=sense, push=torque)
    first = place()[:3, 3].copy()
    arm.run(0.5, sense=sense, push=torque)
    np.testing.assert_allclose(place()[:3, 3] - first, [0.0, 0.5 * 8.0 / 80.0, 0.0], atol=1e-3)
    # A light body at its largest speed: the arm is no faster than the body, and remains near it.
    light = {
        "law_inputs.virtual_mass": [1.0] * 3 + [0.2] * 3,
        "law_inputs.virtual_damping": [5.0] * 3 + [4.0] * 3,
    }
    arm.fleet.change(arm.fleet.settings.with_changes(light))
    push[1] = -60.0
    before = place()[:3, 3]
    for _ in range(40):
        arm.run(0.01, sense=sense, push=torque)
        assert np.linalg.norm(arm.robot.state.pose_compliant[:3] - place()[:3, 3]) < 8e-3
        step, before = place()[:3, 3] - before, place()[:3, 3]
        assert np.linalg.norm(step) < 0.01 * 0.25 * 1.25
    assert arm.robot.is_enabled


def test_a_wrench_as_old_as_the_timeout_is_fresh():
    """An older one is reported with the reason of the last refusal."""
    body = VirtualBody.__new__(VirtualBody)
    body.sensor, body._timeout = SimpleNamespace(arrived=1.0, refusal=""), 0.125
    assert body.missing(1.125) == ""
    assert body.missing(1.1875) == "no ft_wrench for 0.125 s"
    body.sensor.refusal = "frame_id 'x'"
    assert body.missing(1.1875) == "no ft_wrench for 0.125 s (frame_id 'x')"


def test_a_pause_counts_as_a_twentieth_of_a_second(fleet):
    """A clock that runs back counts as no time."""
    m, d, k = (BODY[f"law_inputs__virtual_{x}"][0] for x in ("mass", "damping", "stiffness"))
    push = np.array([10.0, 0, 0, 0, 0, 0])
    for pause, dt in ((0.05, 0.05), (0.25, 0.05), (0.0, 0.0)):
        pushed = PushedArm(fleet)
        pushed.step(push, pause)
        wanted = dt * push[0] / (m + dt * d + dt**2 * k)
        assert pushed.robot.state.twist_compliant[0] == pytest.approx(wanted, rel=1e-6)
    pushed = PushedArm(fleet)
    pushed.robot.references.body.follow(pushed.now - 1.0, True)
    assert not pushed.robot.state.twist_compliant.any()


def test_a_body_that_is_not_enabled_stays_at_its_frame(fleet):
    body = fleet.robots[0].references.body
    state = body._state
    for x in (state.pose_compliant, state.twist_compliant, state.contact_wrench):
        x[:] = 0.5
    body.follow(0.0, enabled=False)
    np.testing.assert_array_equal(state.pose_compliant, state.pose_desired)
    assert not state.twist_compliant.any() and not state.contact_wrench.any()


def test_other_bounds_reach_the_sensor(fleet, monkeypatch):
    body, changed = fleet.robots[0].references.body, []
    monkeypatch.setattr(body.sensor, "change", changed.append)
    body.change(fleet.settings)
    assert changed == [fleet.settings]

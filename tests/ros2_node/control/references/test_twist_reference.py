"""Jogging: the link follows the twist, and all limits hold."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pinocchio as pin
import pytest
from driven_arm import HAND, READY
from fleets import MODEL, NAMES, N, feed, launch, panda_fleet, panda_settings

import warpdyn as wd
from ros2_node.control.references.pose_reference import rotation_of, turn_between, turn_by
from ros2_node.control.references.setpoint import Setpoint
from ros2_node.control.references.twist_reference import (
    SINGULAR,
    TwistReference,
    damped_solution,
)

REST = np.zeros(N)
ROOT = MODEL.root
DT = 0.005


@pytest.fixture(scope="module")
def fleet():
    return panda_fleet(
        mode="computed_torque",
        twist_link=HAND,
        ramp_time=0.0,
        state_timeout=1.0,
        max_tracking_error=0.0,
    )


class JoggedRobot:
    """A robot that is always at its reference, and the time."""

    def __init__(self, fleet, q=READY, **values):
        self.robot, self.now = fleet.robots[0], getattr(fleet, "now", 1.0) + 10.0
        self.robot.disable(0.0)
        while self.robot.stop_step(1e9) is not None:
            pass
        self.robot.reset()
        fleet.change(fleet.settings.with_changes({"max_reference_acceleration": 50.0, **values}))
        self.fleet = fleet
        self.robot.states.forget()
        self.robot.setpoint.arrived = -np.inf
        feed(self.robot, self.now, q, REST)
        assert self.robot.enable(self.now, self.now)[0]
        self.robot.counts.clear()

    def step(self, twist=None, frame=ROOT):
        """One cycle of the robot after a twist. Returns position, velocity and acceleration."""
        self.now += DT
        self.fleet.now = self.now
        if twist is not None:
            assert self.robot.refer_twist(frame, twist[:3], twist[3:], self.now) is None
        self.robot.references.prepare(self.now, True)
        point = self.robot.setpoint
        return point.q.copy(), point.v.copy(), point.a.copy()

    def run(self, seconds, twist=None, frame=ROOT):
        rows = [self.step(twist, frame) for _ in range(round(seconds / DT))]
        return (np.array(x) for x in zip(*rows, strict=True))


def places(q):
    return np.asarray(wd.fk(MODEL, q, frame=HAND))


def test_the_link_moves_along_a_line(fleet):
    """It moves with 0.1 m/s along y for a second, after 0.1 s of acceleration, straight and without
    rotation. When the twist is not refreshed, it decelerates."""
    jogged = JoggedRobot(fleet)
    q, v, _ = jogged.run(1.0, [0, 0.1, 0, 0, 0, 0])
    T = places(q)
    moved = T[:, :3, 3] - places(READY)[:3, 3]
    np.testing.assert_allclose(moved[-1], [0.0, 0.095, 0.0], atol=3e-4)
    assert np.abs(moved[:, [0, 2]]).max() < 2e-4
    assert (
        max(np.linalg.norm(pin.log3(R @ places(READY)[:3, :3].T)) for R in T[::20, :3, :3]) < 1e-3
    )
    J = wd.jacobian(MODEL, q, frame=HAND, reference="local_world_aligned")
    reached = np.einsum("bij,bj->bi", J, v)[40:]
    np.testing.assert_allclose(reached, np.tile([0, 0.1, 0, 0, 0, 0], (len(reached), 1)), atol=1e-3)
    q, v, _ = jogged.run(0.6)
    assert not v[-1].any() and not jogged.robot.references.twist.active
    end = places(q)[-1, :3, 3] - T[-1, :3, 3]
    np.testing.assert_allclose(end[1], 0.1 * 0.2 + 0.005, atol=2e-3)


def test_a_twist_may_be_in_the_axes_of_the_link(fleet):
    """It moves along z of the hand. An empty frame_id means twist_axes."""
    z = places(READY)[:3, 2]
    for frame, axes in ((HAND, "root"), ("", "link")):
        jogged = JoggedRobot(fleet, twist_axes=axes)
        q, _, _ = jogged.run(0.3, [0, 0, 0.1, 0, 0, 0], frame)
        moved = places(q[-1])[:3, 3] - places(READY)[:3, 3]
        np.testing.assert_allclose(moved / np.linalg.norm(moved), z, atol=3e-3)
    JoggedRobot(fleet, twist_axes="root")


def test_an_angular_twist_rotates_the_link_in_place(fleet):
    jogged = JoggedRobot(fleet)
    q, _, _ = jogged.run(0.5, [0, 0, 0, 0, 0, 0.4])
    turn = pin.log3(places(q[-1])[:3, :3] @ places(READY)[:3, :3].T)
    np.testing.assert_allclose(turn, [0, 0, 0.4 * 0.45], atol=3e-3)
    np.testing.assert_allclose(places(q[-1])[:3, 3], places(READY)[:3, 3], atol=1e-4)


def test_a_twist_whose_square_is_infinite_is_scaled_too(fleet):
    jogged = JoggedRobot(fleet)
    jogged.step(np.array([0.0, -1e200, 0.0, 0.0, 0.0, 1e160]))
    np.testing.assert_array_equal(jogged.robot.references.twist._target, [0, -0.25, 0, 0, 0, 0.5])


def test_a_fast_twist_is_scaled_down(fleet):
    """It is scaled to twist_max_speed and keeps its direction."""
    jogged = JoggedRobot(fleet)
    q, v, _ = jogged.run(0.5, [3.0, 0, 4.0, 0, 0, 0])
    J = wd.jacobian(MODEL, q[-1], frame=HAND, reference="local_world_aligned")
    np.testing.assert_allclose((J @ v[-1])[:3], [0.15, 0.0, 0.2], atol=2e-3)
    assert jogged.robot.counts["twist_clipped"] == 100


@pytest.mark.parametrize(
    "frame, twist, said",
    [
        ("camera", [0.1] * 6, "'camera' is neither panda_link0, nor panda_hand, nor empty"),
        (ROOT, [np.nan] * 6, "not finite"),
    ],
)
def test_an_invalid_twist_is_refused(fleet, frame, twist, said):
    jogged = JoggedRobot(fleet)
    assert said in jogged.robot.refer_twist(frame, twist[:3], twist[3:], 1.0)
    assert jogged.robot.counts == {"twist_refused": 1} and not jogged.robot.references.twist.active


def test_only_an_enabled_robot_is_jogged(fleet):
    jogged = JoggedRobot(fleet)
    jogged.run(0.1, [0.1] * 6)
    jogged.robot.disable(jogged.now)
    jogged.robot.prepare(jogged.now + 0.01)
    assert not jogged.robot.references.twist.active and not jogged.robot.setpoint.v.any()
    assert "call ~/enable" in jogged.robot.refer_twist(ROOT, [0.1] * 3, [0.0] * 3, jogged.now)


def test_no_joint_exceeds_its_limits(fleet):
    """The link moves until the arm is straight, and back until the elbow stops at its limit.

    Positions, velocities and accelerations are within limits. The link can move away from the
    limit.
    """
    jogged = JoggedRobot(fleet, max_reference_acceleration=10.0)
    limits = jogged.robot.setpoint.limits_of(NAMES)
    moved = []
    for sign, seconds in ((1, 6.0), (-1, 4.0), (1, 0.5)):
        q, v, a = jogged.run(seconds, [0.2 * sign, 0, 0.1 * sign, 0, 0, 0])
        assert (q >= limits.low - 1e-12).all() and (q <= limits.high + 1e-12).all()
        assert (np.abs(v) <= limits.fastest * (1 + 1e-9)).all()
        assert np.abs(a).max() <= 10.0 * (1 + 1e-9)
        assert np.abs(np.diff(q, axis=0)).max() <= DT * limits.fastest.max()
        moved.append(np.abs(np.diff(places(q[-20:])[:, :3, 3], axis=0)).max())
        stopped_by = jogged.robot.references.twist.slowed_by
        assert sign > 0 or stopped_by == "panda_joint4 near its position limit"
    assert moved[1] < 1e-6 < 1e-5 < moved[2]


def test_a_limit_stops_the_link_on_its_line(fleet):
    """The seventh joint is 0.05 rad before its limit and turns towards it. It never reaches the
    limit, and this is reported."""
    q0 = READY.copy()
    q0[6] = MODEL.position_upper[6] - 0.05
    jogged = JoggedRobot(fleet, q0)
    axis = np.sign(wd.jacobian(MODEL, q0, frame=HAND, reference="local")[5, 6])
    q, v, _ = jogged.run(2.0, [0, 0, 0, 0, 0, 0.3 * axis], HAND)
    assert q[-1, 6] <= MODEL.position_upper[6] and q[-1, 6] > q0[6] + 0.03
    assert jogged.robot.references.twist.slowed_by == "panda_joint7 near its position limit"
    assert np.abs(v[-1]).max() < 0.01 and np.abs(q[-1, :6] - q0[:6]).max() < 0.05


def test_a_joint_beyond_its_limit_is_not_pulled_back_at_once(fleet):
    """~/enable accepts joints within position_limit_margin. Such a joint rests there, and comes
    back when the link moves back."""
    q0 = READY.copy()
    q0[6] = MODEL.position_upper[6] + 0.05
    axis = np.sign(wd.jacobian(MODEL, q0, frame=HAND, reference="local")[5, 6])
    for sign in (1, -1):
        jogged = JoggedRobot(fleet, q0)
        q, _, _ = jogged.run(1.0, [0, 0, 0, 0, 0, 0.3 * sign * axis], HAND)
        assert np.abs(np.diff(q, axis=0, prepend=q0[None])).max() < 2 * 0.3 * DT
        assert (q[-1, 6] == q0[6]) if sign > 0 else (q[-1, 6] < q0[6] - 0.05)


@pytest.mark.parametrize("strongest", [1.0, 3.0])
def test_a_joint_stops_before_its_limit_with_its_largest_acceleration(fleet, strongest):
    """Random twists at 1 m/s and 3 rad/s start at configurations near limits. Positions, velocities
    and accelerations belong to one motion."""
    rng, low, high = np.random.default_rng(0), MODEL.position_lower, MODEL.position_upper
    for _ in range(8):
        q = np.clip(READY + 0.3 * rng.normal(size=N), low + 0.01, high - 0.01)
        fast = {"twist_max_speed": [1.0, 3.0], "twist_max_acceleration": [5.0, 20.0]}
        jogged = JoggedRobot(fleet, q, max_reference_acceleration=strongest, **fast)
        q, v, _ = jogged.run(1.5, rng.normal(size=6))
        assert (q <= high).all() and (q >= low).all()
        assert np.abs(np.diff(v, axis=0)).max() <= 1.001 * strongest * DT
        np.testing.assert_allclose(np.diff(q, axis=0), v[1:] * DT, atol=1e-9)


def test_damped_solutions_are_exact_or_bounded():
    """They are exact away from singular poses, zero in a lost direction, and have no gain above 1 /
    SINGULAR."""
    rng = np.random.default_rng(0)
    J, twist = rng.normal(size=(6, 7)), rng.normal(size=6)
    np.testing.assert_allclose(damped_solution(J, twist), np.linalg.pinv(J) @ twist, atol=1e-9)
    U, _, V = np.linalg.svd(J, full_matrices=False)
    for s in np.linspace(0.0, 2 * SINGULAR, 41):
        values = np.array([1.0, 0.9, 0.8, 0.7, 0.6, s])
        v = damped_solution(U @ np.diag(values) @ V, U[:, 5])
        gain = np.linalg.norm(v)
        assert gain <= 1.0 / SINGULAR + 1e-9
        assert s > 0.0 or gain < 1e-9
        exact = damped_solution(U @ np.diag(values) @ V, U[:, 0])
        np.testing.assert_allclose(exact, V[0], atol=1e-9)


def test_a_twist_moves_the_pose_of_cartesian_impedance():
    """The pose is at most 0.9 max_pose_error ahead of the hand. After a timeout it does not
    move."""
    fleet = panda_fleet(
        law="cartesian_impedance",
        law_options=[f"frame={HAND}"],
        law_inputs__stiffness=[500.0] * 3 + [30.0] * 3,
        twist_link=HAND,
        ramp_time=0.0,
        state_timeout=5.0,
        max_pose_error=[0.1, 0.4],
    )
    robot = fleet.robots[0]
    feed(robot, 0.0, READY, REST)
    robot.enable(0.0, 0.0)
    begin = robot.state.pose_desired.copy()
    for k in range(1, 400):
        if k < 300:
            assert robot.refer_twist("", (0.1, 0, 0), (0, 0, 0.05), 0.01 * k) is None
        feed(robot, 0.01 * k, READY, REST)
        assert launch(fleet, robot, 0.01 * k)[1] is not None and robot.is_enabled
        if k == 50:
            np.testing.assert_allclose(
                robot.state.pose_desired[:3] - begin[:3], [0.045, 0, 0], atol=2e-3
            )
    np.testing.assert_allclose(robot.state.pose_desired[:3] - begin[:3], [0.09, 0, 0], atol=1e-6)
    assert not robot.references.twist.active


def test_twist_link_needs_a_law_with_a_reference():
    with pytest.raises(ValueError, match="tracks neither joints nor a frame"):
        panda_fleet(law="teaching", twist_link=HAND)
    with pytest.raises(ValueError, match="is not a link of panda"):
        panda_fleet(mode="computed_torque", twist_link="nose")
    stiffness = {"law_inputs__stiffness": [500.0] * 6}
    with pytest.raises(ValueError, match="must be the frame that the law holds"):
        panda_fleet(
            law="cartesian_impedance",
            law_options=[f"frame={HAND}"],
            twist_link="panda_link5",
            **stiffness,
        )


def test_turn_by_and_turn_between_agree_with_pinocchio():
    q = pin.Quaternion(pin.exp3(np.array([0.3, -0.5, 0.9])))
    for turn in ([0.0, 0.0, 0.0], [0.2, -0.3, 0.4], [0.0, 2.0, 0.0]):
        R = pin.exp3(np.array(turn)) @ q.matrix()
        got = turn_by(q.coeffs(), np.array(turn))
        np.testing.assert_allclose(pin.Quaternion(got).matrix(), R, atol=1e-12)
        np.testing.assert_allclose(rotation_of(got), R, atol=1e-12)
        for sign in (1.0, -1.0):
            np.testing.assert_allclose(turn_between(q.coeffs(), sign * got), turn, atol=1e-12)


def test_a_tiny_rotation_is_twice_the_vector_part():
    """The lengths are on both sides of the one below which the quotient of angle and sine is taken
    as 1."""
    for half in (1e-13, 1e-11):
        turn = turn_between(np.array([0.0, 0.0, 0.0, 1.0]), np.array([half, 0.0, 0.0, 1.0]))
        np.testing.assert_allclose(turn, [2.0 * half, 0.0, 0.0], rtol=1e-9)


def test_a_joint_that_arrives_too_fast_rests_at_its_limit():
    """It moves before the twist, and cannot stop within its room. At the limit its wanted velocity
    and acceleration are zero, and it can leave the limit at once."""
    setpoint = Setpoint(MODEL, NAMES, NAMES, Counter())
    settings = panda_settings(
        law="computed_torque", twist_max_speed=[0.5, 2.0], max_reference_acceleration=1.0
    )
    setpoint.change(settings)
    twist = TwistReference(MODEL, HAND, setpoint, None, Counter())
    twist.warm()
    twist.change(settings, True)
    limits = setpoint.limits_of(setpoint.tracked)
    setpoint.q[:] = READY
    setpoint.q[limits.rows[0]] = limits.high[0] - 0.01
    setpoint.v[limits.columns[0]] = 1.0
    twist.read(ROOT, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0, True)
    for k in range(1, 8):
        twist.follow(1.0 + 0.004 * k)
    row, column = limits.rows[0], limits.columns[0]
    assert setpoint.q[row] == limits.high[0]
    assert setpoint.v[column] == 0.0 and setpoint.a[column] == 0.0
    assert not twist._speed.any()


def test_a_robot_without_position_limits_is_jogged(fleet):
    """Continuous joints have none, and no joint has with `joint_limit_repulsion` never."""
    jogged = JoggedRobot(fleet, joint_limit_repulsion="never")
    with np.errstate(all="raise"):
        q, v, _ = jogged.run(0.3, np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]))
    assert np.isfinite(q).all() and np.isfinite(v).all()
    np.testing.assert_allclose(places(q[-1])[1, 3] - places(READY)[1, 3], 0.027, atol=3e-3)
    fleet.change(fleet.settings.with_changes({"joint_limit_repulsion": "by_law"}))

"""Pose references of a frame: which poses are accepted, and that the wanted pose never jumps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pinocchio as pin
import pytest
from driven_arm import HAND, READY
from fleets import MODEL, fault_of, feed, launch, panda_fleet

import warpdyn as wd
from ros2_node.control.fleet import Fleet
from ros2_node.control.references.pose_reference import PoseReference, apart, between
from ros2_node.control.robot import Robot
from ros2_node.control.states.state import State

Z = np.zeros(MODEL.nv)
ROOT = MODEL.root


@pytest.fixture
def arm() -> tuple[Fleet, Robot]:
    """A panda that holds its hand, with a state, enabled."""
    fleet = panda_fleet(
        law="cartesian_impedance",
        law_options=[f"frame={HAND}"],
        law_inputs__stiffness=[500.0, 500.0, 500.0, 30.0, 30.0, 30.0],
        ramp_time=0.0,
        state_timeout=5.0,
        max_pose_error=[0.1, 0.4],
    )
    robot = fleet.robots[0]
    feed(robot, 0.0, READY, Z)
    return fleet, robot


def pose_of(q=READY):
    pose = wd.fk(MODEL, q, frame=HAND, form="pose")
    return pose[:3].copy(), pose[3:].copy()


def torque(fleet, robot, now, q=READY):
    feed(robot, now, q, Z)
    launch(fleet, robot, now)
    return robot.state.torque.copy()


def test_the_wanted_pose_begins_at_the_present_pose(arm):
    """~/enable discards earlier poses. The hand may have moved while the robot was disabled."""
    fleet, robot = arm
    position, quaternion = pose_of()
    assert robot.refer_pose(ROOT, position + np.array([0.05, 0.0, 0.0]), quaternion) is None
    moved = READY + np.array([0.2, 0.1, 0, 0, 0, 0, 0, 0])
    for now, q in ((0.1, READY), (0.2, moved)):
        np.testing.assert_allclose(
            torque(fleet, robot, now, q), wd.gravity_torques(MODEL, q), atol=1e-6
        )
    assert robot.enable(0.2, 0.2)[0]
    np.testing.assert_allclose(
        torque(fleet, robot, 0.3, moved), wd.gravity_torques(MODEL, moved), atol=1e-6
    )


def test_a_pose_reference_pulls_the_hand(arm):
    """The force is 500 N/m times the distance from the next launch on.

    The moment follows the rotational stiffness.
    """
    fleet, robot = arm
    robot.enable(0.0, 0.0)
    position, quaternion = pose_of()
    turn = pin.exp3(np.array([0.0, 0.0, 0.2])) @ pin.Quaternion(quaternion).matrix()
    turned = -pin.Quaternion(turn).coeffs()  # the same rotation has two signs
    assert robot.refer_pose(ROOT, position + np.array([0.02, -0.04, 0.0]), 1.01 * turned) is None
    tau = torque(fleet, robot, 0.1)
    J = wd.jacobian(MODEL, READY, frame=HAND, reference="local_world_aligned")
    wanted = wd.gravity_torques(MODEL, READY) + J.T @ [10.0, -20.0, 0.0, 0.0, 0.0, 6.0]
    np.testing.assert_allclose(tau, wanted, atol=1e-6)


def test_invalid_poses_are_refused_and_counted(arm):
    """Another frame, a NaN or an invalid quaternion is refused, and the wanted pose does not
    change."""
    fleet, robot = arm
    robot.enable(0.0, 0.0)
    position, quaternion = pose_of()
    before = robot.state.pose_desired.copy()
    for reason, frame, p, o in (
        ("pose_other_frame", "camera", position, quaternion),
        ("pose_other_frame", "", position, quaternion),
        ("pose_nonfinite", ROOT, position * np.nan, quaternion),
        ("pose_nonfinite", ROOT, position, quaternion + np.array([np.inf, 0, 0, 0])),
        ("pose_nonfinite", ROOT, position + 1e5, quaternion),
        ("pose_no_rotation", ROOT, position, 0 * quaternion),
        ("pose_no_rotation", ROOT, position, 1.1 * quaternion),
    ):
        counted = robot.counts[reason]
        assert robot.refer_pose(frame, p, o) == reason
        assert robot.counts[reason] == counted + 1
    np.testing.assert_array_equal(robot.state.pose_desired, before)
    np.testing.assert_allclose(
        torque(fleet, robot, 0.1), wd.gravity_torques(MODEL, READY), atol=1e-6
    )


def test_a_pose_jump_is_refused_and_a_large_deviation_stops(arm):
    """The bound is max_pose_error in metres and radians. The messages have the deviation."""
    fleet, robot = arm
    robot.enable(0.0, 0.0)
    position, quaternion = pose_of()
    assert (
        robot.refer_pose(ROOT, position + np.array([0.2, 0.0, 0.0]), quaternion) == "pose_too_far"
    )
    assert "panda_hand is 0.2 m from its pose reference, more than max_pose_error 0.1 m" in (
        robot.pose.refusal
    )
    half = pin.Quaternion(
        pin.exp3(np.array([0.0, 0.6, 0.0])) @ pin.Quaternion(quaternion).matrix()
    ).coeffs()
    assert robot.refer_pose(ROOT, position, half) == "pose_too_far"
    for k in range(1, 4):  # small steps, and the arm does not follow
        assert robot.refer_pose(ROOT, position + np.array([0.0, 0.0, 0.04 * k]), quaternion) is None
        torque(fleet, robot, 0.1 * k)
    assert fault_of(robot).startswith("panda_hand is 0.12 m from its pose reference")
    assert not robot.is_enabled


def test_a_velocity_leads_the_frame_by_a_bounded_distance(arm):
    """The pose is at most 0.9 max_pose_error ahead. It does not move when the velocity is no longer
    sent."""
    _, robot = arm
    robot.enable(0.0, 0.0)
    position, _ = pose_of()
    robot.pose.move(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.03)
    np.testing.assert_allclose(robot.pose._wanted[:3] - position, [0.03, 0.0, 0.0], atol=1e-6)
    robot.pose.move(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 9.0)
    ahead = robot.pose._wanted.copy()
    np.testing.assert_allclose(ahead[:3] - position, [0.09, 0.0, 0.0], atol=1e-6)
    robot.state.q[0] += 0.2
    robot.pose.compare()
    np.testing.assert_array_equal(robot.pose._wanted, ahead)


def test_a_velocity_does_not_make_a_distant_pose_jump(arm):
    """A virtual body may be pushed farther away than the lead, and the pose does not jump back."""
    _, robot = arm
    robot.enable(0.0, 0.0)
    robot.state.q[0] += 0.6  # the frame moves by more than 0.09 m
    before = robot.pose._wanted.copy()
    robot.pose.move(np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.001)
    assert apart(robot.pose._wanted, robot.pose.place)[0] > 0.15
    assert apart(robot.pose._wanted, before)[0] <= 1.1e-4


def test_clip_leads_the_frame_to_a_distant_pose(arm):
    """The wanted pose is 0.9 max_pose_error ahead of the frame on the straight line and about one
    axis, and reaches the goal at last. A frame that is pushed away from its pose still stops."""
    fleet, robot = arm
    fleet.change(fleet.settings.with_changes({"pose_violation": "clip"}))
    robot.enable(0.0, 0.0)
    position, quaternion = pose_of()
    goal = pose_of(READY + np.array([0.9, 0, 0, 0, 0, 0, 0, 0]))
    assert robot.refer_pose(ROOT, *goal) is None and robot.counts["pose_clipped"] == 1
    far = apart(np.concatenate(goal), np.concatenate([position, quaternion]))
    assert far[0] > 0.25 and far[1] > 0.6
    for share in (0.0, 0.2, 0.4):
        robot.state.q[0] = READY[0] + share
        robot.pose.compare()
        q = robot.state.q
        place = np.concatenate(pose_of(q))
        lead = apart(robot.state.pose_desired, place)
        np.testing.assert_allclose(lead[0], 0.9 * 0.1, atol=1e-9)
        np.testing.assert_allclose(lead[1], 0.9 * 0.4, atol=1e-6)
        left, ahead = goal[0] - place[:3], robot.state.pose_desired[:3] - place[:3]
        np.testing.assert_allclose(np.cross(left, ahead), 0.0, atol=1e-9)
    robot.state.q[0] = READY[0] + 0.85
    robot.pose.compare()
    np.testing.assert_allclose(robot.state.pose_desired, np.concatenate(goal), atol=1e-12)
    assert not robot.pose.astray()
    robot.state.q[0] = READY[0]
    robot.pose.compare()
    assert "more than max_pose_error" in robot.pose.astray()


def test_between_interpolates_about_one_axis():
    one, other = (pin.Quaternion(pin.exp3(np.array(x))) for x in ([0.3, 0, 0.1], [1.2, -0.5, 2]))
    for sign in (1.0, -1.0):
        got = between(one.coeffs(), sign * other.coeffs(), 0.3)
        assert abs(got @ one.slerp(0.3, other).coeffs()) > 1.0 - 1e-12


def test_a_tolerance_of_zero_is_no_bound(arm):
    fleet, robot = arm
    fleet.change(fleet.settings.with_changes({"max_pose_error": [0.0, 0.0]}))
    robot.enable(0.0, 0.0)
    position, quaternion = pose_of()
    assert robot.refer_pose(ROOT, position + np.array([0.5, 0.0, 0.0]), quaternion) is None
    torque(fleet, robot, 0.1)
    assert robot.is_enabled


def test_apart_returns_distance_and_angle_of_two_poses():
    one = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    other = np.array([1.0, 2.0, 0.0, *-pin.Quaternion(pin.exp3(np.array([0, 3.0, 0]))).coeffs()])
    np.testing.assert_allclose(apart(one, other), [2.0, 3.0])
    np.testing.assert_array_equal(apart(other, one), apart(one, other))
    np.testing.assert_allclose(apart(one, one), 0.0)


def test_a_law_without_a_pose_input_ignores_pose_references():
    robot = panda_fleet().robots[0]
    assert robot.pose is None and robot.refer_pose(ROOT, *pose_of()) is None


def test_between_equal_rotations_does_not_rotate():
    """The quaternions may have opposite signs. Half way between two others is half of the
    rotation."""
    one = np.array([0.0, 0.0, 0.6, 0.8])
    for other in (one, -one):
        np.testing.assert_allclose(between(one, other, 0.5), one, atol=1e-15)
    turned = np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)])
    halfway = between(np.array([0.0, 0.0, 0.0, 1.0]), turned, 0.5)
    np.testing.assert_allclose(halfway, [0.0, 0.0, np.sin(0.05), np.cos(0.05)], atol=1e-15)


def test_positions_and_quaternion_lengths_are_bounded(arm):
    """A position has at most 1 km, and a quaternion's length differs from one by at most 0.02. The
    bounds hold for a disabled robot too."""
    _, robot = arm
    _, quaternion = pose_of()
    before = robot.state.pose_desired.copy()
    for far, length, reason in (
        (1000.0, 1.0, None),
        (-1000.0, 1.0, None),
        (1000.1, 1.0, "pose_nonfinite"),
        (0.0, 1.019, None),
        (0.0, 1.021, "pose_no_rotation"),
        (0.0, -0.981, None),
        (0.0, 0.979, "pose_no_rotation"),
    ):
        assert robot.refer_pose(ROOT, [0.0, far, 0.0], length * quaternion) == reason
    np.testing.assert_array_equal(robot.state.pose_desired, before)


def test_the_message_has_each_deviation_beyond_its_bound(arm):
    _, robot = arm
    pose = robot.pose
    pose._error = np.array([0.125, 0.5])
    assert pose.astray() == (
        "panda_hand is 0.125 m and 0.5 rad from its pose reference, more than max_pose_error "
        "0.1 m and 0.4 rad"
    )
    pose._error = np.array([0.1, 0.4])
    assert pose.astray() == ""
    pose._error = np.array([0.1, 0.5])
    assert pose.astray() == (
        "panda_hand is 0.5 rad from its pose reference, more than max_pose_error 0.4 rad"
    )


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_interpolated_quaternions_have_unit_length_and_share_the_angle(share):
    one, other = np.array([0.0, 0.6, 0.0, 0.8]), np.array([0.6, 0.0, 0.0, 0.8])
    found = between(one, other, share)
    np.testing.assert_allclose(np.linalg.norm(found), 1.0, rtol=1e-14)
    angles = [apart(np.r_[0, 0, 0, x], np.r_[0, 0, 0, found])[1] for x in (one, other)]
    whole = apart(np.r_[0, 0, 0, one], np.r_[0, 0, 0, other])[1]
    np.testing.assert_allclose(angles, [share * whole, (1 - share) * whole], atol=1e-7)


def bare(q=READY, followed=None):
    """A pose reference without a robot around it and without tolerances, for a state at q."""
    state, counts = State.of_robots(MODEL, 1).row(0), Counter()
    state.q[:] = q
    return PoseReference(MODEL, HAND, state, counts, followed), state, counts


MOVED = READY + np.array([0.4, 0.1, 0, 0, 0, 0, 0, 0])


def test_without_tolerances_any_pose_is_wanted_at_once():
    """Its quaternion is normalised, and no refusal is counted."""
    pose, state, counts = bare()
    position, quaternion = pose_of(MOVED)
    assert pose.refusal == "" and pose.read(ROOT, position, 1.015 * quaternion, True) is None
    np.testing.assert_allclose(state.pose_desired, [*position, *quaternion], atol=1e-14)
    np.testing.assert_array_equal(pose.quaternion, state.pose_desired[3:])
    pose.compare()
    assert pose.astray() == "" and not counts
    goal = np.concatenate(pose_of())
    assert pose.lead_to(goal) is goal


def test_the_place_is_the_present_pose_of_the_frame():
    """It is computed by warm, stay, move and compare, also when another pose is followed."""
    followed = np.concatenate(pose_of())
    pose, state, _ = bare(followed=followed)
    calls = (pose.warm, pose.stay, lambda: pose.move(np.zeros(6), 0.1), pose.compare)
    for k, call in enumerate(calls):
        state.q[0] += 0.1
        call()
        place = np.concatenate(pose_of(state.q))
        np.testing.assert_allclose(pose.place, place, atol=1e-14)
        if k == 1:
            np.testing.assert_array_equal(state.pose_desired, pose.place)
    np.testing.assert_allclose(pose._error, apart(followed, place), atol=1e-12)


def test_a_new_pose_is_compared_with_the_present_pose_of_the_frame(arm):
    """A pose near the frame is accepted, however far it is from the pose before. A distance that
    equals the bound is accepted."""
    _, robot = arm
    robot.enable(0.0, 0.0)
    robot.state.q[:] = MOVED
    goal = pose_of(MOVED)
    assert robot.refer_pose(ROOT, *goal) is None and not robot.counts
    robot.pose._far = apart(np.concatenate(pose_of()), robot.pose.place)
    assert robot.refer_pose(ROOT, *pose_of()) is None
    robot.pose.stay()
    robot.pose._far = np.nextafter(robot.pose._far, 0.0)
    assert robot.refer_pose(ROOT, *pose_of()) == "pose_too_far"


def test_stay_resets_the_deviation(arm):
    _, robot = arm
    robot.pose._error = np.array([9.0, 9.0])
    assert robot.pose.astray()
    robot.pose.stay()
    assert robot.pose.astray() == "" and not robot.pose._error.any()


def test_an_angular_velocity_rotates_the_pose_about_fixed_axes(arm):
    _, robot = arm
    robot.enable(0.0, 0.0)
    _, quaternion = pose_of()
    robot.pose.move(np.array([0.0, 0.0, 0.0, 0.5, -1.0, 2.0]), 0.1)
    turned = pin.exp3(np.array([0.05, -0.1, 0.2])) @ pin.Quaternion(quaternion).matrix()
    found = pin.Quaternion(robot.pose.quaternion).matrix()
    np.testing.assert_allclose(found, turned, atol=1e-7)


@pytest.mark.parametrize("near", ["position", "rotation"])
def test_a_near_position_or_rotation_reaches_its_goal_at_once(arm, near):
    """The other part is led as far as its bound allows."""
    fleet, robot = arm
    fleet.change(fleet.settings.with_changes({"pose_violation": "clip"}))
    robot.enable(0.0, 0.0)
    position, quaternion = pose_of()
    goal = position + np.array([0.0, 0.5 if near == "rotation" else 0.08, 0.0])
    size = 0.3 if near == "rotation" else 1.0
    turn = pin.exp3(np.array([0.0, 0.0, size])) @ pin.Quaternion(quaternion).matrix()
    turned = -pin.Quaternion(turn).coeffs()
    turned /= np.linalg.norm(turned)
    assert robot.refer_pose(ROOT, goal, turned) is None
    wanted, place = robot.state.pose_desired.copy(), np.concatenate([position, quaternion])
    if near == "position":
        np.testing.assert_allclose(wanted[:3], goal, atol=1e-15)
    else:
        np.testing.assert_allclose(wanted[3:], turned, rtol=0, atol=1e-15)
    lead = apart(wanted, place)
    np.testing.assert_allclose(lead, [0.09, 0.3] if near == "rotation" else [0.08, 0.36], atol=1e-6)
    assert robot.pose._goal is not None
    robot.pose._far = np.array([0.6, 1.2])
    robot.pose.compare()
    np.testing.assert_allclose(robot.state.pose_desired, [*goal, *turned], rtol=0, atol=1e-15)
    assert robot.pose._goal is None

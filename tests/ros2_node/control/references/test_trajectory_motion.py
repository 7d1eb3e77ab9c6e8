"""One motion of a trajectory: its points, its deceleration, and its progress."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
from fleets import MODEL, NAMES, N, Q, panda_settings

from ros2_node.control.references.setpoint import ReferenceLimits, Setpoint
from ros2_node.control.references.trajectory_goal import TrajectoryGoal
from ros2_node.control.references.trajectory_motion import TrajectoryMotion, deceleration
from ros2_node.control.references.waypoint_spline import Waypoint, WaypointArrays, WaypointSpline

REST = [0.0] * N
SOME = [NAMES[2], NAMES[0]]


def motion_of_some(request=None, speed=0.0):
    """Joints 2 and 0 move by 0.2 and 0.1 in 2 s, through a point at 1 s, at a given speed there."""
    setpoint = Setpoint(MODEL, NAMES, NAMES, Counter())
    setpoint.change(panda_settings(mode="computed_torque"))
    setpoint.stay(Q)
    limits = setpoint.limits_of(SOME)
    begin, step = Q[[2, 0]], np.array([0.2, 0.1])
    points = [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0)]
    spline = WaypointSpline(
        WaypointArrays.of([Waypoint(t, begin + s * step, [speed] * 2) for t, s in points])
    )
    none = np.full(2, np.inf)
    return setpoint, TrajectoryMotion(spline, 5.0, limits, none, none, "", request)


def test_a_motion_moves_its_joints_to_their_goals():
    setpoint, motion = motion_of_some()
    assert not motion.move(setpoint, 5.5) and motion.move(setpoint, 7.0)
    wanted = Q.copy()
    wanted[[2, 0]] += [0.2, 0.1]
    np.testing.assert_allclose(setpoint.q, wanted, atol=1e-12)
    np.testing.assert_allclose(motion.error(Q), [0.2, 0.1], atol=1e-12)
    assert not motion.has_tolerances


def test_point_at_predicts_the_setpoint():
    """The prediction holds at the start, on the way, and at rest after the end, whatever the speed
    of the last point."""
    setpoint, motion = motion_of_some(speed=0.3)
    for now in (5.0, 5.5, 6.9, 7.0, 8.0):
        ahead = motion.point_at(now)
        motion.move(setpoint, now)
        assert list(ahead) == SOME
        np.testing.assert_array_equal(
            [*ahead.values()], np.transpose(setpoint.point(motion.limits))
        )
        assert setpoint.v.any() == (now < 7.0) and (now < 7.0 or not setpoint.a.any())


def test_progress_counts_points_and_compares_with_the_robot():
    """Values come in the order of the trajectory's joints. A point's number is that of the
    message."""
    setpoint, motion = motion_of_some(TrajectoryGoal(points=4))  # the first two are in the past
    assert motion.has_tolerances
    state = SimpleNamespace(q=Q + 0.01, v=np.full(MODEL.nv, 0.3))
    for now, index in ((5.5, 2), (6.5, 3), (7.5, 3)):
        motion.move(setpoint, now)
        told = motion.progress(setpoint, state, now)
        assert told.point == index and told.time == now - 5.0 and tuple(told.names) == tuple(SOME)
        (q, v, _), (measured, speed) = told.desired, told.measured
        np.testing.assert_array_equal(measured, Q[[2, 0]] + 0.01)
        np.testing.assert_array_equal(speed, [0.3, 0.3])
        np.testing.assert_allclose(told.error[0], q - measured, atol=1e-12)
        np.testing.assert_allclose(told.error[1], v - speed, atol=1e-12)


def test_a_deceleration_ends_at_rest():
    setpoint, motion = motion_of_some()
    motion.move(setpoint, 5.5)
    stop = deceleration(setpoint, SOME, 5.5)
    assert not stop.has_tolerances and stop.move(setpoint, 5.5 + stop.spline.end)
    assert not setpoint.v.any()


def limits_of_three(**more):
    """The first two joints are 0.75 and 0.3 from the limits ahead; the second has no largest
    acceleration."""
    values = {"low": [-9.0, -1.3, -9.0], "high": [1.75, 9.0, 9.0], "fastest": [5.0] * 3}
    values |= {"strongest": [4.0, np.inf, 3.0], "turns": [False] * 3, **more}
    arrays = {name: np.array(x) for name, x in values.items()}
    return ReferenceLimits(names="abc", rows=np.arange(3), columns=np.arange(3), **arrays)


def test_each_joint_decelerates_until_its_limit_or_as_long_as_the_slowest():
    """The first two stop at their limits after 2 * 0.75 / 2 s and 2 * 0.3 / 1 s, the third after 3 / 3 s.
    Velocities fall on lines."""
    q, v = np.array([1.0, -1.0, 0.0]), np.array([2.0, -1.0, 3.0])
    point = (q, v, np.zeros(3))
    setpoint = SimpleNamespace(limits_of=lambda names: limits_of_three(), point=lambda _: point)
    stop, ends = deceleration(setpoint, "abc", 5.0), np.array([0.75, 0.6, 1.0])
    out = np.zeros((3, 3))
    for time in (0.0, 0.2, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0):
        stop.spline.at(time, out)
        passed = np.minimum(time, ends)
        np.testing.assert_allclose(out[0], q + v * passed * (1 - passed / (2 * ends)), atol=1e-9)
        np.testing.assert_allclose(out[1], v * (1 - passed / ends), atol=1e-9)
    assert stop.start == 5.0 and stop.spline.end == 1.0
    np.testing.assert_allclose(stop.point_at(5.2)["a"], [1.346667, 1.466667, -2.666667], atol=1e-6)


def test_a_motion_keeps_within_limits_and_is_compared_with_measured_velocities():
    """Positions, velocities and accelerations are cut, on both sides."""
    moves = []
    setpoint = SimpleNamespace(move=lambda _, point, *rest: moves.append(point.copy()))
    limits = limits_of_three(fastest=[0.5] * 3, strongest=[2.0] * 3)
    wanted = [[9.0, -9.0, 0.5], [3.0, -3.0, 0.25], [7.0, -7.0, 1.0]]
    spline = SimpleNamespace(at=lambda time, out: np.copyto(out, wanted), end=1.0)
    motion = TrajectoryMotion(spline, 5.0, limits, None, None, "")
    assert not motion.move(setpoint, 5.5)
    assert moves[0].tolist() == [[1.75, -1.3, 0.5], [0.5, -0.5, 0.25], [2.0, -2.0, 1.0]]
    assert motion.speed_error(np.array([1.0, 2.0, 3.0])).tolist() == [-0.5, -2.5, -2.75]

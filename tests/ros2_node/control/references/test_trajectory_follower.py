"""Trajectories: how they are interpolated, refused, replaced and ended."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, Q, feed, launch, panda_fleet, wheel_text
from followed_trajectory import REST, STEP, FollowedTrajectory, there

import warpdyn as wd
from ros2_node.control.references import trajectory_follower as bounds
from ros2_node.control.references.setpoint import SETPOINT_BOUND
from ros2_node.control.references.trajectory_follower import MOST_WAYPOINTS
from ros2_node.control.references.trajectory_goal import TrajectoryEnd, TrajectoryGoal
from ros2_node.control.references.waypoint_spline import Waypoint
from ros2_node.control.settings.node_settings import Settings


def test_a_trajectory_begins_as_a_cubic_at_the_present_reference():
    """Half way the position is the middle, at 1.5 times the mean speed. At the end the reference
    rests, and the trajectory has succeeded."""
    f = FollowedTrajectory()
    assert f.accept([there()]) is None and f.follower.active
    q, v, _ = f.at(0.5)
    np.testing.assert_allclose(q, Q + 0.5 * STEP, atol=1e-12)
    np.testing.assert_allclose(v, 1.5 * STEP, atol=1e-12)
    q, v, a = f.at(1.0)
    np.testing.assert_allclose(q, Q + STEP, atol=1e-12)
    assert not v.any() and not a.any()
    assert f.follower.status == "succeeded" and not f.follower.active


def test_the_fields_of_a_point_select_linear_cubic_or_quintic():
    f = FollowedTrajectory()
    f.accept([Waypoint(1.0, (Q + STEP).tolist())])
    np.testing.assert_allclose(f.at(0.25)[0], Q + 0.25 * STEP, atol=1e-12)
    f = FollowedTrajectory()
    f.accept([there(accelerations=REST)])
    s = 0.25
    np.testing.assert_allclose(f.at(s)[0], Q + (10 * s**3 - 15 * s**4 + 6 * s**5) * STEP)


def test_a_stamp_shifts_the_trajectory_in_time():
    """A trajectory with a future stamp waits.

    One with a past stamp leads from the present reference to the points still ahead.
    """
    f = FollowedTrajectory()
    assert f.accept([there()], start=2.0) is None
    np.testing.assert_array_equal(f.at(1.9)[0], Q)
    np.testing.assert_allclose(f.at(2.5)[0], Q + 0.5 * STEP, atol=1e-12)
    late = FollowedTrajectory()
    assert late.accept([there(0.5, 5 * STEP), there(2.0)], start=-1.0) is None
    np.testing.assert_allclose(late.at(0.0)[0], Q, atol=1e-12)
    np.testing.assert_allclose(late.at(1.0)[0], Q + STEP, atol=1e-12)
    assert "in the past" in FollowedTrajectory().accept([there(0.5)], start=-1.0)


def test_a_new_trajectory_begins_at_the_present_reference():
    """Position and velocity are continuous. Until a later start the present trajectory
    continues."""
    f = FollowedTrajectory()
    f.accept([there()])
    q, v, _ = f.at(0.5)
    assert f.accept([there(1.0, 2 * STEP)], start=0.5, now=0.5) is None
    q1, v1, _ = f.at(0.5)
    np.testing.assert_allclose(q1, q, atol=1e-12)
    np.testing.assert_allclose(v1, v, atol=1e-12)
    assert f.accept([there(1.0, REST)], start=1.0, now=0.6) is None
    q0, v0, _ = f.at(1.0 - 1e-6)
    q1, v1, _ = f.at(1.0)
    assert np.abs(q1 - q0).max() < 1e-5 and np.abs(v1 - v0).max() < 1e-4
    np.testing.assert_allclose(f.at(2.0)[0], Q, atol=1e-12)


def test_an_empty_trajectory_cancels_with_the_largest_deceleration():
    """The reference decelerates by 10 rad/s². It comes to rest after v² / 2a, without a jump."""
    f = FollowedTrajectory(max_reference_acceleration=10.0)
    f.accept([there()])
    q0, v0, _ = f.at(0.5)
    f.accept([], now=0.5)
    assert f.follower.status == "cancelled"
    before, time = q0, np.abs(v0).max() / 10.0
    for t in np.linspace(0.5, 0.5 + time, 20):
        q, _, a = f.at(t)
        assert np.abs(a).max() <= 10.0 + 1e-9 and np.abs(q - before).max() < 0.01
        before = q
    f.at(0.5 + time)
    assert not f.setpoint.v.any() and not f.follower.active and f.follower.status == "cancelled"
    np.testing.assert_allclose(f.setpoint.q, q0 + 0.5 * time * v0, atol=1e-9)


@pytest.mark.parametrize(
    "change, said",
    [
        ({"names": ["nose"]}, "nose is not a command joint"),
        ({"names": [NAMES[0]] * N}, "twice"),
        ({"enabled": False}, "call ~/enable"),
        ({"waypoints": [Waypoint(1.0, [0.0] * 3)]}, "point 0 must have 8 positions"),
        ({"waypoints": [there(1.0, velocities=[0.0])]}, "point 0 must have"),
        ({"waypoints": [there(1.0), there(1.0)]}, "point 1 is at 1 s"),
        ({"waypoints": [there(-1.0)]}, "point 0 is at -1 s"),
        ({"waypoints": [there(0.0, 0.5 * STEP)]}, "time_from_start above 0"),
        ({"waypoints": [there(float("nan"))]}, "point 0 is at nan"),
        ({"waypoints": [there(1.0, STEP * np.nan)]}, "not finite"),
        ({"waypoints": [there(1.0, velocities=[0.1] * N)]}, "the last point moves"),
        ({"waypoints": [there(0.0, 3 * STEP), there(1.0)]}, "from the present reference"),
        ({"waypoints": [there(0.01)]}, "more than its velocity limit"),
        ({"waypoints": [there(3.0, 30 * STEP)]}, "beyond its limits"),
        ({"waypoints": [there(1.0)] * (MOST_WAYPOINTS + 1)}, "waypoints are more than"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_an_invalid_trajectory_is_refused_with_the_reason(change, said):
    """The refusal is counted, and the setpoint does not change."""
    f = FollowedTrajectory()
    refusal = f.accept(**{"waypoints": [there()], **change})
    assert said in refusal and f.counts == {"trajectory_refused": 1}
    assert f.follower.status == f"refused: {refusal}" and not f.follower.active
    np.testing.assert_array_equal(f.at(0.5)[0], Q)


def test_values_at_a_bound_are_followed():
    """The bounds are the number of points, the distance of the start, the numbers and the time."""
    waits = [there(0.01 * (i + 1), 0.0 * STEP) for i in range(MOST_WAYPOINTS)]
    assert FollowedTrajectory().accept(waits) is None
    for away, said in ((bounds.START_TOLERANCE, None), (0.1001, "plan from where")):
        begin = Waypoint(0.0, [away, *Q[1:]])
        found = FollowedTrajectory(q=[0.0, *Q[1:]]).accept([begin, there()])
        assert found is said or said in found
    most = [SETPOINT_BOUND, -SETPOINT_BOUND]
    bounds._arrays_of([Waypoint(bounds.LONGEST, most, most, most)], 2)
    for k in range(3):
        numbers = [most] * 3
        numbers[k] = [SETPOINT_BOUND, -np.nextafter(SETPOINT_BOUND, np.inf)]
        with pytest.raises(bounds.TrajectoryRefusedError, match="too large to be right"):
            bounds._arrays_of([Waypoint(1.0, *numbers)], 2)


def test_a_trajectory_too_fast_between_points_is_refused():
    """The points are within the limits, but the polynomial between them is not."""
    f = FollowedTrajectory(max_reference_acceleration=3.0)
    assert "max_reference_acceleration 3" in f.accept([there(0.5, 2 * STEP)])
    assert f.accept([there(2.0, 2 * STEP)]) is None


def test_clip_slows_a_trajectory_down_to_the_limits():
    """The path is the same and takes more time. Neither velocity nor acceleration exceeds its
    limit."""
    f = FollowedTrajectory(reference_violation="clip", max_reference_acceleration=10.0)
    assert f.accept([there(0.02), there(0.05, 2 * STEP)]) is None
    assert "slowed down" in f.follower.status and f.counts["reference_clipped"] == 1
    end, fastest = f.follower._motion.spline.end, MODEL.velocity_limit[:N]
    assert end > 0.1
    for t in np.linspace(0.0, end, 200):
        _, v, a = f.at(t)
        assert (np.abs(v) <= fastest * 1.001).all() and np.abs(a).max() <= 10.0 * 1.001
    np.testing.assert_allclose(f.setpoint.q, Q + 2 * STEP, atol=1e-9)


def test_joints_without_points_do_not_move():
    f = FollowedTrajectory()
    assert f.accept([Waypoint(1.0, [Q[2] + 0.2])], names=[NAMES[2]]) is None
    moved = f.at(1.0)[0] - Q
    assert abs(moved[2] - 0.2) < 1e-12 and not np.delete(moved, 2).any()


def test_a_violated_path_tolerance_aborts_at_the_robots_position():
    """The first joint beyond its tolerance is named, and the commands are blended."""
    f = FollowedTrajectory(trajectory__path_tolerance=0.05)
    f.accept([there(1.0, 2 * STEP)])
    assert not f.follower.follow(0.2, Q, np.array(REST))
    stuck = Q.copy()
    assert f.follower.follow(0.6, stuck, np.array(REST))
    assert (
        "aborted: " in f.follower.status and "trajectory.path_tolerance 0.05" in f.follower.status
    )
    assert f.counts["trajectory_aborted"] == 1 and not f.setpoint.v.any()
    np.testing.assert_array_equal(f.setpoint.q, Q)


def test_the_goal_tolerance_may_be_met_within_goal_time():
    values = {"trajectory__goal_tolerance": 0.02, "trajectory__goal_time": 0.5}
    f = FollowedTrajectory(**values)
    f.accept([there()])
    near = Q + STEP + 0.019
    f.at(1.1, Q + STEP + 0.03)
    assert f.follower.active
    f.at(1.2, near)
    assert f.follower.status == "succeeded"
    g = FollowedTrajectory(**values)
    g.accept([there()])
    assert not g.follower.follow(1.4, Q, np.array(REST)) and g.follower.follow(
        1.6, Q, np.array(REST)
    )
    assert "trajectory.goal_tolerance 0.02" in g.follower.status


def test_a_continuous_joint_makes_as_many_turns_as_the_points_say():
    """A first position one turn away is the same place. Two turns from there are two turns."""
    wheel = wd.load(wheel_text())
    f = FollowedTrajectory(wheel, ["spin"], [0.1])
    assert f.accept([Waypoint(0.0, [0.1 + 2 * np.pi]), Waypoint(9.0, [0.1 + 6 * np.pi])]) is None
    assert abs(f.at(9.0)[0][0] - (0.1 + 4 * np.pi)) < 1e-9


def test_a_stop_of_the_robot_ends_its_trajectory():
    """The robot follows while it is enabled. After ~/enable with false the reference rests, and the
    next ~/enable starts no motion."""
    fleet = panda_fleet(mode="computed_torque", ramp_time=0.0)
    robot = fleet.robots[0]
    feed(robot, 0.0, v=REST)
    assert "call ~/enable" in robot.refer_trajectory(NAMES, [there()], 0.0, 0.0)
    assert robot.enable(0.0, 0.0)[0]
    assert robot.refer_trajectory(NAMES, [there()], 0.0, 0.0) is None
    feed(robot, 0.05, v=REST)
    launch(fleet, robot, 0.05)
    assert robot.setpoint.v.any()
    robot.disable(0.05)
    feed(robot, 0.06, v=REST)
    assert (
        robot.trajectory.status == "ended: the robot no longer follows references"
        and not robot.setpoint.v.any()
    )
    assert robot.counts["trajectory_refused"] == 1


def test_modes_without_positions_refuse_trajectories():
    settings = Settings.of({"robot_description_file": "panda"})
    f = FollowedTrajectory()
    f.follower.change(settings, followed=False)
    assert "mode gravity follows no joint positions" in f.accept([there()])


def test_cancel_ends_a_waiting_or_running_trajectory():
    """Cancel has no effect without a trajectory.

    A waiting one ends at once, a running one by a deceleration.
    """
    f = FollowedTrajectory()
    f.follower.cancel(0.0)
    assert f.follower.status != "cancelled" and not f.follower.active
    assert f.accept([there()], start=1.0) is None
    f.at(0.5)
    f.follower.cancel(0.5, "enough")
    assert (f.follower.status, f.follower.active) == ("enough", False)
    np.testing.assert_array_equal(f.at(0.6)[0], Q)
    assert f.accept([there()], start=1.0, now=0.7) is None
    f.at(1.5)
    f.follower.cancel(1.5)
    assert (f.follower.status, f.follower.active) == ("cancelled", True)
    q, v, _ = f.at(5.0)
    assert not v.any() and not f.follower.active and np.abs(q - Q - 0.5 * STEP).max() > 1e-4


def test_a_violated_velocity_tolerance_aborts_the_trajectory():
    """The robot holds its present position."""
    f = FollowedTrajectory()
    goal = TrajectoryGoal(path_velocity={NAMES[2]: 0.2})
    assert f.accept([there()], goal=goal) is None
    v = 1.5 * STEP
    f.at(0.5, v=v)
    assert f.follower.active
    v[2] += 0.3
    f.at(0.5, q=Q, v=v)
    assert goal.end is TrajectoryEnd.PATH_TOLERANCE_VIOLATED and not f.follower.active
    assert f.follower.status.startswith(f"aborted: {NAMES[2]} differs by 0.3 in velocity")
    np.testing.assert_array_equal(f.setpoint.q, Q)


def test_a_trajectory_ends_only_when_the_joints_rest():
    f = FollowedTrajectory(trajectory__stopped_velocity_tolerance=0.05, trajectory__goal_time=0.5)
    moving = np.full(len(NAMES), 0.1)
    f.accept([there()])
    f.at(1.2, v=moving)
    assert f.follower.active
    f.at(1.3, v=0.4 * moving)
    assert f.follower.status == "succeeded"
    goal = TrajectoryGoal()
    f.accept([there()], start=2.0, now=2.0, goal=goal)
    f.at(3.6, v=moving)
    assert goal.end is TrajectoryEnd.GOAL_TOLERANCE_VIOLATED
    assert "still moves with 0.1, more than trajectory.stopped_velocity_tolerance 0.05" in goal.text


def test_a_trajectory_that_replaces_a_waiting_one_begins_at_the_reference():
    f = FollowedTrajectory()
    assert f.accept([there()], start=10.0) is None
    assert f.accept([there(1.0, 2 * STEP)], start=5.0) is None
    np.testing.assert_allclose(f.at(5.0)[0], Q, atol=1e-12)
    np.testing.assert_allclose(f.at(5.5)[0], Q + STEP, atol=1e-12)
    np.testing.assert_allclose(f.at(12.0)[0], Q + 2 * STEP, atol=1e-12)


def steps_of(f, begin, end, period=1e-3):
    """The largest steps of the setpoint's position and velocity from one period to the next."""
    rows = [(f.setpoint.q.copy(), f.setpoint.v.copy())]
    rows += [f.at(t)[:2] for t in np.arange(begin, end, period)]
    return [np.abs(np.diff(x, axis=0)).max() for x in zip(*rows, strict=True)]


@pytest.mark.parametrize("time, step", [(1.0, 0.05), (0.05, 2e-4)])
def test_joints_missing_in_a_later_trajectory_decelerate(time, step):
    """They use max_reference_acceleration, even if the later trajectory would end before they
    rest."""
    f = FollowedTrajectory(max_reference_acceleration=1.0)
    assert f.accept([there(step=STEP * (np.arange(N) > 0))]) is None
    f.at(0.5)
    point = Waypoint(time, [Q[0] + step], [0.0])
    assert f.accept([point], start=0.5, now=0.5, names=NAMES[:1]) is None
    moved, faster = steps_of(f, 0.5, 2.0)
    assert moved < 2e-4 and faster < 1.1e-3
    assert not f.setpoint.v.any() and f.follower.status == "succeeded" and not f.follower.active


@pytest.mark.parametrize("named", [slice(None), slice(0, 2)])
def test_a_moving_reference_decelerates_before_a_later_start(named):
    """The trajectory begins where the reference has come to rest."""
    for start in (0.01, 2.0):
        f = FollowedTrajectory(max_reference_acceleration=5.0)
        f.setpoint.read(NAMES, (Q, 0.2 * (np.arange(N) < 7), ()), 0.0)
        point = Waypoint(1.0, (Q + STEP)[named].tolist(), REST[named])
        assert f.accept([point], start=start, names=NAMES[named]) is None
        moved, faster = steps_of(f, 0.0, start + 1.5)
        assert moved < 3e-4 and faster < 5.5e-3
        np.testing.assert_allclose(f.setpoint.q[named], (Q + STEP)[named], atol=1e-9)
        assert f.follower.status == "succeeded" and not f.setpoint.v.any()


def test_a_repeated_trajectory_of_a_continuous_joint_adds_no_turn():
    """It is sent again on its way, with the original stamp."""
    f = FollowedTrajectory(wd.load(wheel_text()), ["spin"], [0.0])
    points = [Waypoint(0.0, [0.0], [0.0]), Waypoint(10.0, [3 * np.pi], [0.0])]
    assert f.accept(points) is None
    f.at(8.0)
    assert f.accept(points, now=8.0) is None
    assert abs(f.at(10.0)[0][0] - 3 * np.pi) < 1e-9


@pytest.mark.parametrize("now", [0.5, 1.0])
def test_a_later_trajectory_begins_where_the_reference_will_be(now):
    """The earlier one is followed until then, even if it has not begun yet."""
    f = FollowedTrajectory()
    assert f.accept([there()], start=1.0) is None
    f.at(0.4)
    assert f.accept([there(1.0, 2 * STEP)], start=1.5, now=now) is None
    for time, share in ((1.5 - 1e-9, 0.5), (1.5, 0.5), (2.5, 2.0)):
        np.testing.assert_allclose(f.at(time)[0], Q + share * STEP, atol=1e-8)


def test_a_trajectory_with_a_past_stamp_begins_at_the_present_reference():
    """It does not begin at the reference of the last state."""
    f = FollowedTrajectory()
    f.accept([there()])
    f.at(0.49)
    assert f.accept([there(2.0, REST)], start=0.2, now=0.5) is None
    q, v, _ = f.at(0.5)
    np.testing.assert_allclose(q, Q + 0.5 * STEP, atol=1e-12)
    np.testing.assert_allclose(v, 1.5 * STEP, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_reference_never_jumps(seed):
    """Trajectories arrive, are cancelled and start at random times. The reference never moves
    faster than its velocity."""
    f, draw, h = FollowedTrajectory(), np.random.default_rng(seed), 0.01
    before = f.at(0.0)
    for now in h * np.arange(1, 600):
        if draw.random() < 0.05:
            start = now + draw.choice([-0.2, 0.0, 0.1, 0.3, 0.8])
            f.accept([there(draw.uniform(0.5, 1.0), draw.uniform(-3, 3) * STEP)], start, now)
        elif draw.random() < 0.01:
            f.accept([], now=now)
        q, v, _ = f.at(now)
        most = (
            h * np.maximum(np.abs(v), np.abs(before[1])) + 2e-3
        )  # the reference accelerates in between
        assert (np.abs(q - before[0]) <= most).all()
        before = q, v


@pytest.mark.parametrize("start", [0.5, 0.5 + 1e-9])
def test_a_trajectory_that_starts_now_replaces_the_present_one_at_once(start):
    """A later one waits, and its progress begins with its start."""
    f, first, second = FollowedTrajectory(), TrajectoryGoal(), TrajectoryGoal()
    state = f.setpoint
    f.accept([there()], goal=first)
    f.at(0.5)
    assert f.accept([there(2.0)], start=start, now=0.5, goal=second) is None
    assert first.end is (TrajectoryEnd.REPLACED if start == 0.5 else None)
    f.at(start)
    assert first.end is TrajectoryEnd.REPLACED
    assert f.follower.progress(second, start - 1e-9, state) is None
    assert f.follower.progress(second, start, state) is not None

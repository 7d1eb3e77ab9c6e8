"""Limits of trajectories between their points, and successive trajectories."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, Q
from followed_trajectory import STEP, FollowedTrajectory, there

from ros2_node.control.references.setpoint import ReferenceLimits
from ros2_node.control.references.trajectory_follower import _too_fast
from ros2_node.control.references.trajectory_goal import TrajectoryEnd, TrajectoryGoal
from ros2_node.control.references.waypoint_spline import Waypoint


def test_a_trajectory_may_follow_one_that_has_not_begun():
    """The second begins where the first one ends, so the first one moves until then."""
    f = FollowedTrajectory()
    first, second = TrajectoryGoal(), TrajectoryGoal()
    assert f.accept([there()], start=1.0, goal=first) is None
    assert f.accept([there(step=1.5 * STEP)], start=3.0, now=0.1, goal=second) is None
    places = np.array([f.at(t)[0] for t in np.linspace(0.1, 4.1, 401)])
    assert np.abs(np.diff(places, axis=0)).max() < 0.02 * np.abs(STEP).max()
    np.testing.assert_allclose(places[200], Q + STEP, atol=1e-12)
    np.testing.assert_allclose(places[-1], Q + 1.5 * STEP, atol=1e-12)
    assert first.end is second.end is TrajectoryEnd.SUCCEEDED


def test_a_goal_that_waits_for_its_start_can_be_withdrawn():
    """Nothing moves then, and no point on ~/reference is needed to end it."""
    f, waiting = FollowedTrajectory(), TrajectoryGoal()
    f.accept([there()])
    f.accept([there(step=1.5 * STEP)], start=3.0, now=0.1, goal=waiting)
    f.at(1.5)
    assert f.follower.status == "succeeded" and f.follower.active
    f.follower.withdraw(waiting, 2.0)
    assert waiting.end is TrajectoryEnd.CANCELLED and not f.follower.active
    np.testing.assert_allclose(f.at(4.1)[0], Q + STEP, atol=1e-12)


@pytest.mark.parametrize("now", [0.5, 0.85, 0.95])
def test_a_cancelled_joint_stops_before_its_limit(now):
    """One joint must stop 0.1 mrad before its limit while another one moves. After the cancellation
    both decelerate with their largest acceleration, in velocity and position."""
    strongest, dt = 5.0, 1e-3
    f = FollowedTrajectory(max_reference_acceleration=strongest)
    high = f.setpoint.limits_of(NAMES).high
    begin = np.array(Q)
    begin[:2] = -1.5, high[1] - 0.4
    f.setpoint.stay(begin)
    half, end = begin.copy(), begin.copy()
    half[:2] = -0.55, high[1] - 1e-4
    end[:2] = 0.4, high[1] - 1e-4
    speed = [1.8, *[0.0] * (N - 1)]
    points = [Waypoint(1.0, half.tolist(), speed), Waypoint(2.0, end.tolist(), [0.0] * N)]
    assert f.accept(points) is None
    f.at(now)
    f.follower.cancel(now)
    q, v, _ = (np.array(x) for x in zip(*(f.at(now + k * dt) for k in range(600)), strict=True))
    assert not f.follower.active and (q <= high).all()
    assert np.abs(np.diff(v, axis=0)).max() <= 1.001 * strongest * dt
    assert np.abs(np.diff(q, 2, axis=0)).max() <= 1.001 * strongest * dt**2


@pytest.mark.parametrize(("violation", "time"), [("reject", 1.0), ("clip", 0.4)])
def test_velocities_and_accelerations_are_within_limits_between_points(violation, time):
    """The motions are cubic and quintic through random waypoints, sampled at 2,000 times in each
    piece."""
    rng, accepted, greatest, out = np.random.default_rng(0), 0, 8.0, np.zeros((3, N))
    for trial in range(30):
        f = FollowedTrajectory(reference_violation=violation, max_reference_acceleration=greatest)
        points = []
        for k in range(3):
            v, a = rng.normal(size=(2, N)) * STEP * (k < 2) * np.array([[4.0], [20.0]])
            step, a = rng.normal(size=N) * np.abs(STEP), a.tolist() if trial % 2 else ()
            points.append(there((k + 1) * time, step, v.tolist(), a))
        if f.accept(points) is not None:
            continue
        accepted += 1
        spline, largest = f.follower._motion.spline, np.zeros((3, N))
        for t in np.linspace(spline.begin, spline.end, 6001):
            spline.at(t, out)
            np.maximum(largest, np.abs(out), out=largest)
        assert (largest[1] <= 1.0015 * MODEL.velocity_limit).all()
        assert (largest[2] <= 1.0015 * greatest).all()
    assert accepted > 9


@pytest.mark.parametrize("slows", [True, False])
@pytest.mark.parametrize(("speed", "push"), [(2.0, 9.0), (0.5, 3.0)])
def test_the_refusal_names_the_limit_and_the_remedy(slows, speed, push):
    """The velocity counts first. A trajectory that is slowed down already starts too fast."""
    several = np.array([[0.1, 0.1], [speed, push]])
    numbers = np.array([1.0, 4.0])
    limits = ReferenceLimits(["a", "b"], *[np.arange(2)] * 2, *[numbers] * 4, numbers > 9.0)
    said = _too_fast(["a", "b"], limits, *several.T, slows)
    what = "8, more than its velocity limit 4"
    if speed < 1.0:
        what = "12, more than its max_reference_acceleration 4"
    advice = "slow it down, or set reference_violation to clip"
    if slows:
        advice = "its start is too fast for it"
    assert said == f"b would reach {what}: {advice}"


@pytest.mark.parametrize("faster", [1.02, 1.4])
def test_a_trajectory_that_is_slowed_down_a_little_says_so(faster):
    """The status names the factor of time, and the change is counted."""
    plain, out = FollowedTrajectory(), np.zeros((3, N))
    assert plain.accept([there()]) is None
    assert "slowed" not in plain.follower.status and not plain.counts["reference_clipped"]
    spline = plain.follower._motion.spline
    pushes = []
    for t in np.linspace(spline.begin, spline.end, 2001):
        spline.at(t, out)
        pushes.append(np.abs(out[2]).max())
    limit = max(pushes) / faster**2
    f = FollowedTrajectory(reference_violation="clip", max_reference_acceleration=limit)
    assert f.accept([there()]) is None
    end = f.follower._motion.spline.end
    assert end == pytest.approx(faster * spline.end, rel=1e-3)
    assert f.follower.status == f"running: {end:.3g} s, slowed down by {faster:.3g}"
    assert f.counts["reference_clipped"] == 1

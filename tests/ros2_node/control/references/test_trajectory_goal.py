"""Goals of trajectories: how they end, and which joints their tolerances may name."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, Q
from followed_trajectory import REST, FollowedTrajectory, there

from ros2_node.control.references.trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryRefusedError,
)


def test_only_the_first_end_of_a_goal_counts():
    goal = TrajectoryGoal()
    assert goal.end is None
    goal.finish(TrajectoryEnd.REPLACED, "replaced")
    goal.finish(TrajectoryEnd.STOPPED, "stopped")
    assert (goal.end, goal.text) == (TrajectoryEnd.REPLACED, "replaced")


def test_a_refusal_has_its_kind_apart_from_its_text():
    for args, end in (
        ((), TrajectoryEnd.INVALID_GOAL),
        ((TrajectoryEnd.INVALID_JOINTS,), TrajectoryEnd.INVALID_JOINTS),
    ):
        refusal = TrajectoryRefusedError("it is empty", *args)
        assert str(refusal) == "it is empty" and refusal.end is end


@pytest.mark.parametrize("kind", ["", "_velocity"])
@pytest.mark.parametrize("which", ["path", "goal"])
def test_tolerances_may_only_name_joints_of_the_trajectory(which, kind):
    goal = TrajectoryGoal(**{which + kind: {"elbow": 0.1}})
    goal.check(["shoulder", "elbow"])
    with pytest.raises(TrajectoryRefusedError, match=f"{which}_tolerance is for elbow") as caught:
        goal.check(["shoulder"])
    assert caught.value.end is TrajectoryEnd.INVALID_JOINTS


def begun(f, **values):
    """A goal that the follower f has accepted."""
    goal = TrajectoryGoal(**values)
    assert f.accept([there()], goal=goal) is None
    return goal


@pytest.mark.parametrize(
    "change, end",
    [
        ({"enabled": False}, TrajectoryEnd.INVALID_GOAL),
        ({"waypoints": [there(0.01)]}, TrajectoryEnd.INVALID_GOAL),
        ({"names": ["nose"]}, TrajectoryEnd.INVALID_JOINTS),
        ({"names": [NAMES[0]] * N}, TrajectoryEnd.INVALID_JOINTS),
        ({"goal": TrajectoryGoal(goal={"nose": 1.0})}, TrajectoryEnd.INVALID_JOINTS),
        ({"start": -2.0}, TrajectoryEnd.OLD_HEADER_TIMESTAMP),
    ],
)
def test_a_refused_goal_stores_the_reason(change, end):
    f, change = FollowedTrajectory(), {"goal": TrajectoryGoal(), **change}
    refusal = f.accept(**{"waypoints": [there()], **change})
    assert refusal and (change["goal"].end, change["goal"].text) == (end, refusal)


def test_tolerances_of_a_goal_override_those_of_the_parameters():
    """They apply to their joints only, and infinity means no tolerance. The text says which
    tolerance was violated."""
    f = FollowedTrajectory(trajectory__path_tolerance=0.05)
    goal = begun(f, path=dict.fromkeys(NAMES, np.inf), goal={NAMES[3]: 0.02}, goal_time=0.5)
    assert not f.follower.follow(1.4, Q, np.array(REST)) and goal.end is None
    assert (
        f.follower.follow(1.6, Q, np.array(REST))
        and goal.end is TrajectoryEnd.GOAL_TOLERANCE_VIOLATED
    )
    assert f"{NAMES[3]} is 0.1 from" in goal.text and "the goal's goal_tolerance 0.02" in goal.text
    f = FollowedTrajectory(trajectory__path_tolerance=0.05)
    goal = begun(f, path={NAMES[3]: np.inf})
    assert (
        f.follower.follow(1.0, Q, np.array(REST))
        and goal.end is TrajectoryEnd.PATH_TOLERANCE_VIOLATED
    )
    assert "more than trajectory.path_tolerance 0.05" in goal.text
    f = FollowedTrajectory(trajectory__goal_tolerance=0.02, trajectory__goal_time=0.1)
    goal = begun(f, goal_time=0.0)
    assert not f.follower.follow(9.0, Q, np.array(REST)) and goal.end is None


def test_each_goal_stores_its_own_end():
    """A goal succeeds, is cancelled, stopped or replaced. A replacement counts at the start of the
    later goal."""
    f = FollowedTrajectory()
    goal = begun(f)
    f.at(1.0)
    assert (goal.end, goal.text) == (TrajectoryEnd.SUCCEEDED, "succeeded")
    goal = begun(f)
    f.follower.cancel(0.1)
    assert (goal.end, goal.text) == (TrajectoryEnd.CANCELLED, "cancelled")
    goal = begun(f)
    f.follower.end("ended: so")
    assert (goal.end, goal.text) == (TrajectoryEnd.STOPPED, "ended: so")
    first, second = begun(f), begun(f)
    assert first.end is TrajectoryEnd.REPLACED and second.end is None
    waits, later = TrajectoryGoal(), TrajectoryGoal()
    assert f.accept([there(2.0)], start=0.5, now=0.0, goal=waits) is None and second.end is None
    assert f.accept([there(2.0)], start=0.6, now=0.1, goal=later) is None
    assert waits.end is TrajectoryEnd.REPLACED and second.end is None
    f.at(0.6)
    assert second.end is TrajectoryEnd.REPLACED and later.end is None


def test_withdrawing_a_waiting_goal_leaves_the_running_one():
    """Withdrawing the running goal also withdraws the waiting one. Withdrawing an unknown goal has
    no effect."""
    f = FollowedTrajectory()
    present, waits = begun(f), TrajectoryGoal()
    assert f.accept([there(2.0)], start=0.5, now=0.1, goal=waits) is None
    f.follower.withdraw(TrajectoryGoal(), 0.1)
    assert f.follower.status == "running: 2 s"
    f.follower.withdraw(waits, 0.1)
    assert f.follower.status == "running: 1 s"
    assert waits.end is TrajectoryEnd.CANCELLED and present.end is None
    f.at(0.7)
    state = type("state", (), {"q": Q, "v": np.zeros(MODEL.nv)})
    assert f.follower.progress(waits, 0.7, state) is None
    assert f.follower.progress(present, 0.7, state).time == 0.7
    waits = TrajectoryGoal()
    assert f.accept([there(2.0)], start=0.9, now=0.7, goal=waits) is None
    f.follower.withdraw(present, 0.7)
    assert present.end is waits.end is TrajectoryEnd.CANCELLED
    f.at(5.0)
    assert not f.setpoint.v.any() and not f.follower.active


def test_a_waiting_goal_begins_after_the_previous_one_has_succeeded():
    """It then succeeds, or is withdrawn and nothing moves."""
    for is_withdrawn in (False, True):
        f, waits = FollowedTrajectory(), TrajectoryGoal()
        begun(f)
        assert f.accept([there(1.0, REST)], start=2.0, now=0.5, goal=waits) is None
        f.at(1.0)
        assert f.follower.status == "succeeded" and f.follower.active
        if is_withdrawn:
            f.follower.withdraw(waits, 1.5)
            assert not f.follower.active
        before = f.at(2.0)[0]
        assert waits.end is (TrajectoryEnd.CANCELLED if is_withdrawn else None)
        moved = np.abs(f.at(2.5)[0] - before).max()
        f.at(3.0)
        assert (moved > 0.01) is not is_withdrawn
        assert waits.end is (TrajectoryEnd.CANCELLED if is_withdrawn else TrajectoryEnd.SUCCEEDED)

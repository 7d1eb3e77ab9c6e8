"""Messages of trajectories: how they are read and refused, and how results are written."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance, JointTolerance
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint, MultiDOFJointTrajectoryPoint

from ros2_node.control.references.trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryProgress,
    TrajectoryRefusedError,
)
from ros2_node.ros.trajectory_messages import (
    CODES,
    action_kind,
    delay_of,
    feedback_message,
    fill_tolerances,
    result_message,
    waypoints_of,
)

Goal, Result = FollowJointTrajectory.Goal, FollowJointTrajectory.Result


def test_points_become_waypoints():
    point = JointTrajectoryPoint(positions=[1.0], velocities=[2.0])
    point.time_from_start = Duration(sec=1, nanosec=500_000_000)
    (waypoint,) = waypoints_of(JointTrajectory(points=[point]))
    assert waypoint.time == 1.5 and list(waypoint.positions) == [1.0]
    assert list(waypoint.velocities) == [2.0] and not len(waypoint.accelerations)
    point.effort = [1.0]
    with pytest.raises(TrajectoryRefusedError, match="efforts"):
        waypoints_of(JointTrajectory(points=[point]))


def test_a_stamp_becomes_a_delay_and_zero_means_now():
    message = JointTrajectory()
    assert delay_of(message, 5_000_000_000) == 0.0
    message.header.stamp = Time(sec=7)
    assert delay_of(message, 5_000_000_000) == pytest.approx(2.0)


def test_tolerances_may_be_positive_zero_or_negative():
    """They mean a bound, the parameter's bound, and no bound. A negative time means any time."""
    goal = TrajectoryGoal()
    request = Goal(
        path_tolerance=[
            JointTolerance(name=name, position=x, velocity=2.0 * x)
            for name, x in (("a", 0.1), ("b", 0.0), ("c", -1.0))
        ],
        goal_tolerance=[JointTolerance(name="a", position=0.2, velocity=-1.0, acceleration=-1.0)],
        goal_time_tolerance=Duration(nanosec=500_000_000),
    )
    fill_tolerances(goal, request)
    assert goal.path == {"a": 0.1, "c": math.inf}
    assert goal.path_velocity == {"a": 0.2, "c": math.inf}
    assert goal.goal_velocity == {"a": math.inf}
    assert (goal.goal, goal.goal_time) == ({"a": 0.2}, 0.5)
    other = TrajectoryGoal()
    fill_tolerances(other, Goal())
    assert (other.path, other.goal, other.goal_time) == ({}, {}, None)
    fill_tolerances(other, Goal(goal_time_tolerance=Duration(sec=-1)))
    assert other.goal_time == 0.0


@pytest.mark.parametrize(
    "fields, said",
    [
        (
            {"path_tolerance": [JointTolerance(name="a", acceleration=0.1)]},
            "a bounds accelerations",
        ),
        ({"goal_tolerance": [JointTolerance(name="a", acceleration=math.nan)]}, "accelerations"),
        ({"goal_tolerance": [JointTolerance(name="a", velocity=math.nan)]}, "a is not a number"),
        ({"goal_tolerance": [JointTolerance(name="a", position=math.nan)]}, "a is not a number"),
        ({"path_tolerance": [JointTolerance(name="a", position=0.1)] * 2}, "names a twice"),
        ({"component_path_tolerance": [JointComponentTolerance()]}, "multi_dof_trajectory or"),
        ({"component_goal_tolerance": [JointComponentTolerance()]}, "multi_dof_trajectory or"),
    ],
)
def test_unsupported_tolerances_are_refused(fields, said):
    with pytest.raises(TrajectoryRefusedError, match=said) as caught:
        fill_tolerances(TrajectoryGoal(), Goal(**fields))
    assert caught.value.end is TrajectoryEnd.INVALID_GOAL


def test_a_multi_dof_trajectory_is_refused():
    request = Goal()
    request.multi_dof_trajectory.points = [MultiDOFJointTrajectoryPoint()]
    with pytest.raises(TrajectoryRefusedError, match="multi_dof_trajectory"):
        fill_tolerances(TrajectoryGoal(), request)


def test_each_end_has_the_result_code_of_its_name():
    assert set(CODES) == set(TrajectoryEnd)
    named = {end: getattr(Result, end.name) for end in TrajectoryEnd if hasattr(Result, end.name)}
    assert len(named) == 5 and all(CODES[end] == code for end, code in named.items())
    assert CODES[TrajectoryEnd.SUCCEEDED] == CODES[TrajectoryEnd.CANCELLED] == Result.SUCCESSFUL
    goal = TrajectoryGoal()
    goal.finish(TrajectoryEnd.REPLACED, "by another")
    told = result_message(FollowJointTrajectory, goal)
    assert (told.error_code, told.error_string) == (Result.INVALID_GOAL, "by another")


def test_feedback_has_desired_actual_and_error_values():
    two = np.array([1.0, 2.0])
    progress = TrajectoryProgress(
        ["a", "b"], 1.25, 3, (two, 2 * two, 3 * two), (4 * two, 5 * two), (6 * two, 7 * two)
    )
    told = feedback_message(FollowJointTrajectory, progress, Time(sec=9))
    assert (told.joint_names, told.index, told.header.stamp.sec) == (["a", "b"], 3, 9)
    found = [
        list(x)
        for p in (told.desired, told.actual, told.error)
        for x in (p.positions, p.velocities)
    ]
    assert found == [(k * two).tolist() for k in (1, 2, 4, 5, 6, 7)]
    assert list(told.desired.accelerations) == [3.0, 6.0] and not len(told.actual.accelerations)
    since = told.desired.time_from_start
    assert (since.sec, since.nanosec) == (1, 250_000_000) and told.actual.time_from_start == since


def test_without_control_msgs_there_is_no_action(monkeypatch):
    assert action_kind() is FollowJointTrajectory
    monkeypatch.setitem(sys.modules, "control_msgs.action", None)
    assert action_kind() is None

"""Tolerances of a trajectory: which joint violates them, their origin, and when they need
velocities."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import panda_settings

from ros2_node.control.references.trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryRefusedError,
)
from ros2_node.control.references.trajectory_tolerances import ToleranceParameters

JOINTS = ["shoulder", "elbow"]


def of(goal=None, **values):
    settings = panda_settings(mode="computed_torque", **values)
    return ToleranceParameters(settings, JOINTS).of(JOINTS, goal or TrajectoryGoal())


def test_without_tolerances_nothing_violates_them():
    far = np.full(2, 1e9)
    for stage in of():
        assert stage.violation(far, far) == "" and not stage.bounds_velocity


def test_the_message_has_the_worst_joint_its_bound_and_the_source():
    goal = TrajectoryGoal(
        path={"elbow": 0.3}, path_velocity={"elbow": 0.5}, goal_velocity={"elbow": 0.1}
    )
    values = {"trajectory__path_tolerance": 0.2, "trajectory__stopped_velocity_tolerance": 0.05}
    path, near = of(goal, **values)
    zero, big = np.zeros(2), np.array([-0.25, 0.4])
    assert path.end is TrajectoryEnd.PATH_TOLERANCE_VIOLATED
    assert path.violation(big, zero) == (
        "elbow is 0.4 from the trajectory, more than the goal's path_tolerance 0.3"
    )
    assert path.violation(big[::-1] / 2, zero) == ""
    assert path.violation(-big[::-1], zero) == (
        "shoulder is 0.4 from the trajectory, more than trajectory.path_tolerance 0.2"
    )
    assert path.violation(zero, 2.0 * big) == (
        "elbow differs by 0.8 in velocity from the trajectory, more than the goal's path_tolerance in velocity 0.5"
    )
    (alone, _) = of(TrajectoryGoal(path={"elbow": 0.3}), **values)
    assert "the goal's path_tolerance 0.3" in alone.violation(big, zero)
    at_bounds = [path.violation(*x) for x in (([0.2, 0.3], zero), (zero, [0.0, 0.5]))]
    assert at_bounds == ["", ""]
    assert near.end is TrajectoryEnd.GOAL_TOLERANCE_VIOLATED
    assert near.violation(big, zero) == ""
    assert near.violation(zero, np.array([0.06, 0.09])) == (
        "shoulder still moves with 0.06, more than trajectory.stopped_velocity_tolerance 0.05"
    )
    assert near.violation(zero, np.array([0.0, -0.2])) == (
        "elbow still moves with 0.2, more than the goal's goal_tolerance in velocity 0.1"
    )


def test_a_law_without_velocities_refuses_velocity_tolerances():
    """A negative tolerance of a goal, which is infinite here, removes that of the parameter."""
    settings = panda_settings(mode="gravity", trajectory__stopped_velocity_tolerance=0.1)
    parameters = ToleranceParameters(settings, JOINTS)
    with pytest.raises(TrajectoryRefusedError, match="gravity does not read"):
        parameters.of(JOINTS, TrajectoryGoal())
    parameters.of(JOINTS, TrajectoryGoal(goal_velocity=dict.fromkeys(JOINTS, np.inf)))


def test_a_list_must_fit_the_joints():
    with pytest.raises(ValueError, match="stopped_velocity_tolerance"):
        of(trajectory__stopped_velocity_tolerance=(0.1, 0.1, 0.1))

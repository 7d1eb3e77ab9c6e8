"""Messages of trajectories: the common part of ~/trajectory and the action FollowJointTrajectory,
and the action's tolerances, results and feedback."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..control.references.trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryProgress,
    TrajectoryRefusedError,
)
from ..control.references.waypoint_spline import Waypoint
from .serialized_messages import nanoseconds

CODES = {
    TrajectoryEnd.SUCCEEDED: 0,
    TrajectoryEnd.CANCELLED: 0,
    TrajectoryEnd.STOPPED: -1,
    TrajectoryEnd.REPLACED: -1,
    TrajectoryEnd.INVALID_GOAL: -1,
    TrajectoryEnd.INVALID_JOINTS: -2,
    TrajectoryEnd.OLD_HEADER_TIMESTAMP: -3,
    TrajectoryEnd.PATH_TOLERANCE_VIOLATED: -4,
    TrajectoryEnd.GOAL_TOLERANCE_VIOLATED: -5,
}
"""The error code of each end. The action has none for a stop or a replacement: they have INVALID_GOAL, as in
`joint_trajectory_controller`."""


def action_kind() -> Any:
    """The class of the action FollowJointTrajectory; None if this installation lacks it."""
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        return None
    return FollowJointTrajectory


def waypoints_of(message: JointTrajectory) -> list[Waypoint]:
    """The points of a trajectory. TrajectoryRefusedError: they have efforts."""
    if any(len(point.effort) for point in message.points):
        raise TrajectoryRefusedError("its points have efforts, which are not followed")
    return [
        Waypoint(
            nanoseconds(point.time_from_start) * 1e-9,
            point.positions,
            point.velocities,
            point.accelerations,
        )
        for point in message.points
    ]


def delay_of(message: JointTrajectory, now: int) -> float:
    """The time until the start of a trajectory [s], at a time of the node's clock [ns]. A stamp of 0 is now."""
    stamp = nanoseconds(message.header.stamp)
    return (stamp - now) * 1e-9 if stamp else 0.0


def fill_tolerances(goal: TrajectoryGoal, request: Any) -> None:
    """Read the tolerances of an action's goal. TrajectoryRefusedError: the node cannot check them."""
    extra = request.component_path_tolerance or request.component_goal_tolerance
    if extra or request.multi_dof_trajectory.points or request.multi_dof_trajectory.joint_names:
        raise TrajectoryRefusedError(
            "it has a multi_dof_trajectory or tolerances of components, which are not followed"
        )
    for which, tolerances, far, fast in (
        ("path_tolerance", request.path_tolerance, goal.path, goal.path_velocity),
        ("goal_tolerance", request.goal_tolerance, goal.goal, goal.goal_velocity),
    ):
        names = [tolerance.name for tolerance in tolerances]
        for tolerance in tolerances:
            _check_tolerance(which, tolerance, names)
            for bound, read in ((tolerance.position, far), (tolerance.velocity, fast)):
                if bound:  # 0 means the parameter's value, a negative number means no tolerance
                    read[tolerance.name] = bound if bound > 0.0 else math.inf
    wait = nanoseconds(request.goal_time_tolerance) * 1e-9
    if wait:
        goal.goal_time = max(wait, 0.0)


def _check_tolerance(which: str, tolerance: Any, names: Sequence[str]) -> None:
    if names.count(tolerance.name) > 1:
        raise TrajectoryRefusedError(f"{which} names {tolerance.name} twice")
    if math.isnan(tolerance.position) or math.isnan(tolerance.velocity):
        raise TrajectoryRefusedError(f"{which} of {tolerance.name} is not a number")
    if not tolerance.acceleration <= 0.0:
        raise TrajectoryRefusedError(
            f"{which} of {tolerance.name} bounds accelerations, which the node does not measure: set it to 0"
        )


def result_message(kind: Any, goal: TrajectoryGoal) -> Any:
    """The result of a goal that has ended."""
    assert goal.end is not None
    return kind.Result(error_code=CODES[goal.end], error_string=goal.text)


def feedback_message(kind: Any, progress: TrajectoryProgress, stamp: Any) -> Any:
    """The feedback of a goal that moves."""
    message = kind.Feedback(joint_names=list(progress.names))
    message.header.stamp = stamp
    message.desired = _point(progress.desired, progress.time)
    message.actual = _point(progress.measured, progress.time)
    message.error = _point(progress.error, progress.time)
    if hasattr(message, "index"):  # control_msgs 6.3 and later
        message.index = progress.point
    return message


def _point(numbers: Sequence[np.ndarray], time: float) -> JointTrajectoryPoint:
    """A point with positions, velocities and, where there are any, accelerations."""
    q, v, a = [*(each.tolist() for each in numbers), []][:3]
    whole = math.floor(time)
    since = Duration(sec=whole, nanosec=int((time - whole) * 1e9))
    return JointTrajectoryPoint(positions=q, velocities=v, accelerations=a, time_from_start=since)

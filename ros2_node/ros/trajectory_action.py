"""The action FollowJointTrajectory of each robot: goals, their cancellation, feedback and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from ..control.references.trajectory_follower import TrajectoryFollower
from ..control.references.trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryRefusedError,
)
from ..control.robot import Robot
from ..control.robot_references import NOT_FOLLOWED
from ..control.safety.gate import Phase
from .topics import RobotNames
from .trajectory_messages import (
    action_kind,
    delay_of,
    feedback_message,
    fill_tolerances,
    result_message,
    waypoints_of,
)
from .wiring import Wiring

NAME = "follow_joint_trajectory"
CANCELLED_BY_OTHERS = (
    "aborted: a message without points on ~/trajectory, or another client, has cancelled it"
)
FEEDBACK_PERIOD = 0.05
"""Time between two feedbacks of a goal [s]."""


@dataclass(eq=False)
class _OpenGoal:
    """A goal of the action that has no result yet."""

    robot: int
    handle: Any
    goal: TrajectoryGoal
    result: Future
    follower: TrajectoryFollower | None = None
    feedback_at: float = -math.inf
    """The time of the last feedback [s]."""


class TrajectoryAction:
    """`~/follow_joint_trajectory` of each robot.

    The node's timer calls `report`, which sends feedback and results, so that neither delays a command. A goal that is
    refused is accepted first and then aborted, because a rejection in ROS 2 has no text.

    robots: function that returns the running robots, none before there is a model. now: function
    for the watchdog's time [s].
    """

    def __init__(
        self,
        node: Node,
        wiring: Wiring,
        names: Sequence[RobotNames],
        robots: Callable[[], Sequence[Robot]],
        now: Callable[[], float],
    ) -> None:
        self._robots, self._now, self._clock = robots, now, node.get_clock()
        self._log = node.get_logger()
        self._open: list[_OpenGoal] = []
        self._results: dict[bytes, Future] = {}
        """Results that `_result` has not begun to wait for, by the goal's number."""
        self._kind = action_kind()
        if self._kind is None:
            self._log.info(
                f"no ~/{NAME}: this installation lacks control_msgs/FollowJointTrajectory; ~/trajectory works"
            )
            return
        for i, (_, private) in enumerate(names):
            wiring.serve_action(
                self._kind,
                private + NAME,
                begin=self._begin,
                cancel=self._cancel,
                result=self._result,
                robot=i,
            )

    def report(self) -> None:
        """Send the results of goals that have ended, and feedback of the others."""
        if not self._open:
            return
        now, robots = self._now(), self._robots()
        for each in list(self._open):
            robot = robots[each.robot] if each.robot < len(robots) else None
            if each.goal.end is None:
                self._look(each, robot, now)
            if each.goal.end is not None:
                self._open.remove(each)
                self._finish(each, robot)

    def _begin(self, i: int, handle: Any) -> None:
        """Follow a goal, or store the reason for refusing it."""
        each = _OpenGoal(i, handle, TrajectoryGoal(), Future())
        self._open.append(each)
        self._results[bytes(handle.goal_id.uuid)] = each.result
        handle.execute()
        robots = self._robots()
        try:
            if not robots:
                raise TrajectoryRefusedError("the node has no model yet")
            self._follow(each, robots[i], handle.request)
        except TrajectoryRefusedError as error:
            each.goal.finish(error.end, str(error))
            if robots:
                robots[i].trajectory.refuse(str(error))
        if each.goal.end is not None:
            text = f"~/{NAME} refused: {each.goal.text}"
            self._log.warning(text, throttle_duration_sec=1.0)

    def _follow(self, each: _OpenGoal, robot: Robot, request: Any) -> None:
        message = request.trajectory
        if not message.points:
            raise TrajectoryRefusedError("it has no points: cancel a goal to stop the robot")
        fill_tolerances(each.goal, request)
        waypoints, delay = waypoints_of(message), delay_of(message, self._clock.now().nanoseconds)
        each.follower = robot.trajectory
        enabled = robot.gate.phase is Phase.ENABLED
        robot.references.refer_trajectory(
            message.joint_names, waypoints, delay, self._now(), enabled, each.goal
        )

    def _cancel(self, i: int, handle: Any) -> None:
        """Decelerate to rest, as an empty message on ~/trajectory does."""
        for each in self._open:
            if bytes(each.handle.goal_id.uuid) == bytes(handle.goal_id.uuid) and each.follower:
                each.follower.withdraw(each.goal, self._now())

    async def _result(self, handle: Any) -> Any:
        """The result of a goal, once `report` has it."""
        return await self._results.pop(bytes(handle.goal_id.uuid))

    def _look(self, each: _OpenGoal, robot: Robot | None, now: float) -> None:
        """End a goal that its robot no longer follows, or send its feedback."""
        if robot is None or robot.trajectory is not each.follower:
            each.goal.finish(TrajectoryEnd.STOPPED, "aborted: another model has replaced the robot")
            return
        if robot.gate.phase is not Phase.ENABLED:  # states may have stopped as well
            robot.trajectory.end(NOT_FOLLOWED)
            each.goal.finish(TrajectoryEnd.STOPPED, NOT_FOLLOWED)
            return
        progress = robot.trajectory.progress(each.goal, now, robot.state)
        # The clock of a simulation may jump back.
        if progress is not None and abs(now - each.feedback_at) >= FEEDBACK_PERIOD:
            each.feedback_at = now
            stamp = self._clock.now().to_msg()
            each.handle.publish_feedback(feedback_message(self._kind, progress, stamp))

    def _finish(self, each: _OpenGoal, robot: Robot | None) -> None:
        """Send a result, with the reason of a stop."""
        goal = each.goal
        if goal.end is TrajectoryEnd.CANCELLED and not each.handle.is_cancel_requested:
            goal.end, goal.text = TrajectoryEnd.STOPPED, CANCELLED_BY_OTHERS
        elif goal.text == NOT_FOLLOWED and robot is not None and robot.gate.reason:
            goal.text += f": {robot.gate.reason}"
        if goal.end is TrajectoryEnd.SUCCEEDED:
            each.handle.succeed()
        elif goal.end is TrajectoryEnd.CANCELLED:
            each.handle.canceled()
        else:
            each.handle.abort()
        each.result.set_result(result_message(self._kind, goal))

"""The topics with trajectories of joints, and with the state of the last one; the action next to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ..control.references.trajectory_goal import TrajectoryRefusedError
from ..control.robot import Robot
from .topics import LATCHED, RELIABLE, RobotNames
from .trajectory_action import TrajectoryAction
from .trajectory_messages import delay_of, waypoints_of
from .wiring import Wiring

LARGEST = 1 << 20
"""Largest size of a trajectory [B]: reading it delays the commands."""


class TrajectoryTopics:
    """`~/trajectory`, `~/trajectory_status` and `~/follow_joint_trajectory` of each robot.

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
        self._status: list[Any] = []
        self._published = [""] * len(names)
        for i, (_, private) in enumerate(names):
            topic = private + "trajectory"
            wiring.subscribe(JointTrajectory, topic, RELIABLE, self._on_bytes, robot=i, raw=True)
            self._status.append(node.create_publisher(String, topic + "_status", LATCHED))

        self._action = TrajectoryAction(node, wiring, names, robots, now)

    def report(self) -> None:
        """Publish each status that has changed, and what the action has to tell."""
        self._action.report()
        for i, robot in enumerate(self._robots()):
            if (status := robot.trajectory.status) is not self._published[i]:
                self._published[i] = status
                self._status[i].publish(String(data=status))

    def _on_bytes(self, i: int, data: bytes) -> None:
        robots = self._robots()
        if not robots:
            return
        if len(data) > LARGEST:
            robots[i].trajectory.refuse(f"the message has {len(data)} bytes, more than {LARGEST}")
            return
        try:
            message = deserialize_message(data, JointTrajectory)
        except Exception:  # any error of rclpy for bytes that are not JointTrajectory
            robots[i].trajectory.refuse("the message is not a trajectory_msgs/JointTrajectory")
            return
        refusal = self._read(robots[i], message)
        if refusal is not None:
            self._log.warning(f"~/trajectory refused: {refusal}", throttle_duration_sec=1.0)

    def _read(self, robot: Robot, message: JointTrajectory) -> str | None:
        try:
            waypoints = waypoints_of(message)
        except TrajectoryRefusedError as error:
            return robot.trajectory.refuse(str(error))
        delay = delay_of(message, self._clock.now().nanoseconds)
        return robot.refer_trajectory(message.joint_names, waypoints, delay, self._now())

"""Teleoperation node between an arm that is led by hand and an arm that follows.

The leader's node has the law "teaching", the follower's "joint_impedance". The leader's
joint_states become the follower's references. With `feedback`, the follower's become the leader's,
so that the hand feels the follower's contacts through the law's input `coupling`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .running import run_demo_node

FRESH = 0.1
"""Oldest state that is passed on [s]; without references the other arm comes to rest."""
LAST = QoSProfile(depth=1)


class Side:
    """One arm's latest state, which is the other arm's reference."""

    def __init__(self, node: Node, arm: str, other: str, joints: list[str]) -> None:
        self._joints = joints
        self._message: JointState | None = None
        self._arrived = 0.0
        node.create_subscription(JointState, f"{arm}/joint_states", self._on_state, LAST)
        self._references = node.create_publisher(
            JointTrajectory, f"{other}/warpdyn/reference", LAST
        )

    def _on_state(self, message: JointState) -> None:
        self._message, self._arrived = message, time.monotonic()

    def forward_state(self) -> None:
        """Send the state if it is fresh and has the joints."""
        message = self._message
        if message is None or time.monotonic() - self._arrived > FRESH:
            return
        names = list(message.name)
        if len(message.position) != len(names) or not set(self._joints) <= set(names):
            return
        rows = [names.index(name) for name in self._joints or names]
        point = JointTrajectoryPoint(positions=[message.position[k] for k in rows])
        if len(message.velocity) == len(names):
            point.velocities = [message.velocity[k] for k in rows]
        self._references.publish(
            JointTrajectory(joint_names=[names[k] for k in rows], points=[point])
        )


class Teleoperation(Node):
    """Node between two arms. Parameters: `leader` and `follower`, the namespaces of the two arms;
    `joints`, those that are passed on (empty = all); `rate` of the references [Hz]; `feedback`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("teleoperation", **options)
        declare = self.declare_parameter
        leader, follower = (str(declare(name, name).value) for name in ("leader", "follower"))
        named: list[str] = list(declare("joints", [""]).value or ())
        joints = [name for name in named if name]
        rate = float(declare("rate", 250.0).value or 0.0)
        if not 1.0 <= rate <= 2000.0:
            raise ValueError(f"rate must lie in 1 .. 2000 Hz, got {rate:g}")
        self.sides = [Side(self, leader, follower, joints)]
        if declare("feedback", False).value:
            self.sides.append(Side(self, follower, leader, joints))
        self.create_timer(1.0 / rate, self._forward_states)

    def _forward_states(self) -> None:
        for side in self.sides:
            side.forward_state()


def main(args: list[str] | None = None) -> int:
    """Pass states on until SIGINT or SIGTERM."""
    return run_demo_node(Teleoperation, args=args)


if __name__ == "__main__":
    sys.exit(main())

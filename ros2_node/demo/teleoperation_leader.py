"""A simulated hand that leads an arm. Once torques arrive, it opens the brakes and pulls two joints
back and forth through a spring, like a person who watches the arm."""

from __future__ import annotations

import sys
from array import array
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from .running import run_demo_node

GRIP = 40.0, 6.0
"""Stiffness [N·m/rad] and damping [N·m·s/rad] of the grip."""


class Hand(Node):
    """Node of the hand. Parameters: `leader` and `follower`, namespaces of the two simulated arms;
    `joints`, the two joints that it moves; `swing` [rad] and `period` [s]; `command_joints`, the
    order of ~/push (empty = all joints of joint_states except those in `follows`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__("hand", **options)
        declare = self.declare_parameter
        arms = [str(declare(name, name).value) for name in ("leader", "follower")]
        self.joints: list[str] = list(
            declare("joints", ["panda_joint1", "panda_joint4"]).value or ()
        )
        self.swing = float(declare("swing", 0.3).value or 0.0)
        self.period = float(declare("period", 4.0).value or 4.0)
        follows: list[str] = list(declare("follows", ["panda_finger_joint2"]).value or ())
        named: list[str] = list(declare("command_joints", [""]).value or ())
        order = [name for name in named if name]
        self._order, self._follows = order, follows
        # The hand leads only once torques hold the arms, so it counts their commands.
        self._commanded = dict.fromkeys(arms, 0)
        self._brakes: dict[str, Any] = {
            arm: self.create_client(SetBool, f"{arm}/plant/brake") for arm in arms
        }
        self._asked: dict[str, Any] = {}
        self._open, self._begun = False, 0.0
        self._start: np.ndarray | None = None
        deep = QoSProfile(depth=10)
        for arm in arms:
            self.create_subscription(
                Float64MultiArray, f"{arm}/warpdyn/commands", lambda _, a=arm: self._count(a), deep
            )
        self.create_subscription(JointState, f"{arms[0]}/joint_states", self._on_state, deep)
        self._push = self.create_publisher(Float64MultiArray, f"{arms[0]}/plant/push", deep)
        self.create_timer(0.1, self._open_brakes)

    def _count(self, arm: str) -> None:
        self._commanded[arm] += 1

    def _open_brakes(self) -> None:
        """Open the brakes of an arm once a hundred of its commands have arrived."""
        if self._open:
            return
        for arm, brake in self._brakes.items():
            ready = self._commanded[arm] > 100 and brake.service_is_ready()
            if ready and arm not in self._asked:
                self._asked[arm] = brake.call_async(SetBool.Request(data=False))
        if len(self._asked) == len(self._brakes) and all(x.done() for x in self._asked.values()):
            self._open = True
            self.get_logger().info("the brakes are open: leading")

    def _on_state(self, message: JointState) -> None:
        if not self._open:
            return
        names = list(message.name)
        rows = [names.index(name) for name in self.joints]
        q, v = np.array(message.position)[rows], np.array(message.velocity)[rows]
        now = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if self._start is None:
            self._start, self._begun = q, now
        angle = 2.0 * np.pi * (now - self._begun) / self.period
        way = 0.5 * self.swing * np.array([1.0 - np.cos(angle), np.sin(angle) ** 2])
        stiffness, damping = GRIP
        order = self._order or [name for name in names if name not in self._follows]
        push = np.zeros(len(order))
        push[[order.index(name) for name in self.joints]] = (
            stiffness * (self._start + way - q) - damping * v
        )
        self._push.publish(Float64MultiArray(data=array("d", push.tobytes())))


def main(args: list[str] | None = None) -> int:
    """Lead until SIGINT or SIGTERM."""
    return run_demo_node(Hand, args=args)


if __name__ == "__main__":
    sys.exit(main())

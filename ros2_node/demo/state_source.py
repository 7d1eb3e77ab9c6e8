"""A joint_states publisher for tests: every joint of a robot swings within its limits.

It also publishes robot_description, latched like robot_state_publisher's, so that the node and RViz
need no file.
"""

from __future__ import annotations

import sys
import time
from array import array
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

import warpdyn as wd

from ..ros.messages import labelled_array
from ..ros.topics import LATCHED
from .named_robot import urdf_text
from .running import run_demo_node

SWING = 0.3
"""Share of a joint's range that the motion uses; joints without limits use one radian."""


class StateSource(Node):
    """Sines of different frequencies. With more than one robot in `robots`, it publishes a flat
    batch on ~/batch/state instead."""

    def __init__(self, **options: Any) -> None:
        super().__init__("state_source", **options)
        declare = self.declare_parameter
        robot = str(declare("robot", "panda").value)
        rate = float(declare("rate", 100.0).value or 100.0)
        self.robots = int(declare("robots", 1).value or 1)
        speed = float(declare("speed", 0.5).value or 0.0)
        text = urdf_text(robot)
        model = wd.load_urdf(text)
        lower, upper = (
            np.maximum(model.position_lower, -np.pi),
            np.minimum(model.position_upper, np.pi),
        )
        self._middle, self._half = (lower + upper) / 2, (upper - lower) / 2 * SWING
        # Different frequencies and phases, so that joints and robots do not move in step.
        self._omega = 2.0 * np.pi * speed * np.linspace(0.4, 1.0, model.nq)
        self._phase = np.linspace(0.0, 2.0 * np.pi, self.robots, endpoint=False)[:, None]
        self._descriptions = self.create_publisher(String, "robot_description", LATCHED)
        self._descriptions.publish(String(data=text))
        self._message = JointState(name=list(model.joint_names))
        if self.robots > 1:
            self._batches = self.create_publisher(
                Float64MultiArray, "~/batch/state", QoSProfile(depth=5)
            )
        else:
            self._states = self.create_publisher(JointState, "joint_states", QoSProfile(depth=10))
        self._begun = time.monotonic()
        self.create_timer(1.0 / rate, self._publish)

    def _publish(self) -> None:
        angle = (time.monotonic() - self._begun) * self._omega + self._phase
        q, v = self._middle + self._half * np.sin(angle), self._half * self._omega * np.cos(angle)
        if self.robots > 1:
            self._batches.publish(labelled_array(np.stack([q, v], axis=1), ("robot", "2", "dof")))
            return
        self._message.header.stamp = self.get_clock().now().to_msg()
        self._message.position, self._message.velocity = (
            array("d", q[0].tobytes()),
            array("d", v[0].tobytes()),
        )
        self._states.publish(self._message)


def main(args: list[str] | None = None) -> int:
    """Publish until SIGINT or SIGTERM."""
    return run_demo_node(StateSource, args=args)


if __name__ == "__main__":
    sys.exit(main())

"""The other side of the node: sends states at a fixed rate and listens for the answers."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_node.demo.processes import Client

from .arm import ARM, Q


class Driver(Client):
    """Sends states at a fixed rate and measures the time until the answer of each."""

    def __init__(self) -> None:
        super().__init__("driver")
        self.executor.remove_node(self.node)
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.deep = QoSProfile(depth=1000)
        self.arrivals: dict[str, list[float]] = {"echo": [], "node": []}
        node = self.node
        self.to = {
            "echo": node.create_publisher(JointState, "echo/joint_states", self.deep),
            "node": node.create_publisher(JointState, "joint_states", self.deep),
        }
        note = {name: self._noter(name) for name in self.arrivals}
        node.create_subscription(JointState, "echo/back", note["echo"], self.deep)
        node.create_subscription(Float64MultiArray, "warpdyn/commands", note["node"], self.deep)

    def _noter(self, name: str) -> Callable[[Any], None]:
        arrivals = self.arrivals[name]
        return lambda message: arrivals.append(time.perf_counter())

    def matched(self) -> None:
        """Wait until the node and the echo listen."""
        self.until(lambda: all(p.get_subscription_count() for p in self.to.values()), "matching")

    def answered(self, topic: str) -> None:
        """Wait until somebody publishes there."""
        self.until(lambda: self.node.count_publishers(topic), f"a publisher of {topic}")

    def block(self, name: str, number: int, rate: float) -> np.ndarray | None:
        """Round trips of `number` states at `rate` [s]; None when an answer was lost."""
        arrivals, sent = self.arrivals[name], []
        arrivals.clear()
        message = JointState(
            name=ARM,
            position=array("d", Q),
            velocity=array("d", [0.0] * 7),
            effort=array("d", [0.0] * 7),
        )
        publisher, clock = self.to[name], self.node.get_clock()
        due = time.perf_counter()
        for _ in range(number):
            message.header.stamp = clock.now().to_msg()
            sent.append(time.perf_counter())
            publisher.publish(message)
            due += 1.0 / rate
            while (left := due - time.perf_counter()) > 0.0:
                self.executor.spin_once(timeout_sec=left)
        end = time.perf_counter() + 2.0
        while len(arrivals) < number and time.perf_counter() < end:
            self.executor.spin_once(timeout_sec=0.01)
        return np.array(arrivals) - np.array(sent) if len(arrivals) == number else None

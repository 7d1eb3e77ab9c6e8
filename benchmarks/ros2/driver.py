"""Driver of the node: it sends states at a fixed rate and receives the answers."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_node.demo.processes import Client

from .arm import ARM, Q


class Driver(Client):
    """Send states at a fixed rate and measure the time until each answer."""

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

    def wait_until_matched(self) -> None:
        """Wait until the node and the echo listen."""
        self.until(lambda: all(p.get_subscription_count() for p in self.to.values()), "matching")

    def wait_for_publisher(self, topic: str) -> None:
        """Wait until a topic has a publisher."""
        self.until(lambda: self.node.count_publishers(topic), f"a publisher of {topic}")

    def block(self, name: str, number: int, rate: float) -> np.ndarray | None:
        """Round trips of `number` states at `rate` [s]; None if an answer is lost."""
        return self.alternating([name], number, rate)[name]

    def alternating(
        self, names: Sequence[str], number: int, rate: float
    ) -> dict[str, np.ndarray | None]:
        """Round trips [s] of `number` states at `rate` to each of several peers in turn.

        A pause of the machine then affects all of them equally. None for a peer that loses an answer.
        """
        message = JointState(
            name=ARM,
            position=array("d", Q),
            velocity=array("d", [0.0] * 7),
            effort=array("d", [0.0] * 7),
        )
        sent: dict[str, list[float]] = {name: [] for name in names}
        for name in names:
            self.arrivals[name].clear()
        clock, due = self.node.get_clock(), time.perf_counter()
        for k in range(number * len(names)):
            name = names[k % len(names)]
            message.header.stamp = clock.now().to_msg()
            sent[name].append(time.perf_counter())
            self.to[name].publish(message)
            due += 1.0 / (rate * len(names))
            while (left := due - time.perf_counter()) > 0.0:
                self.executor.spin_once(timeout_sec=left)
        end = time.perf_counter() + 2.0
        while (
            any(len(self.arrivals[name]) < number for name in names) and time.perf_counter() < end
        ):
            self.executor.spin_once(timeout_sec=0.01)
        return {
            name: np.array(self.arrivals[name]) - np.array(sent[name])
            if len(self.arrivals[name]) == number
            else None
            for name in names
        }

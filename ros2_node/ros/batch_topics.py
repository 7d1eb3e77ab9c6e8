"""The topics ~/batch/state and ~/batch/torques: many robots in one message."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from ..control.fleet import Fleet
from .messages import labelled_array, numbers
from .topics import RELIABLE, overridable

IDLE = 10.0
"""Time without a state after which the memory for many robots is released [s]."""


class BatchTopics:
    """Answers to flat states with their torques; rejected messages are counted with the first
    robot's."""

    def __init__(self, node: Node, counts: Counter[str]) -> None:
        self._counts, self._log = counts, node.get_logger()
        self._torques = node.create_publisher(
            Float64MultiArray, "~/batch/torques", RELIABLE, qos_overriding_options=overridable()
        )
        self._message = Float64MultiArray()
        self._answered = -np.inf

    def answer(self, fleet: Fleet, message: Float64MultiArray) -> bool:
        """Publish the torques for a state; False if it was rejected."""
        started = time.perf_counter()
        batch, dims = fleet.batch, [d.size for d in message.layout.dim]
        try:
            if message.layout.data_offset:
                raise ValueError(
                    f"layout.data_offset must be 0, got {message.layout.data_offset}: send no numbers "
                    "in front of the robots"
                )
            robots = batch.robots_in(len(message.data), dims)
        except ValueError as error:
            self._counts["batch_rejected"] += 1
            self._log.error(f"~/batch/state rejected: {error}", throttle_duration_sec=1.0)
            return False
        bad = batch.bad_robots
        state = np.frombuffer(message.data).reshape(robots, 2, fleet.dynamics.model.nv)
        torque = batch.compute(state)
        if batch.bad_robots != bad:
            self._counts["batch_bad_robot"] += batch.bad_robots - bad
        # The labels are written only if the number of robots has changed.
        if [d.size for d in self._message.layout.dim] != list(torque.shape):
            self._message = labelled_array(torque, ("robot", "dof"))
        else:
            self._message.data = numbers(torque)
        self._torques.publish(self._message)
        self._answered = time.monotonic()
        fleet.batch_timing.add(time.perf_counter() - started)
        return True

    def rest(self, fleet: Fleet, steady: float) -> bool:
        """Release the memory for many robots if no state has arrived for a while; True if it was
        released."""
        if steady - self._answered < IDLE or not fleet.batch.release():
            return False
        self._message = Float64MultiArray()
        return True

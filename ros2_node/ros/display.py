"""Outputs for people and planners, published at publish_frequency: the outputs of the table, for
robots with fresh states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String

from warpdyn.model import Model

from ..control.fleet import Fleet
from ..control.settings.node_settings import Settings
from .messages import labelled_array
from .outputs import OUTPUTS, Compute, WantedOutputs
from .publishers import Publishers
from .topics import LATCHED, RELIABLE, RobotNames


class Display:
    """The publishers of the wanted outputs."""

    def __init__(
        self, node: Node, robots: Sequence[RobotNames], settings: Settings, wanted: WantedOutputs
    ) -> None:
        self._settings = settings
        self._joint_names = node.create_publisher(String, "~/joint_names", LATCHED)
        self._open: list[tuple[Compute | None, Publishers]] = []
        for output in wanted.outputs:
            if not (settings.publish_frequency or output.latched):
                continue
            topics = [output.topics(names.private, settings) for names in robots]
            try:
                self._open.append((output.compute, output.publish(node, robots, topics, settings)))
            except ImportError:
                node.get_logger().warning(
                    f"{output.parameter} is true but {output.needs} is not installed: "
                    f"{output.name} is not published"
                )
        batch = "~/batch/"
        self._batch = [
            (o, o.batch, node.create_publisher(Float64MultiArray, batch + o.name, RELIABLE))
            for o in OUTPUTS
            if o.batch is not None
        ]
        self.batch_is_new = False

    def describe(self, model: Model, stamp: Time) -> None:
        """Publish the names of a new model, and other latched outputs."""
        for _, publishers in self._open:
            publishers.describe(model, stamp)
        self._joint_names.publish(String(data="\n".join(model.joint_names)))

    def show(self, fleet: Fleet, stamps: Sequence[Time], now: float) -> None:
        """Publish the outputs of robots with fresh states, and those of a batch that has not been
        published yet."""
        timeout = fleet.settings.state_timeout
        fresh = [i for i, robot in enumerate(fleet.robots) if robot.age(now) <= timeout]
        if fresh:
            self._show_robots(fleet, fresh, stamps)
        if self.batch_is_new:
            self._show_batch(fleet)

    def _show_robots(self, fleet: Fleet, fresh: Sequence[int], stamps: Sequence[Time]) -> None:
        values: dict[Compute, np.ndarray] = {}
        for compute, publishers in self._open:
            heard = [i for i in fresh if publishers.has_subscribers(i)]
            if compute is None or not heard:
                continue
            if compute not in values:
                values[compute] = compute(fleet.dynamics, self._settings)
            for i in heard:
                publishers.send(i, values[compute][i], stamps[i])

    def _show_batch(self, fleet: Fleet) -> None:
        for output, compute, publisher in self._batch:
            if output.is_requested(self._settings) and publisher.get_subscription_count():
                self.batch_is_new = False
                publisher.publish(labelled_array(compute(fleet.batch), output.batch_labels))

"""What is published for people and planners at publish_frequency: poses, TF, mass matrices, Jacobians."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String

from warpdyn import Model

from ..control.fleet import Fleet
from ..control.settings import Settings
from .topics import LAST, LATCHED, RobotTopics, Transforms, labelled


class Display:
    """Publishes for those robots whose state is fresh."""

    def __init__(
        self, node: Node, names: Sequence[str], topics: Sequence[RobotTopics], settings: Settings
    ) -> None:
        self._topics, self._settings = topics, settings
        self._batch_poses = node.create_publisher(Float64MultiArray, "~/batch/link_poses", LAST)
        self._joint_names = node.create_publisher(String, "~/joint_names", LATCHED)
        self._transforms: Transforms | None = None
        self.batch_is_new = False
        if settings.publish_tf:
            try:
                self._transforms = Transforms(
                    node, settings, [f"{name}/" if name else "" for name in names]
                )
            except ImportError:
                node.get_logger().warning(
                    "publish_tf is true but tf2_msgs is not installed: no /tf, all else goes on"
                )

    def describe(self, model: Model, stamp: Time) -> None:
        """A new model: its names, and its fixed transforms."""
        for topics in self._topics:
            topics.describe(model)
        if self._transforms:
            self._transforms.describe(model, stamp)
        self._joint_names.publish(String(data="\n".join(model.joint_names)))

    def show(self, fleet: Fleet, stamps: Sequence[Time], now: float) -> None:
        timeout = fleet.settings.state_timeout
        fresh = [i for i, robot in enumerate(fleet.robots) if robot.states.age(now) <= timeout]
        if fresh:
            self._show_robots(fleet, fresh, stamps)
        if (
            self.batch_is_new
            and self._settings.publish_link_poses
            and self._batch_poses.get_subscription_count()
        ):
            self.batch_is_new = False
            self._batch_poses.publish(labelled(fleet.batch.poses(), ("robot", "link", "7")))

    def _show_robots(self, fleet: Fleet, fresh: Sequence[int], stamps: Sequence[Time]) -> None:
        settings, dynamics = self._settings, fleet.dynamics
        if settings.publish_link_poses or settings.tip_links or self._transforms:
            poses = dynamics.poses()
            for i in fresh:
                self._topics[i].send_poses(poses[i], dynamics.model, stamps[i])
                if self._transforms:
                    self._transforms.send(i, poses[i], stamps[i])
        if settings.publish_mass_matrix:
            matrices = dynamics.mass_matrix()
            for i in fresh:
                publisher = self._topics[i].mass_matrix
                if publisher is not None:
                    publisher.publish(labelled(matrices[i], ("dof", "dof")))
        for link in settings.jacobian_links:
            jacobians = dynamics.jacobian(link)
            for i in fresh:
                self._topics[i].jacobians[link].publish(
                    labelled(jacobians[i], ("linear_angular", "dof"))
                )

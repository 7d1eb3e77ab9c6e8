"""Publishers that turn results into messages: link names and poses, transforms, labelled arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, PoseArray, PoseStamped
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, String

from warpdyn.functions.poses import matrix_to_quaternion
from warpdyn.model import Model

from ..control.settings.node_settings import Settings
from .messages import fill_pose, labelled_array, transform
from .topics import LATCHED, MANY, RELIABLE, RobotNames, frame_prefix

Topics = Sequence[Sequence[str]]
"""The topic's name for each robot and, within, for each link."""


class Publishers:
    """One output of all robots, with messages of one `kind`."""

    kind: type
    qos = RELIABLE

    def __init__(
        self, node: Node, robots: Sequence[RobotNames], topics: Topics, settings: Settings
    ) -> None:
        self._publishers: list[list[Any]] = [
            [node.create_publisher(self.kind, topic, self.qos) for topic in names]
            for names in topics
        ]
        self._prefixes = [frame_prefix(settings, names) for names in robots]

    def describe(self, model: Model, stamp: Time) -> None:
        """Prepare for a model; latched messages are published now."""

    def has_subscribers(self, robot: int) -> bool:
        """True if one robot's value has subscribers and is therefore worth computing."""
        return any(publisher.get_subscription_count() for publisher in self._publishers[robot])

    def send(self, robot: int, value: np.ndarray, stamp: Time) -> None:
        """Publish one robot's value."""


class LinkNames(Publishers):
    """Link names, one per line, latched, in the order of the link poses. Published once per model."""

    kind, qos = String, LATCHED

    def describe(self, model: Model, stamp: Time) -> None:
        for (publisher,) in self._publishers:
            publisher.publish(String(data="\n".join(model.link_names)))

    def has_subscribers(self, robot: int) -> bool:
        return False


class LinkPoses(Publishers):
    """Every link's pose in the root link, in one message for each robot, if there are
    subscribers."""

    kind = PoseArray

    def describe(self, model: Model, stamp: Time) -> None:
        self._message = PoseArray(poses=[Pose() for _ in model.link_names])
        self._frames = [prefix + model.root for prefix in self._prefixes]

    def send(self, robot: int, value: np.ndarray, stamp: Time) -> None:
        """Publish one robot's poses. value: (nlinks, 7)."""
        if not self.has_subscribers(robot):
            return
        (publisher,) = self._publishers[robot]
        self._message.header.stamp = stamp
        self._message.header.frame_id = self._frames[robot]
        for message, pose in zip(self._message.poses, value.tolist(), strict=True):
            fill_pose(message, pose)
        publisher.publish(self._message)


class TipPoses(Publishers):
    """The poses of some links, one topic for each."""

    kind = PoseStamped

    def __init__(
        self, node: Node, robots: Sequence[RobotNames], topics: Topics, settings: Settings
    ) -> None:
        super().__init__(node, robots, topics, settings)
        self._links = settings.tip_links

    def describe(self, model: Model, stamp: Time) -> None:
        self._rows = [model.link_index(link) for link in self._links]
        self._frames = [prefix + model.root for prefix in self._prefixes]

    def send(self, robot: int, value: np.ndarray, stamp: Time) -> None:
        """Publish one robot's poses. value: (nlinks, 7)."""
        for publisher, row in zip(self._publishers[robot], self._rows, strict=True):
            message = PoseStamped()
            message.header.stamp = stamp
            message.header.frame_id = self._frames[robot]
            fill_pose(message.pose, value[row].tolist())
            publisher.publish(message)


class Arrays(Publishers):
    """Arrays with named dimensions, one topic for each entry of the first dimension."""

    kind = Float64MultiArray

    def __init__(self, labels: Sequence[str], *others: Any) -> None:
        super().__init__(*others)
        self._labels = labels

    def send(self, robot: int, value: np.ndarray, stamp: Time) -> None:
        """Publish one robot's arrays. value: (topics, ...)."""
        for publisher, x in zip(self._publishers[robot], value, strict=True):
            publisher.publish(labelled_array(x, self._labels))


class Transforms(Publishers):
    """Transforms on /tf, and on /tf_static for the fixed joints; ImportError if tf2_msgs is not
    installed."""

    def __init__(
        self, node: Node, robots: Sequence[RobotNames], topics: Topics, settings: Settings
    ) -> None:
        from tf2_msgs.msg import TFMessage

        self._type = TFMessage
        self._prefixes = [frame_prefix(settings, names) for names in robots]
        self._moving = node.create_publisher(TFMessage, "/tf", MANY)
        self._static = node.create_publisher(TFMessage, "/tf_static", LATCHED)

    def describe(self, model: Model, stamp: Time) -> None:
        self._pairs = [(j.parent, j.child) for j in model.joints if j.kind.nv]
        fixed = [j for j in model.joints if not j.kind.nv]
        poses: list[list[float]] = []
        if fixed:
            rotations = np.array([j.pose.rotation for j in fixed], dtype=float)
            positions = np.array([j.pose.position for j in fixed], dtype=float)
            poses = np.hstack([positions, matrix_to_quaternion(rotations)]).tolist()
        transforms = [
            transform(prefix + joint.parent, prefix + joint.child, pose, stamp)
            for prefix in self._prefixes
            for joint, pose in zip(fixed, poses, strict=True)
        ]
        self._static.publish(self._type(transforms=transforms))

    def has_subscribers(self, robot: int) -> bool:
        return bool(self._moving.get_subscription_count())

    def send(self, robot: int, value: np.ndarray, stamp: Time) -> None:
        """Publish one robot's transforms. value: (moving joints, 7), each child in its parent."""
        prefix = self._prefixes[robot]
        transforms = [
            transform(prefix + parent, prefix + child, pose, stamp)
            for (parent, child), pose in zip(self._pairs, value.tolist(), strict=True)
        ]
        self._moving.publish(self._type(transforms=transforms))

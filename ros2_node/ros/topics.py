"""Publishers of one robot, and arrays as messages."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, PoseArray, PoseStamped, TransformStamped
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String

from warpdyn import Model

from ..control.dynamics import quaternions
from ..control.settings import Settings

LAST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
MANY = QoSProfile(depth=100)


def overridable() -> QoSOverridingOptions:
    """Lets parameters `qos_overrides.<topic>...` change history, depth and reliability."""
    return QoSOverridingOptions.with_default_policies()


class RobotTopics:
    """What one robot publishes. `outer` begins its public names ("r0/" or nothing), `own` those of the node."""

    def __init__(
        self,
        node: Node,
        outer: str,
        own: str,
        settings: Settings,
        events: Callable[[str], PublisherEventCallbacks],
    ) -> None:
        self.outer, self.own = outer, own
        self._settings = settings
        self._node = node
        wanted = settings.publish_frequency > 0.0
        self.commands = node.create_publisher(
            Float64MultiArray,
            own + "commands",
            RELIABLE,
            event_callbacks=events(own + "commands"),
            qos_overriding_options=overridable(),
        )
        self.torques = node.create_publisher(
            JointState,
            own + "torques",
            RELIABLE,
            event_callbacks=events(own + "torques"),
            qos_overriding_options=overridable(),
        )
        self.link_poses = self.link_names = self.mass_matrix = None
        if wanted and settings.publish_link_poses:
            self.link_poses = node.create_publisher(PoseArray, own + "link_poses", LAST)
            self.link_names = node.create_publisher(String, own + "link_names", LATCHED)
        if wanted and settings.publish_mass_matrix:
            self.mass_matrix = node.create_publisher(
                Float64MultiArray, own + "mass_matrix", RELIABLE
            )
        self.tips = {
            link: node.create_publisher(PoseStamped, f"{own}poses/{topic_word(link)}", LAST)
            for link in (settings.tip_links if wanted else ())
        }
        self.jacobians = {
            link: node.create_publisher(
                Float64MultiArray, f"{own}jacobian/{topic_word(link)}", RELIABLE
            )
            for link in (settings.jacobian_links if wanted else ())
        }
        self._command = Float64MultiArray()
        self._torque = JointState()
        self._poses = PoseArray()

    def describe(self, model: Model) -> None:
        """Prepare for a model, and say its link names to whoever comes."""
        self._torque.name = [name for name in model.joint_names if model.joint(name).kind.nv == 1]
        self._columns = np.array(model.v_indices(self._torque.name), dtype=int)
        self._all = bool(len(self._columns) == model.nv)
        self._poses.poses = [Pose() for _ in model.link_names]
        self._poses.header.frame_id = self._settings.frame_prefix + model.root
        if self.link_names is not None:
            self.link_names.publish(String(data="\n".join(model.link_names)))

    def send_command(self, command: np.ndarray) -> None:
        self._command.data = array("d", command.tobytes())
        self.commands.publish(self._command)

    def send_torque(self, torque: np.ndarray, stamp: Time) -> None:
        if not self.torques.get_subscription_count():
            return
        self._torque.header.stamp = stamp
        self._torque.effort = array("d", (torque if self._all else torque[self._columns]).tobytes())
        self.torques.publish(self._torque)

    def send_poses(self, T: np.ndarray, model: Model, stamp: Time) -> None:
        """T: (nlinks, 4, 4) in the root link."""
        if self.link_poses is not None and self.link_poses.get_subscription_count():
            self._poses.header.stamp = stamp
            for pose, (x, y, z), quaternion in zip(
                self._poses.poses,
                T[:, :3, 3].tolist(),
                quaternions(T[:, :3, :3]).tolist(),
                strict=True,
            ):
                _fill(pose, x, y, z, quaternion)
            self.link_poses.publish(self._poses)
        for link, publisher in self.tips.items():
            message = PoseStamped()
            message.header.stamp = stamp
            message.header.frame_id = self._poses.header.frame_id
            row = T[model.link_index(link)]
            x, y, z = row[:3, 3].tolist()
            _fill(message.pose, x, y, z, quaternions(row[:3, :3]).tolist())
            publisher.publish(message)


class Transforms:
    """/tf and /tf_static, where tf2_msgs is installed."""

    def __init__(self, node: Node, settings: Settings, prefixes: Sequence[str]) -> None:
        from tf2_msgs.msg import TFMessage

        self._type = TFMessage
        self._prefixes = [settings.frame_prefix + p for p in prefixes]
        self._moving = node.create_publisher(TFMessage, "/tf", MANY)
        self._static = node.create_publisher(TFMessage, "/tf_static", LATCHED)

    def describe(self, model: Model, stamp: Time) -> None:
        """Publish the fixed joints' transforms."""
        self._pairs = [
            (model.link_index(j.parent), model.link_index(j.child), j.parent, j.child)
            for j in model.joints
            if j.kind.nv
        ]
        fixed = []
        for prefix in self._prefixes:
            for joint in (j for j in model.joints if not j.kind.nv):
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = joint.pose.rotation, joint.pose.position
                fixed.append(_transform(T, prefix + joint.parent, prefix + joint.child, stamp))
        self._static.publish(self._type(transforms=fixed))

    def send(self, robot: int, T: np.ndarray, stamp: Time) -> None:
        """T: (nlinks, 4, 4) in the root link."""
        prefix = self._prefixes[robot]
        parents, children = (
            T[[p for p, _, _, _ in self._pairs]],
            T[[c for _, c, _, _ in self._pairs]],
        )
        inverse = np.linalg.inv(parents)
        self._moving.publish(
            self._type(
                transforms=[
                    _transform(X, prefix + parent, prefix + child, stamp)
                    for X, (_, _, parent, child) in zip(
                        inverse @ children, self._pairs, strict=True
                    )
                ]
            )
        )


def labelled(data: np.ndarray, labels: Sequence[str]) -> Float64MultiArray:
    """An array with its dimensions named, row-major."""
    message = Float64MultiArray()
    sizes = data.shape
    strides = [int(np.prod(sizes[i:])) for i in range(len(sizes))]
    message.layout.dim = [
        MultiArrayDimension(label=label, size=size, stride=stride)
        for label, size, stride in zip(labels, sizes, strides, strict=True)
    ]
    message.data = array("d", np.ascontiguousarray(data, dtype=float).tobytes())
    return message


def topic_word(name: str) -> str:
    """A link's name as part of a topic's: letters, digits and underscores, not beginning with a digit."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return "_" + word if word[:1].isdigit() else word


def nanoseconds(stamp: Time) -> int:
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def _fill(pose: Pose, x: float, y: float, z: float, quaternion: list[float]) -> None:
    position, orientation = pose.position, pose.orientation
    position.x, position.y, position.z = x, y, z
    orientation.x, orientation.y, orientation.z, orientation.w = quaternion


def _transform(T: np.ndarray, parent: str, child: str, stamp: Time) -> Any:
    message = TransformStamped()
    message.header.stamp, message.header.frame_id, message.child_frame_id = stamp, parent, child
    move, turn = message.transform.translation, message.transform.rotation
    move.x, move.y, move.z = T[:3, 3].tolist()
    turn.x, turn.y, turn.z, turn.w = quaternions(T[:3, :3]).tolist()
    return message

"""QoS of the node's topics, their names, and the two topics for torques."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from warpdyn.model import Model

from ..control.settings.node_settings import Settings
from .commands import command_message
from .serialized_messages import NumbersWriter

LAST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
MANY = QoSProfile(depth=100)
LOOK = 0.01
"""Time between two checks for subscribers of ~/torques [s], because a check takes as long as two
launches."""


def overridable() -> QoSOverridingOptions:
    """Options with which parameters `qos_overrides.<topic>...` change history, depth and
    reliability."""
    return QoSOverridingOptions.with_default_policies()


class RobotNames(NamedTuple):
    """Prefixes of one robot's topics."""

    outer: str
    """Prefix of its public names: "r0/", or nothing."""
    private: str
    """Prefix of the node's names for it: "r0/warpdyn/", or "~/"."""


def frame_prefix(settings: Settings, names: RobotNames) -> str:
    """Prefix of the names of one robot's frames, in poses, wrenches and transforms."""
    return settings.frame_prefix + names.outer


class TorqueTopics:
    """The topics ~/commands and ~/torques of one robot."""

    def __init__(
        self,
        node: Node,
        names: RobotNames,
        events: Callable[[str], PublisherEventCallbacks],
        kind: type = Float64MultiArray,
    ) -> None:
        """kind: the message of ~/commands."""
        self._node, self._kind = node, kind
        self._stamped = hasattr(kind, "header")
        self.commands_topic = names.private + "commands"
        self.commands: Any = node.create_publisher(
            kind,
            self.commands_topic,
            RELIABLE,
            event_callbacks=events(self.commands_topic),
            qos_overriding_options=overridable(),
        )
        self.torques = node.create_publisher(
            JointState,
            names.private + "torques",
            RELIABLE,
            event_callbacks=events(names.private + "torques"),
            qos_overriding_options=overridable(),
        )
        self._heard, self._looked = False, -LOOK

    @property
    def unheard(self) -> str:
        """A message if ~/commands has no subscriber; otherwise empty."""
        if self.commands.get_subscription_count():
            return ""
        return f"nobody subscribes to {self.commands_topic}: no controller gets the torques"

    def describe(self, model: Model, joints: Sequence[str]) -> None:
        """Prepare for a model and the command joints; ~/torques has the joints with one velocity
        each."""
        message, field = command_message(self._kind, joints)
        self._command = NumbersWriter(message, field, len(joints))
        names = [name for name in model.joint_names if model.joint(name).kind.nv == 1]
        self._torque = NumbersWriter(JointState(name=names), "effort", len(names))
        self._columns = np.array(model.v_indices(names), dtype=int)
        self._all = bool(len(self._columns) == model.nv)

    def send_command(self, command: np.ndarray) -> None:
        """Publish torques, in the order of the command joints."""
        stamp = self._node.get_clock().now().to_msg() if self._stamped else None
        self.commands.publish(self._command.message_with(command, stamp))

    def send_torque(self, torque: np.ndarray, stamp: Any) -> None:
        """Publish torques (nv,) with the stamp of the state, if there are subscribers."""
        now = time.monotonic()
        if now - self._looked >= LOOK:
            self._heard, self._looked = bool(self.torques.get_subscription_count()), now
        if self._heard:
            shown = torque if self._all else torque[self._columns]
            self.torques.publish(self._torque.message_with(shown, stamp))

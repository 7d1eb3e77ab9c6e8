"""Topics for a policy: the pose of its robot's base, and the commanded speeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import Twist

from ..control.settings.node_settings import Settings
from ..control.torques.policy_law import policy_and_task
from .messages import base_motion
from .serialized_messages import nanoseconds
from .topics import LAST, RobotNames, RobotTopics, overridable
from .wiring import Wiring


class PolicyTopics(RobotTopics):
    """`odom` and `cmd_vel` of each robot, if the policy's task needs them; none without a policy."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe, if the settings ask for it."""
        if not settings.policy:
            return
        _, task = policy_and_task(settings.policy, settings.policy_task)
        topics: list[tuple[type, str, Callable[..., None]]] = []
        if task.model.floating_base:
            topics.append((_odometry(), "odom", self._on_odometry))
        if task.commanded:
            topics.append((Twist, "cmd_vel", self._on_speeds))
        for i, (outer, _) in enumerate(names):
            for kind, name, function in topics:
                override = overridable()
                wiring.subscribe(kind, outer + name, LAST, function, robot=i, override=override)

    def _on_odometry(self, i: int, message: Any) -> None:
        if not (robots := self._robots()):
            return
        stamp = nanoseconds(message.header.stamp)
        robots[i].read_base(message.child_frame_id, base_motion(message), stamp, self._now())

    def _on_speeds(self, i: int, message: Twist) -> None:
        if robots := self._robots():
            linear, angular = message.linear, message.angular
            robots[i].read_speeds(linear.x, linear.y, angular.z, self._now())


def _odometry() -> type:
    """The message's class; its package is not always installed."""
    try:
        from nav_msgs.msg import Odometry
    except ImportError as error:
        raise ValueError(
            "policy needs nav_msgs for odom, which is not installed: install the ROS package nav_msgs, or "
            "pip install ros-nav-msgs"
        ) from error
    return Odometry  # type: ignore[no-any-return]

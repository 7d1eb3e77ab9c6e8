"""The topic with the desired pose of a robot's frame for a law."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import PoseStamped

from ..control.settings.node_settings import Settings
from ..control.torques.law import kernel_of_law
from .topics import RELIABLE, RobotNames, RobotTopics
from .wiring import Wiring


class PoseTopics(RobotTopics):
    """`~/pose_reference` of each robot, if there is a law that reads it."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe, if the settings ask for it."""
        if not settings.law or "pose_desired" not in kernel_of_law(settings.law).signature.arrays:
            return
        for i, (_, private) in enumerate(names):
            topic = private + "pose_reference"
            wiring.subscribe(PoseStamped, topic, RELIABLE, self._on_pose, robot=i)

    def _on_pose(self, i: int, message: PoseStamped) -> None:
        if robots := self._robots():
            p, o = message.pose.position, message.pose.orientation
            frame = message.header.frame_id.removeprefix(self._prefixes[i])
            robots[i].refer_pose(frame, (p.x, p.y, p.z), (o.x, o.y, o.z, o.w))

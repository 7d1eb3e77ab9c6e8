"""The topic with the desired pose of a robot's frame for a law."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geometry_msgs.msg import PoseStamped

from ..control.robot import Robot
from ..control.settings.node_settings import Settings
from ..control.torques.law import loaded
from .topics import RELIABLE, RobotNames, frame_prefix
from .wiring import Wiring


class PoseTopics:
    """`~/pose_reference` of each robot, if there is a law that reads it.

    robots: function that returns the running robots, none before there is a model.
    """

    def __init__(
        self,
        wiring: Wiring,
        names: Sequence[RobotNames],
        settings: Settings,
        robots: Callable[[], Sequence[Robot]],
    ) -> None:
        self._robots = robots
        self._prefixes = [frame_prefix(settings, each) for each in names]
        if not settings.law or "pose_desired" not in loaded(settings.law).signature.arrays:
            return
        for i, (_, private) in enumerate(names):
            topic = private + "pose_reference"
            wiring.subscribe(PoseStamped, topic, RELIABLE, self._on_pose, robot=i)

    def _on_pose(self, i: int, message: PoseStamped) -> None:
        if robots := self._robots():
            p, o = message.pose.position, message.pose.orientation
            frame = message.header.frame_id.removeprefix(self._prefixes[i])
            robots[i].refer_pose(frame, (p.x, p.y, p.z), (o.x, o.y, o.z, o.w))

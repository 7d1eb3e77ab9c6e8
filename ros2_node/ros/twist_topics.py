"""The topic with the commanded velocity of a robot's link."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import TwistStamped

from ..control.settings.node_settings import Settings
from .topics import LAST, RobotNames, RobotTopics
from .wiring import Wiring


class TwistTopics(RobotTopics):
    """`~/twist` of each robot, if `twist_link` names a link."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe, if the settings ask for it."""
        if not settings.twist_link:
            return
        for i, (_, private) in enumerate(names):
            wiring.subscribe(TwistStamped, private + "twist", LAST, self._on_twist, robot=i)

    def _on_twist(self, i: int, message: TwistStamped) -> None:
        if robots := self._robots():
            v, w = message.twist.linear, message.twist.angular
            frame = message.header.frame_id.removeprefix(self._prefixes[i])
            robots[i].refer_twist(frame, (v.x, v.y, v.z), (w.x, w.y, w.z), self._now())

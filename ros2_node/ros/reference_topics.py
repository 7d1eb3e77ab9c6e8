"""The topics of references other than joint positions: poses, velocities of a link, and inputs of a law."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geometry_msgs.msg import PoseStamped, TwistStamped
from std_msgs.msg import Float64MultiArray

from ..control.settings.node_settings import Settings
from ..control.torques.law import inputs_of, kernel_of_law
from ..control.torques.law_input_targets import inputs_by_topic
from .topics import LAST, RELIABLE, RobotNames, RobotTopics
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


class LawInputTopics(RobotTopics):
    """`~/law_inputs/<name>` of each robot, if there is an impedance law."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe, if the settings ask for it."""
        if not settings.law:
            return
        for i, (_, private) in enumerate(names):
            for name in inputs_by_topic(settings, inputs_of(kernel_of_law(settings.law))):
                topic = f"{private}law_inputs/{name}"
                wiring.subscribe(Float64MultiArray, topic, RELIABLE, self._reader(name), robot=i)

    def _reader(self, name: str) -> Callable[[int, Float64MultiArray], None]:
        def read(i: int, message: Float64MultiArray) -> None:
            if robots := self._robots():
                robots[i].refer_law_input(name, message.data)

        return read

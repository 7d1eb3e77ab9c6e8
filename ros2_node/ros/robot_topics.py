"""Topics whose messages go to one robot: references other than joint positions, the inputs of a policy,
and a force-torque sensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped, WrenchStamped
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from ..control.robot import Robot
from ..control.settings.node_settings import Settings
from ..control.torques.law import inputs_of, kernel_of_law
from ..control.torques.law_input_targets import inputs_by_topic
from ..control.torques.policy_law import policy_and_task
from .messages import base_motion
from .serialized_messages import nanoseconds
from .topics import LAST, RELIABLE, RobotNames, frame_prefix, overridable
from .wiring import Wiring


class RobotTopics:
    """Topics of each robot whose messages go to it.

    robots: function that returns the running robots, none before there is a model. now: function
    for the watchdog's time [s].
    """

    def __init__(
        self,
        wiring: Wiring,
        names: Sequence[RobotNames],
        settings: Settings,
        robots: Callable[[], Sequence[Robot]],
        now: Callable[[], float],
    ) -> None:
        self._robots, self._now = robots, now
        self._prefixes = [frame_prefix(settings, each) for each in names]
        self.subscribe(wiring, names, settings)

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        """Subscribe to the topics of each robot that the settings ask for."""
        raise NotImplementedError


class PoseTopics(RobotTopics):
    """`~/pose_reference` of each robot, if there is a law that reads it."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
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


class PolicyTopics(RobotTopics):
    """`odom` and `cmd_vel` of each robot, if the policy's task needs them; none without a policy."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
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


class SensorTopics(RobotTopics):
    """`~/ft_wrench` and `~/tare` of each robot, if there is a law that reads a measured wrench."""

    def subscribe(self, wiring: Wiring, names: Sequence[RobotNames], settings: Settings) -> None:
        if not settings.law or "contact_wrench" not in kernel_of_law(settings.law).signature.arrays:
            return
        for i, (_, private) in enumerate(names):
            wiring.subscribe(WrenchStamped, private + "ft_wrench", LAST, self._on_wrench, robot=i)
            wiring.serve(Trigger, private + "tare", self._tare, [i])

    def _on_wrench(self, i: int, message: WrenchStamped) -> None:
        robots = self._robots()
        if robots and (body := robots[i].references.body) is not None:
            f, m = message.wrench.force, message.wrench.torque
            frame = message.header.frame_id.removeprefix(self._prefixes[i])
            body.sensor.read(frame, (f.x, f.y, f.z), (m.x, m.y, m.z), self._now())

    def _tare(self, numbers: list[int], request: Any) -> tuple[bool, str]:
        robots = self._robots()
        body = robots[numbers[0]].references.body if robots else None
        if body is None:
            return False, "there is no model yet"
        if missing := body.missing(self._now()):
            return False, missing
        body.sensor.tare()
        return True, "the present wrench is taken for the sensor's offset"

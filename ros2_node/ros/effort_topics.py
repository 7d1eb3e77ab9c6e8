"""Topics and services for measured efforts: external torques and wrench, payload, gravity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from warpdyn.model import Model

from ..control.efforts.effort_watch import EffortWatch
from ..control.robot import Robot
from ..control.settings.node_settings import Settings
from .messages import numbers, time_message
from .topics import RELIABLE, RobotNames, frame_prefix
from .wiring import Wiring

NOT_FELT = "start the node with effort_source: message"


class EffortTopics:
    """~/external_torques, ~/external_wrench_estimate, ~/identify_payload and ~/diagnose_gravity of
    each robot. Without `effort_source` the services report what is missing, and there are no
    topics.

    robots: function that returns the running robots, none before there is a model.
    """

    def __init__(
        self,
        node: Node,
        wiring: Wiring,
        names: Sequence[RobotNames],
        settings: Settings,
        robots: Callable[[], Sequence[Robot]],
    ) -> None:
        self._robots, self._log = robots, node.get_logger()
        self._prefixes = [frame_prefix(settings, each) for each in names]
        self._torques, self._wrenches = [], []
        self._message, self._wrench = JointState(), WrenchStamped()
        self._model: Model | None = None
        """The model whose joints the message names."""
        for i, (_, private) in enumerate(names):
            wiring.serve(Trigger, private + "identify_payload", self._identify, [i])
            wiring.serve(Trigger, private + "diagnose_gravity", self._diagnose, [i])
            if settings.watches_efforts:
                topic = private + "external_torques"
                self._torques.append(node.create_publisher(JointState, topic, RELIABLE))
            if settings.external_wrench_link:
                topic = private + "external_wrench_estimate"
                self._wrenches.append(node.create_publisher(WrenchStamped, topic, RELIABLE))

    def send(self, i: int, robot: Robot, stamp: Any) -> None:
        """Publish the robot's external torques and wrench at its last state, if there are
        subscribers."""
        watch = robot.effort_watch
        if watch is None or not watch.valid:
            return
        if self._torques[i].get_subscription_count():
            if self._model is not robot.dynamics.model:
                self._model, joints = robot.dynamics.model, robot.states.joints
                self._message.name = list(joints)
                self._columns = np.array(self._model.v_indices(joints), dtype=int)
            self._message.header.stamp = time_message(stamp)
            self._message.effort = numbers(watch.external[self._columns])
            self._torques[i].publish(self._message)
        if self._wrenches and self._wrenches[i].get_subscription_count():
            message = self._wrench
            message.header.stamp = time_message(stamp)
            message.header.frame_id = self._prefixes[i] + watch.torques.link
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = watch.torques.wrench[
                0
            ].tolist()
            self._wrenches[i].publish(message)

    def _effort_watch(self, robots: Sequence[int]) -> EffortWatch | None:
        there = self._robots()
        return there[robots[0]].effort_watch if there else None

    def _identify(self, robots: list[int], request: Any) -> tuple[bool, str]:
        watch = self._effort_watch(robots)
        return (False, NOT_FELT) if watch is None else self._log_answer(watch.identify())

    def _diagnose(self, robots: list[int], request: Any) -> tuple[bool, str]:
        watch = self._effort_watch(robots)
        return (False, NOT_FELT) if watch is None else self._log_answer(watch.diagnose())

    def _log_answer(self, answer: tuple[bool, str]) -> tuple[bool, str]:
        """Log the answer too, because it has several lines, and return it."""
        self._log.info(answer[1])
        return answer

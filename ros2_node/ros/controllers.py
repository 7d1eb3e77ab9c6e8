"""Requests to the controllers for their joints, while the node continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from ..control.commands.controller_joints import Verdict, compare, unknown
from .topics import RobotNames

PATIENCE = 1.0
"""Longest time for a controller to be found and to answer [s]."""


@dataclass(eq=False)
class _Question:
    controller: str
    client: Any
    joints: Sequence[str]
    verdict: Future[Verdict]
    until: float
    asked: Any = None


class Controllers:
    """The controllers of all robots, from parameter `command_controller`; none if it is empty."""

    def __init__(self, node: Node, controller: str, robots: Sequence[RobotNames]) -> None:
        self._names = [robot.outer + controller for robot in robots] if controller else []
        group = ReentrantCallbackGroup()  # answers arrive while a service waits for them
        self._clients: list[Any] = [
            node.create_client(GetParameters, f"{name}/get_parameters", callback_group=group)
            for name in self._names
        ]
        self._open: list[_Question] = []

    def __bool__(self) -> bool:
        return bool(self._clients)

    def ask(self, robot: int, joints: Sequence[str], steady: float) -> Future[Verdict]:
        """A future with the `Verdict` on one robot's controller; `watch` completes it within
        PATIENCE."""
        name, client = self._names[robot], self._clients[robot]
        verdict: Future[Verdict] = Future()
        self._open.append(_Question(name, client, joints, verdict, steady + PATIENCE))
        self.watch(steady)
        return verdict

    def watch(self, steady: float) -> None:
        """Send and answer pending requests; call it often."""
        still = []
        for question in self._open:
            verdict = self._answer(question, steady)
            if verdict is None:
                still.append(question)
            else:
                question.verdict.set_result(verdict)
        self._open = still

    def _answer(self, question: _Question, steady: float) -> Verdict | None:
        name = question.controller
        if question.asked is None and question.client.service_is_ready():
            question.asked = question.client.call_async(GetParameters.Request(names=["joints"]))
        if question.asked is not None and question.asked.done():
            try:
                values = question.asked.result().values
            except Exception as error:
                return unknown(name, f"{type(error).__name__}: {error}")
            listed = values and values[0].type == ParameterType.PARAMETER_STRING_ARRAY
            return compare(name, values[0].string_array_value if listed else (), question.joints)
        if steady < question.until:
            return None
        if question.asked is None:
            return unknown(name, "there is no such node")
        question.client.remove_pending_request(question.asked)
        return unknown(name, f"no answer within {PATIENCE:g} s")

"""Counts of publishers from the ROS graph, to find other publishers of a robot's states and
commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.node import Node

from ..control.safety.topic_publishers import TopicPublishers, refusal, report
from ..control.supervisor import Supervisor
from .diagnostics import Diagnostics
from .topics import RobotNames, TorqueTopics

LOOK_PERIOD = 1.0
"""Longest time between two checks [s]."""


class PublisherCounts:
    """Checks of the graph for each robot, reported to supervisor and diagnostics.

    A check takes about 20 us for a topic, 150 us for one with two publishers. A timer and ~/enable
    start it, never between a state and its command.
    """

    def __init__(
        self,
        node: Node,
        supervisor: Supervisor,
        diagnostics: Diagnostics,
        names: Sequence[RobotNames],
        topics: Sequence[TorqueTopics],
    ) -> None:
        self._node, self._supervisor, self._diagnostics = node, supervisor, diagnostics
        read = ("joint_states", "odom") if supervisor.settings.policy else ("joint_states",)
        resolve = node.resolve_topic_name
        self._topics = [
            [*((word, resolve(each.outer + word)) for word in read), ("commands", resolve(sent))]
            for each, sent in zip(names, [t.commands_topic for t in topics], strict=True)
        ]
        """Label and full name of each topic that only one node should publish, by robot."""

    def look(self) -> None:
        """Count again, for every robot."""
        allowed = self._supervisor.settings.allow_several_publishers
        for i, topics in enumerate(self._topics):
            found = [self._publishers(word, topic) for word, topic in topics]
            several = "" if allowed else refusal(found)
            self._supervisor.set_other_publishers(i, several)
            self._diagnostics.remark("several publishers", several, i)
            self._diagnostics.add_lines(report(found), i)

    def _publishers(self, word: str, topic: str) -> TopicPublishers:
        """The publishers of one topic; this node's own command publisher counts as one."""
        count = self._node.count_publishers(topic)
        if count < 2:
            return TopicPublishers(word, topic, count)
        infos = self._node.get_publishers_info_by_topic(topic)
        nodes = sorted(map(_full_name, infos))
        return TopicPublishers(word, topic, len(nodes), tuple(nodes))


def _full_name(info: Any) -> str:
    """Full name of a publisher's node, which may appear in the graph later than the publisher."""
    if info.node_name.startswith("_NODE_NAME_UNKNOWN"):
        return "a node without a known name"
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"

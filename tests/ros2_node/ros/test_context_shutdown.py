"""The end of a context of rclpy with several nodes."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from ros2_node.lifecycle_node import WarpdynLifecycleNode
from ros2_node.node import WarpdynNode


class PlainNode(Node):
    """A node that does not belong to warpdyn."""

    def __init__(self, context, namespace):
        super().__init__("plain", context=context, namespace=namespace)


def warpdyn_node(context, namespace, kind=WarpdynNode):
    """A node of warpdyn without a model."""
    overrides = [RosParameter("publish_frequency", value=0.0)]
    return kind(context=context, namespace=namespace, parameter_overrides=overrides)


def managed_node(context, namespace):
    """A node of warpdyn in its managed form."""
    return warpdyn_node(context, namespace, WarpdynLifecycleNode)


@pytest.mark.parametrize(
    "makers",
    [
        [warpdyn_node, warpdyn_node, warpdyn_node],
        [PlainNode, warpdyn_node],
        [PlainNode, managed_node, warpdyn_node, PlainNode, warpdyn_node],
        [warpdyn_node, PlainNode, PlainNode, warpdyn_node],
    ],
)
def test_the_end_of_a_context_stops_the_robots_of_each_node(makers, monkeypatch):
    """rclpy skips every other node of its list. Each node of warpdyn is stopped once."""
    context, stopped = rclpy.Context(), []
    rclpy.init(context=context)
    nodes = [make(context, f"n{k}") for k, make in enumerate(makers)]
    ours = [k for k, node in enumerate(nodes) if isinstance(node, WarpdynNode)]
    for k in ours:
        monkeypatch.setattr(nodes[k], "stop", lambda k=k: stopped.append(k))
    context.shutdown()
    assert sorted(stopped) == ours


def test_a_context_may_end_after_its_node_was_destroyed():
    """The second entry of the list remains, and the node has nothing left to stop."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = warpdyn_node(context, "alone")
    node.destroy_node()
    context.shutdown()
    assert not context.ok()

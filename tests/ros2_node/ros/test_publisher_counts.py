"""Additional publishers on the node's topics, with a stand-in for the graph.
tests/ros/test_several_publishers.py covers DDS."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from recording_node import RecordingNode

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.publisher_counts import PublisherCounts
from ros2_node.ros.topics import RobotNames


def ends(*names):
    """Publishers in the form of the graph, by full names of their nodes."""
    pairs = [name.rpartition("/") for name in names]
    return [
        SimpleNamespace(node_name=name, node_namespace=space or "/") for space, _, name in pairs
    ], []


@pytest.fixture
def make_counts():
    def make(**values):
        node, several, lines, remarks = RecordingNode(), {}, {}, {}
        supervisor = SimpleNamespace(
            settings=Settings.of(values), set_other_publishers=several.__setitem__
        )
        diagnostics = SimpleNamespace(
            remark=lambda subject, text, i: remarks.__setitem__((subject, i), text),
            add_lines=lambda told, i: lines.__setitem__(i, told),
        )
        names = [RobotNames("l/", "l/warpdyn/"), RobotNames("r/", "r/warpdyn/")]
        topics = [SimpleNamespace(commands_topic=each.private + "commands") for each in names]
        counts = PublisherCounts(node, supervisor, diagnostics, names, topics)
        for each in "lr":
            node.endpoints[f"/{each}/joint_states"] = ends("/driver")
            node.endpoints[f"/{each}/warpdyn/commands"] = ends("/warpdyn")
        return SimpleNamespace(
            node=node, counts=counts, several=several, lines=lines, remarks=remarks
        )

    return make


def test_one_publisher_per_topic_is_accepted(make_counts):
    two = make_counts()
    two.counts.look()
    assert two.several == {0: "", 1: ""} and not any(two.remarks.values())
    assert two.lines[0] == {"publishers of joint_states": "1", "publishers of commands": "1"}


def test_another_publisher_withholds_only_its_robot(make_counts):
    """It may be a node of the same name. The robot is released when it is gone."""
    two = make_counts()
    two.node.endpoints["/r/joint_states"] = ends("/driver", "/arms/viewer")
    two.node.endpoints["/l/warpdyn/commands"] = ends("/warpdyn", "/warpdyn")
    two.counts.look()
    assert two.several[0].startswith("/l/warpdyn/commands has 2 publishers (/warpdyn, /warpdyn)")
    assert two.several[1].startswith("/r/joint_states has 2 publishers (/arms/viewer, /driver)")
    assert two.remarks["several publishers", 1] == two.several[1]
    assert two.lines[1]["publishers of joint_states"] == "2 (/arms/viewer, /driver)"
    two.node.endpoints["/r/joint_states"] = ends("/driver")
    two.counts.look()
    assert two.several[1] == "" and two.several[0]


def test_a_publisher_whose_node_is_not_known_counts(make_counts):
    two = make_counts()
    unknown = "_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_"
    two.node.endpoints["/l/joint_states"] = ends("/driver", unknown)
    two.counts.look()
    assert "2 publishers (/driver, a node without a known name)" in two.several[0]


def test_a_parameter_allows_several_publishers(make_counts):
    """They are still counted."""
    two = make_counts(allow_several_publishers=True)
    two.node.endpoints["/r/joint_states"] = ends("/driver", "/gripper")
    two.counts.look()
    assert not any(two.several.values()) and not any(two.remarks.values())
    assert two.lines[1]["publishers of joint_states"].startswith("2 ")


def test_a_policy_needs_odometry_from_one_node(make_counts):
    two = make_counts(policy="quadruped_velocity")
    two.node.endpoints["/l/odom"] = ends("/camera", "/legs")
    two.counts.look()
    assert two.several[0].startswith("/l/odom has 2 publishers (/camera, /legs)")

"""Conversion of results to messages."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from fleets import MODEL, panda_settings
from rclpy.qos import ReliabilityPolicy
from recording_node import RecordingNode

from ros2_node.ros.publishers import Arrays, LinkNames, LinkPoses, TipPoses, Transforms
from ros2_node.ros.topics import RobotNames

ROBOTS = [RobotNames("a/", "a/w/"), RobotNames("b/", "b/w/")]
TIPS = ("panda_hand", "panda_link3")
SETTINGS = panda_settings(tip_links=list(TIPS), frame_prefix="left/")
STAMP = Time(sec=9)


@pytest.fixture
def node():
    return RecordingNode()


def open_publishers(kind, node, *names, labels=None):
    """Publishers of both robots for topics of these names, after the panda was set as the model."""
    topics = [[robot.private + name for name in names] for robot in ROBOTS]
    first = () if labels is None else (labels,)
    made = kind(*first, node, ROBOTS, topics, SETTINGS)
    made.describe(MODEL, STAMP)
    return made


def numbers(pose):
    p, o = pose.position, pose.orientation
    return [p.x, p.y, p.z, o.x, o.y, o.z, o.w]


def test_link_names_are_sent_once_for_each_robot(node):
    """They are sent when the model comes, and not again."""
    names = open_publishers(LinkNames, node, "link_names")
    names.send(0, np.zeros(0), STAMP)
    for robot in ROBOTS:
        (message,) = node.messages[robot.private + "link_names"]
        assert message.data.splitlines() == list(MODEL.link_names)


def test_link_poses_are_sent_to_their_robots_topic_in_order(node):
    value = np.random.default_rng(0).normal(size=(MODEL.nlinks, 7))
    poses = open_publishers(LinkPoses, node, "link_poses")
    poses.send(1, value, STAMP)
    assert list(node.messages) == ["b/w/link_poses"]
    (message,) = node.messages["b/w/link_poses"]
    assert [numbers(p) for p in message.poses] == value.tolist()
    assert message.header.frame_id == "left/b/panda_link0" and message.header.stamp.sec == 9
    node.publishers["b/w/link_poses"].listeners = 0
    poses.send(1, value, STAMP)
    assert len(node.messages["b/w/link_poses"]) == 1, "to listeners only"


def test_tip_poses_are_those_of_their_links(node):
    value = np.random.default_rng(1).normal(size=(MODEL.nlinks, 7))
    open_publishers(TipPoses, node, "poses/one", "poses/two").send(0, value, STAMP)
    for topic, link in zip(("a/w/poses/one", "a/w/poses/two"), TIPS, strict=True):
        (message,) = node.messages[topic]
        assert numbers(message.pose) == value[MODEL.link_index(link)].tolist()
        assert message.header.frame_id == "left/a/panda_link0"


def test_poses_reach_subscribers_with_default_qos(node):
    """They are reliable, as RViz and `create_subscription(..., 10)` require."""
    open_publishers(LinkPoses, node, "link_poses")
    open_publishers(TipPoses, node, "poses/one", "poses/two")
    for publisher in node.publishers.values():
        assert publisher.qos.reliability is ReliabilityPolicy.RELIABLE


def test_arrays_are_sent_to_the_topics_in_order(node):
    """The first dimension counts topics, and the others are labelled."""
    value = np.random.default_rng(2).normal(size=(2, 6, 8))
    open_publishers(Arrays, node, "J/one", "J/two", labels=("six", "dof")).send(0, value, STAMP)
    for topic, x in zip(("a/w/J/one", "a/w/J/two"), value, strict=True):
        (message,) = node.messages[topic]
        assert [(d.label, d.size) for d in message.layout.dim] == [("six", 6), ("dof", 8)]
        np.testing.assert_array_equal(message.data, x.ravel())


def test_transforms_name_frames_by_prefix_and_namespace(node):
    """Fixed joints of all robots are sent once, moving joints with each state."""
    transforms = open_publishers(Transforms, node)
    moving = [j for j in MODEL.joints if j.kind.nv]
    fixed = [j for j in MODEL.joints if not j.kind.nv]
    (latched,) = node.messages["/tf_static"]
    assert [t.child_frame_id for t in latched.transforms] == [
        f"left/{space}/{j.child}" for space in "ab" for j in fixed
    ]
    for message, joint in zip(latched.transforms, fixed, strict=False):
        move = message.transform.translation
        np.testing.assert_allclose([move.x, move.y, move.z], joint.pose.position, atol=1e-12)
    value = np.random.default_rng(3).normal(size=(len(moving), 7))
    transforms.send(1, value, STAMP)
    (message,) = node.messages["/tf"]
    for t, joint, pose in zip(message.transforms, moving, value.tolist(), strict=True):
        assert (t.header.frame_id, t.child_frame_id) == (
            f"left/b/{joint.parent}",
            f"left/b/{joint.child}",
        )
        assert t.transform.translation.x == pose[0] and t.transform.rotation.w == pose[6]

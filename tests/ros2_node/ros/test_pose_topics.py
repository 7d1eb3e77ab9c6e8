"""~/pose_reference: subscribed for a law that reads it, and what reaches its robot."""

from __future__ import annotations

from types import SimpleNamespace

from geometry_msgs.msg import PoseStamped

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.pose_topics import PoseTopics
from ros2_node.ros.topics import RELIABLE, RobotNames

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))


def heard_by(law):
    """Topics by name, each with its callback, and what two robots are told."""
    topics, told = {}, []

    def subscribe(kind, topic, qos, function, *, robot):
        assert kind is PoseStamped and qos is RELIABLE
        topics[topic] = lambda message: function(robot, message)

    robots = [
        SimpleNamespace(refer_pose=lambda *said, k=k: told.append((k, *said))) for k in range(2)
    ]
    settings = Settings.of({"law": law, "frame_prefix": "lab/"})
    PoseTopics(SimpleNamespace(subscribe=subscribe), NAMES, settings, lambda: robots, lambda: 0.0)
    return topics, told


def test_a_pose_reaches_the_robot_of_its_namespace():
    """Its frame without the prefix that the robot's frames have."""
    topics, told = heard_by("cartesian_impedance")
    assert set(topics) == {"~/pose_reference", "r1/warpdyn/pose_reference"}
    message = PoseStamped()
    message.header.frame_id = "lab/r1/base"
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = 1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8
    topics["r1/warpdyn/pose_reference"](message)
    assert told == [(1, "base", (1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8))]


def test_other_laws_and_modes_have_no_such_topic():
    for law in ("", "teaching", "joint_impedance"):
        assert heard_by(law)[0] == {}

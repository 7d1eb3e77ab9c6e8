"""~/twist: subscribed with twist_link, and what reaches its robot."""

from __future__ import annotations

from types import SimpleNamespace

from geometry_msgs.msg import TwistStamped

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.topics import LAST, RobotNames
from ros2_node.ros.twist_topics import TwistTopics

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))


def topics_of(robots, **values):
    topics = {}

    def subscribe(kind, topic, qos, function, *, robot):
        assert kind is TwistStamped and qos is LAST
        topics[topic] = lambda message: function(robot, message)

    wiring, settings = SimpleNamespace(subscribe=subscribe), Settings.of(values)
    TwistTopics(wiring, NAMES, settings, lambda: robots, lambda: 7.5)
    return topics


def test_a_velocity_reaches_the_robot_of_its_namespace():
    """Its frame without the prefix that the robot's frames have, and the time."""
    told = []
    robots = [
        SimpleNamespace(refer_twist=lambda *said, k=k: told.append((k, *said))) for k in range(2)
    ]
    topics = topics_of(robots, twist_link="hand", frame_prefix="lab/")
    message = TwistStamped()
    message.header.frame_id = "lab/r1/hand"
    message.twist.linear.x, message.twist.angular.z = 1.0, 2.0
    topics["r1/warpdyn/twist"](message)
    assert told == [(1, "hand", (1.0, 0.0, 0.0), (0.0, 0.0, 2.0), 7.5)]
    robots.clear()
    topics["~/twist"](message)


def test_without_a_link_there_is_no_topic():
    assert topics_of([]) == {}

"""~/law_inputs/<name>: subscribed for impedance laws, and what reaches its robot."""

from __future__ import annotations

from types import SimpleNamespace

from std_msgs.msg import Float64MultiArray

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.law_topics import LawTopics
from ros2_node.ros.topics import RELIABLE, RobotNames

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))


def topics_of(law, robots, **values):
    topics = {}

    def subscribe(kind, topic, qos, function, *, robot):
        assert kind is Float64MultiArray and qos is RELIABLE
        topics[topic] = lambda message: function(robot, message)

    settings = Settings.of({"law": law, **values})
    LawTopics(SimpleNamespace(subscribe=subscribe), NAMES, settings, lambda: robots, lambda: 0.0)
    return topics


def test_numbers_reach_the_input_of_the_robot():
    told = []
    robots = [
        SimpleNamespace(refer_law_input=lambda n, x, k=k: told.append((k, n, list(x))))
        for k in range(2)
    ]
    topics = topics_of("joint_impedance", robots)
    inputs = {"stiffness", "damping", "damping_ratio"}
    assert set(topics) == {f"{p}law_inputs/{n}" for p in ("~/", "r1/warpdyn/") for n in inputs}
    topics["r1/warpdyn/law_inputs/damping"](Float64MultiArray(data=[1.0, 2.0]))
    assert told == [(1, "damping", [1.0, 2.0])]
    robots.clear()
    topics["~/law_inputs/damping"](Float64MultiArray(data=[1.0]))
    assert len(told) == 1


def test_no_law_no_topics():
    assert topics_of("", []) == {}
    assert topics_of("joint_impedance", [], law_input_range=0.0) == {}

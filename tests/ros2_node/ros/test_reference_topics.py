"""Topics of poses, velocities and inputs: when they are subscribed, and the calls they make."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped
from std_msgs.msg import Float64MultiArray

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.reference_topics import LawInputTopics, PoseTopics, TwistTopics
from ros2_node.ros.topics import LAST, RELIABLE, RobotNames

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))
MESSAGES = {
    PoseTopics: (PoseStamped, RELIABLE),
    TwistTopics: (TwistStamped, LAST),
    LawInputTopics: (Float64MultiArray, RELIABLE),
}
"""Type and QoS of each."""


class Topics(dict):
    """Subscribed topics by name, each with its callback. `calls` has the method calls of two
    robots."""

    def __init__(self, kind, **values):
        self.calls = []
        self.robots = [Robot(k, self.calls) for k in range(2)]

        def subscribe(message, topic, qos, function, *, robot):
            assert (message, qos) == MESSAGES[kind]
            self[topic] = lambda data: function(robot, data)

        wiring, settings = SimpleNamespace(subscribe=subscribe), Settings.of(values)
        kind(wiring, NAMES, settings, lambda: self.robots, lambda: 7.5)


class Robot:
    """A robot that records the calls of its methods."""

    def __init__(self, number, calls):
        self._number, self._calls = number, calls

    def __getattr__(self, method):
        return lambda *arguments: self._calls.append((self._number, method, *arguments))


def test_a_pose_reaches_the_robot_of_its_namespace():
    """The frame is passed without the robot's prefix."""
    topics = Topics(PoseTopics, law="cartesian_impedance", frame_prefix="lab/")
    assert set(topics) == {"~/pose_reference", "r1/warpdyn/pose_reference"}
    message = PoseStamped()
    message.header.frame_id = "lab/r1/base"
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = 1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8
    topics["r1/warpdyn/pose_reference"](message)
    assert topics.calls == [(1, "refer_pose", "base", (1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8))]


def test_a_velocity_reaches_the_robot_of_its_namespace():
    """The frame is passed without the prefix, and with the time."""
    topics = Topics(TwistTopics, twist_link="hand", frame_prefix="lab/")
    message = TwistStamped()
    message.header.frame_id = "lab/r1/hand"
    message.twist.linear.x, message.twist.angular.z = 1.0, 2.0
    topics["r1/warpdyn/twist"](message)
    assert topics.calls == [(1, "refer_twist", "hand", (1.0, 0.0, 0.0), (0.0, 0.0, 2.0), 7.5)]


def test_law_inputs_reach_the_robot_of_their_namespace():
    topics = Topics(LawInputTopics, law="joint_impedance")
    inputs = {"stiffness", "damping", "damping_ratio"}
    assert set(topics) == {f"{p}law_inputs/{n}" for p in ("~/", "r1/warpdyn/") for n in inputs}
    topics["r1/warpdyn/law_inputs/damping"](Float64MultiArray(data=[1.0, 2.0]))
    [(number, method, name, numbers)] = topics.calls
    assert (number, method, name, list(numbers)) == (1, "refer_law_input", "damping", [1.0, 2.0])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (PoseTopics, {"law": "cartesian_impedance"}),
        (TwistTopics, {"twist_link": "hand"}),
        (LawInputTopics, {"law": "joint_impedance"}),
    ],
)
def test_messages_before_the_model_are_dropped(kind, values):
    topics = Topics(kind, **values)
    topics.robots.clear()
    for receive in topics.values():
        receive(MESSAGES[kind][0]())
    assert topics and not topics.calls


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (PoseTopics, {}),
        (PoseTopics, {"law": "teaching"}),
        (PoseTopics, {"law": "joint_impedance"}),
        (TwistTopics, {}),
        (LawInputTopics, {}),
        (LawInputTopics, {"law": "joint_impedance", "law_input_range": 0.0}),
    ],
)
def test_other_settings_have_no_reference_topics(kind, values):
    assert not Topics(kind, **values)

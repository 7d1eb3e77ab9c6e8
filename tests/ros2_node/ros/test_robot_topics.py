"""Topics whose messages go to one robot: when they are subscribed, and the calls they make."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from policy_files import TURNING, linear_policy, turning_weights
from rl_cases import Hold
from std_msgs.msg import Float64MultiArray

from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.base_state import BaseMotion
from ros2_node.ros.robot_topics import (
    LawInputTopics,
    PolicyTopics,
    PoseTopics,
    SensorTopics,
    TwistTopics,
)
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


class TopicRecorder:
    """A stand-in for wiring and two robots. It records subscriptions and calls."""

    def __init__(self):
        self.topics, self.told = {}, []

    def subscribe(self, kind, topic, qos, function, *, robot, override):
        assert qos is LAST and override is not None
        self.topics[topic] = kind, lambda message: function(robot, message)

    def robots(self):
        def robot(k):
            return SimpleNamespace(
                read_base=lambda *said: self.told.append((k, *said)),
                read_speeds=lambda *said: self.told.append((k, *said)),
            )

        return [robot(0), robot(1)]


def topics_of(heard, **values):
    settings = Settings.of({"robot_description": TURNING, **values})
    return PolicyTopics(heard, NAMES, settings, heard.robots, lambda: 7.5)


@pytest.fixture
def turning(tmp_path):
    file = linear_policy(tmp_path / "turn.onnx", turning_weights())
    return {"policy": str(file), "policy_task": "policy_files:Turn"}


def test_messages_reach_the_robot_of_their_namespace(turning):
    heard = TopicRecorder()
    topics_of(heard, **turning)
    assert {n: kind for n, (kind, _) in heard.topics.items()} == {
        "odom": Odometry,
        "cmd_vel": Twist,
        "r1/odom": Odometry,
        "r1/cmd_vel": Twist,
    }
    message = Odometry(child_frame_id="trunk")
    message.header.stamp.sec, message.header.stamp.nanosec = 3, 4
    place, speed = message.pose.pose, message.twist.twist
    p, o, v, w = place.position, place.orientation, speed.linear, speed.angular
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = 1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8
    v.x, v.y, v.z, w.x, w.y, w.z = np.arange(6.0).tolist()
    heard.topics["r1/odom"][1](message)
    motion = BaseMotion((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8), (0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
    assert heard.told == [(1, "trunk", motion, 3_000_000_004, 7.5)]
    command = Twist()
    command.linear.x, command.linear.y, command.angular.z = 0.1, 0.2, 0.3
    heard.topics["cmd_vel"][1](command)
    assert heard.told[1] == (0, 0.1, 0.2, 0.3, 7.5)


def test_a_policy_gets_no_message_before_the_model(turning):
    heard = TopicRecorder()
    settings = Settings.of({"robot_description": TURNING, **turning})
    PolicyTopics(heard, NAMES, settings, lambda: (), lambda: 0.0)
    heard.topics["odom"][1](Odometry())
    heard.topics["cmd_vel"][1](Twist())
    assert not heard.told


def test_only_topics_that_the_task_needs_are_subscribed(tmp_path, monkeypatch):
    """A fixed base without commands has neither topic, and a node without a policy has none."""
    heard = TopicRecorder()
    topics_of(heard)
    assert not heard.topics
    file = linear_policy(tmp_path / "hold.onnx", np.zeros((6, 2)))
    topics_of(heard, policy=str(file), policy_task="rl_cases:Hold")
    assert not heard.topics and not Hold.commanded


def test_a_missing_message_package_is_reported(turning, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "nav_msgs.msg", None)
    with pytest.raises(ValueError, match="policy needs nav_msgs for odom, which is not installed"):
        topics_of(TopicRecorder(), **turning)


class SensorTopicRecorder:
    """A stand-in for wiring and two robots."""

    def __init__(self, law):
        self.topics, self.services, self.told, self.lacks = {}, {}, [], ""

        def robot(k):
            sensor = SimpleNamespace(
                read=lambda *said: self.told.append((k, *said)),
                tare=lambda: self.told.append((k, "tare")),
            )
            body = SimpleNamespace(sensor=sensor, missing=lambda now: self.lacks)
            return SimpleNamespace(references=SimpleNamespace(body=body))

        self.robots = [robot(0), robot(1)]
        settings = Settings.of({"law": law, "frame_prefix": "lab/"})
        SensorTopics(self, NAMES, settings, lambda: self.robots, lambda: 7.5)

    def subscribe(self, kind, topic, qos, function, *, robot):
        assert kind is WrenchStamped and qos is LAST
        self.topics[topic] = lambda message: function(robot, message)

    def serve(self, kind, name, function, robots):
        self.services[name] = lambda: function(robots, None)


def test_a_wrench_reaches_the_robot_of_its_namespace():
    heard = SensorTopicRecorder("admittance")
    assert set(heard.topics) == {"~/ft_wrench", "r1/warpdyn/ft_wrench"}
    message = WrenchStamped()
    message.header.frame_id = "lab/r1/tool0"
    message.wrench.force.x, message.wrench.torque.z = 1.0, 2.0
    heard.topics["r1/warpdyn/ft_wrench"](message)
    assert heard.told == [(1, "tool0", (1.0, 0.0, 0.0), (0.0, 0.0, 2.0), 7.5)]
    assert heard.services["~/tare"]()[0] and heard.told[-1] == (0, "tare")
    heard.lacks = "no ft_wrench for 0.1 s"
    assert heard.services["~/tare"]() == (False, "no ft_wrench for 0.1 s")
    heard.robots.clear()
    assert heard.services["~/tare"]() == (False, "there is no model yet")


def test_other_laws_have_no_sensor_topics():
    for law in ("", "teaching", "cartesian_impedance"):
        heard = SensorTopicRecorder(law)
        assert not heard.topics and not heard.services

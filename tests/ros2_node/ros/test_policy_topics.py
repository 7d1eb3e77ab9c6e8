"""odom and cmd_vel: their subscriptions for a policy, and the values that reach its robot."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from policy_files import TURNING, linear_policy, turning_weights
from rl_cases import Hold

from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.base_state import BaseMotion
from ros2_node.ros.policy_topics import PolicyTopics
from ros2_node.ros.topics import LAST, RobotNames

NAMES = (RobotNames("", "~/"), RobotNames("r1/", "r1/warpdyn/"))


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


def test_messages_before_the_model_are_dropped(turning):
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

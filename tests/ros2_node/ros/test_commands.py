"""The message type of ~/commands, by parameter `command_type`."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from fleets import MODEL, NAMES
from recording_node import RecordingNode
from std_msgs.msg import Float64MultiArray

from ros2_node.ros.commands import command_kind, command_message
from ros2_node.ros.topics import RobotNames, TorqueTopics


def test_the_default_message_is_that_of_effort_controllers():
    assert command_kind("float64_multi_array") is Float64MultiArray
    assert command_message(Float64MultiArray, NAMES) == (Float64MultiArray(), "data")


def test_a_joint_command_has_names_interface_and_stamp():
    from control_msgs.msg import JointCommand

    node = RecordingNode()
    kind = command_kind("joint_command")
    assert kind is JointCommand
    topics = TorqueTopics(node, RobotNames("", "~/"), lambda topic: topic, kind)
    topics.describe(MODEL, NAMES)
    topics.send_command(np.arange(8.0))
    (sent,) = node.messages["~/commands"]
    assert sent.joint_names == NAMES and sent.interface_name == "effort"
    assert sent.values.tolist() == list(range(8)) and sent.header.stamp.sec == 7


def test_a_missing_command_message_is_refused_with_one_line(monkeypatch):
    """An older control_msgs does not have the message."""
    monkeypatch.setitem(sys.modules, "control_msgs.msg", None)
    with pytest.raises(ValueError, match="needs the message control_msgs/JointCommand, which this"):
        command_kind("joint_command")

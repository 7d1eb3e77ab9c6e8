"""Names and QoS of topics, and the two topics with torques."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from fleets import LINK, MODEL, NAMES, panda_settings
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from recording_node import RecordingNode

import warpdyn as wd
from ros2_node.ros.topics import LAST, LATCHED, RELIABLE, RobotNames, TorqueTopics, frame_prefix


@pytest.fixture
def node():
    return RecordingNode()


def topics(node, model=MODEL, **names):
    made = TorqueTopics(node, RobotNames("r0/", "r0/warpdyn/"), lambda topic: f"events of {topic}")
    made.describe(model, NAMES)
    return made


def test_qos_profiles_agree_with_the_documentation():
    """States are best effort, commands reliable, names latched."""
    assert LAST.reliability is ReliabilityPolicy.BEST_EFFORT and LAST.depth == 1
    assert RELIABLE.reliability is ReliabilityPolicy.RELIABLE
    assert LATCHED.durability is DurabilityPolicy.TRANSIENT_LOCAL


def test_both_topics_are_below_the_nodes_name_with_qos_overrides(node):
    topics(node)
    assert list(node.publishers) == ["r0/warpdyn/commands", "r0/warpdyn/torques"]
    for topic, publisher in node.publishers.items():
        assert publisher.options["event_callbacks"] == f"events of {topic}"
        assert publisher.options["qos_overriding_options"] is not None


def test_a_command_is_sent_unchanged(node):
    """A later change of the array does not reach the message."""
    sender, command = topics(node), np.arange(8.0)
    sender.send_command(command)
    command[:] = -1.0
    assert node.messages["r0/warpdyn/commands"][0].data.tolist() == list(range(8))


def test_a_missing_subscriber_of_commands_is_reported(node):
    sender = topics(node)
    assert not sender.unheard
    node.publishers["r0/warpdyn/commands"].listeners = 0
    assert sender.unheard.startswith("nobody subscribes to r0/warpdyn/commands: ")


def test_frames_of_a_robot_begin_with_the_prefix_and_its_namespace():
    settings = panda_settings(frame_prefix="cell/")
    assert frame_prefix(settings, RobotNames("r0/", "r0/warpdyn/")) == "cell/r0/"
    assert frame_prefix(panda_settings(), RobotNames("", "~/")) == ""


def test_torques_carry_names_and_the_stamp_of_the_state(node):
    topics(node).send_torque(np.arange(8.0), Time(sec=5))
    (message,) = node.messages["r0/warpdyn/torques"]
    assert message.name == NAMES and message.effort.tolist() == list(range(8))
    assert message.header.stamp.sec == 5 and not message.position


def test_torques_are_sent_only_to_subscribers(node):
    sender = topics(node)
    node.publishers["r0/warpdyn/torques"].listeners = 0
    sender.send_torque(np.zeros(8), Time())
    assert not node.messages


def test_a_joint_of_several_velocities_is_left_out(node):
    """A JointState cannot contain a floating joint. The other joints keep their torques."""
    text = f'<robot name="r">{LINK.format("w")}{LINK.format("a")}{LINK.format("b")}' + "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{above}"/><child link="{below}"/>'
        '<axis xyz="0 0 1"/></joint>'
        for name, kind, above, below in (
            ("free", "floating", "w", "a"),
            ("spin", "continuous", "a", "b"),
        )
    )
    model = wd.load_urdf(text + "</robot>")
    sender = topics(node, model)
    sender.send_torque(np.arange(float(model.nv)), Time())
    (message,) = node.messages["r0/warpdyn/torques"]
    assert message.name == ["spin"]
    assert message.effort.tolist() == [float(model.v_indices(["spin"])[0])]

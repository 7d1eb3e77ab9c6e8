"""A second publisher of joint_states or ~/commands, over DDS: ~/enable is refused and names it."""

from __future__ import annotations

import numpy as np
import pytest
import rclpy
from harness import NodeProcess, Peer
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
PANDA = {"robot_description_file": "panda", "ramp_time": 0.05}
KINDS = {"joint_states": JointState, "warpdyn/commands": Float64MultiArray}


@pytest.fixture
def second(context):
    """Create a node `second` that publishes on a topic. It is removed at the end of the test at the
    latest."""
    nodes = []

    def make(topic):
        nodes.append(rclpy.create_node("second", context=context))
        nodes[-1].create_publisher(KINDS[topic.split("/", 1)[-1]], topic, QoSProfile(depth=1))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()


def states_of(peer):
    return lambda: peer.send(NAMES, Q)


@pytest.mark.parametrize("word", KINDS)
@pytest.mark.parametrize("module", ["node", "lifecycle_node"])
def test_a_second_publisher_prevents_enabling_and_warns(word, module, second, context):
    """~/enable is refused with the node's name while there are two publishers.

    A second publisher after ~/enable gives a warning. Both end when the publisher is gone.
    """
    space = f"second_{module}_{word.rpartition('/')[2]}"
    space_of_node = ["-r", f"__ns:=/{space}"]
    with NodeProcess(PANDA, space_of_node, module=f"ros2_node.{module}") as node:
        peer = Peer(context, space)
        send = states_of(peer)
        if module == "lifecycle_node":
            # An answer is lost if the node has not discovered the client yet.
            peer.wait(lambda: peer.diagnostics, "diagnostics")
            for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
                change = Transition(id=number)
                assert peer.call("change_state", ChangeState, transition=change).success
        node.wait_for("ready: panda")
        peer.wait_until_matched()
        other, topic = second(f"{space}/{word}"), f"/{space}/{word}"
        said = f"{topic} has 2 publishers"
        peer.wait_for_message(said, each=send)
        answer = peer.enable(each=send)
        assert not answer.success and said in answer.message and "/second" in answer.message
        key = f"publishers of {word.rpartition('/')[2]}"
        assert peer.values[key].startswith("2 (") and "/second" in peer.values[key]
        other.destroy_node()
        peer.wait(lambda: peer.enable(each=send).success, "enabling", each=send)
        peer.wait_for_value(key, lambda text: text == "1", each=send)
        peer.wait(lambda: peer.message == "enabled", "no warning", each=send)
        second(f"{space}/{word}")
        peer.wait_for_message("enabled; several publishers", each=send)
        before = len(peer.commands)
        peer.wait(lambda: len(peer.commands) > before + 50, "commands go on", each=send)
        peer.close()


def test_separate_arm_and_gripper_publishers_need_the_parameter(context):
    """~/enable is refused without the parameter, and accepted with it."""
    with NodeProcess(PANDA, ["-r", "__ns:=/apart"]) as node:
        node.wait_for("ready: panda")
        arm, gripper = Peer(context, "apart"), Peer(context, "apart")

        def send():
            arm.send(NAMES[:7], Q[:7])
            gripper.send(NAMES[7:], Q[7:])

        arm.wait(lambda: arm.torques, "torques of both parts", each=send)
        arm.wait_for_message("/apart/joint_states has 2 publishers", each=send)
        assert not arm.enable(each=send).success
        assert arm.set_parameter("allow_several_publishers", True, each=send).successful
        assert arm.enable(each=send).success
        arm.wait_for_value("publishers of joint_states", lambda x: x.startswith("2 "), each=send)
        arm.wait(lambda: arm.message == "enabled", "no warning", each=send)
        arm.close()
        gripper.close()


def test_publishers_are_counted_for_each_namespace(second, context):
    """A second publisher of one arm's states does not affect the other arm."""
    parameters = {**PANDA, "namespaces": ["many0", "many1"]}
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peers = [Peer(context, space) for space in ("many0", "many1")]

        def send():
            for peer in peers:
                peer.send(NAMES, Q)

        second("many0/joint_states")
        for peer in peers:
            peer.wait(lambda p=peer: p.torques, "torques", each=send)
        peers[0].wait_for_message("/many0/joint_states has 2 publishers", each=send)
        assert not peers[0].enable(each=send).success
        assert peers[1].enable(each=send).success
        for peer in peers:
            peer.close()

"""The path of the commands over DDS: the controller's joint order, and the stamped message."""

from __future__ import annotations

import numpy as np
import pytest
from harness import NodeProcess, Peer
from oracle import Oracle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.parameter import Parameter

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
SOON = {"robot_description_file": "panda", "ramp_time": 0.05, "allow_several_publishers": True}
"""A node of this module may live on beside that of a test."""


class Controller:
    """A node with the parameter `joints` of a forward command controller."""

    def __init__(self, peer, name="effort_controller", joints=None):
        from rclpy.node import Node

        self._peer = peer
        self.node = Node(name, context=peer.node.context)
        if joints is not None:
            self.node.declare_parameter("joints", joints)
        peer.executor.add_node(self.node)

    def close(self):
        self._peer.executor.remove_node(self.node)
        self.node.destroy_node()


@pytest.fixture(scope="module", params=["events", "single"])
def asking(request, context):
    """A node that queries `effort_controller`, its peer, and a function that sends states."""
    parameters = {**SOON, "command_controller": "effort_controller", "executor": request.param}
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()

        def send():
            peer.send(NAMES, Q)

        peer.wait(lambda: peer.torques, "torques", each=send)
        yield peer, send
        peer.close()


@pytest.fixture
def controller(asking):
    """Start a controller. Afterwards it is gone, and the node is disabled."""
    peer, send = asking
    peer.begin()
    started = []

    def start(**options):
        started.append(Controller(peer, **options))

    yield start
    for each in started:
        each.close()
    peer.enable(False, each=send)
    peer.wait(lambda: not peer.message.startswith("stopping"), "the end", each=send)
    gone = lambda: "effort_controller" not in peer.node.get_node_names()  # noqa: E731
    peer.wait(gone, "the controller gone", each=send)


def test_a_controller_with_the_same_joint_order_is_accepted(asking, controller):
    """There is no remark."""
    peer, send = asking
    controller(joints=NAMES)
    answer = peer.enable(each=send)
    assert answer.success and answer.message == "enabled", answer
    peer.wait(lambda: len(peer.commands) > 5, "commands", each=send)


def test_another_joint_order_is_refused_with_both_orders(asking, controller):
    """The refusal is one line, and no command was sent."""
    peer, send = asking
    theirs = [*NAMES[1:], NAMES[0]]
    controller(joints=theirs)
    answer = peer.enable(each=send)
    assert not answer.success and "\n" not in answer.message
    assert ", ".join(theirs) in answer.message and ", ".join(NAMES) in answer.message
    assert not peer.commands


@pytest.mark.parametrize("joints", [None, [""], []], ids=["undeclared", "empty name", "empty"])
def test_a_controller_without_joints_is_accepted_with_a_remark(joints, asking, controller):
    peer, send = asking
    if joints == []:
        joints = Parameter("joints", Parameter.Type.STRING_ARRAY, []).value
    controller(joints=joints)
    answer = peer.enable(each=send)
    assert answer.success, answer.message
    assert "joints of effort_controller are not checked: its parameter" in answer.message


def test_a_missing_controller_is_remarked_and_delays_no_torque(asking, controller):
    """The answer comes after a second, and no state waits for it."""
    peer, send = asking
    seen = len(peer.torques)
    answer = peer.enable(each=send)
    assert answer.success and "there is no such node" in answer.message
    assert len(peer.torques) - seen > 3


def test_a_controller_that_does_not_answer_blocks_nothing(asking, controller, context):
    """Its service exists and hangs. The answer comes after a second, and torques are sent
    meanwhile."""
    from rcl_interfaces.srv import GetParameters
    from rclpy.node import Node
    from rclpy.task import Future

    peer, send = asking
    mute = Node("effort_controller", context=context, start_parameter_services=False)

    async def never(request, response):
        await Future()

    group = ReentrantCallbackGroup()
    mute.create_service(GetParameters, "~/get_parameters", never, callback_group=group)
    peer.executor.add_node(mute)
    seen = len(peer.torques)
    answer = peer.enable(each=send)
    assert answer.success and "no answer within 1 s" in answer.message
    assert len(peer.torques) - seen > 3
    peer.executor.remove_node(mute)
    mute.destroy_node()


@pytest.mark.parametrize("order, starts", [(NAMES, True), (NAMES[::-1], False)])
def test_start_enabled_queries_the_controller_too(order, starts, context):
    parameters = {**SOON, "command_controller": "effort_controller", "start_enabled": True}
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        controller = Controller(peer, joints=list(order))
        peer.wait_until_matched()

        def send():
            peer.send(NAMES, Q)

        if starts:
            peer.wait(lambda: len(peer.commands) > 5, "commands", each=send)
        else:
            said = peer.wait(lambda: "not started" in node.text(), "the refusal", each=send)
            assert said and "takes torques for [panda_finger_joint1" in node.text()
            assert not peer.commands
        controller.close()
        peer.close()


def test_the_stamped_message_arrives_with_names_and_time(context):
    """It has the oracle's torques, the interface, the joints in their order, and an advancing
    stamp. The commands of the stop sequence are stamped too."""
    from control_msgs.msg import JointCommand

    order = [*NAMES[3:], *NAMES[:3]]
    parameters = {**SOON, "command_type": "joint_command", "command_joints": order}
    with NodeProcess(parameters, ["-r", "~/commands:=/stamped"]) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        got: list[JointCommand] = []
        peer.listen(JointCommand, "/stamped", got.append)
        peer.wait(lambda: peer.node.count_publishers("/stamped"), "matching")

        def send():
            peer.send(NAMES, Q)

        assert peer.wait(lambda: peer.enable(each=send).success, "enabling", each=send)
        expected = Oracle().torque(NAMES, Q)[[NAMES.index(name) for name in order]]
        peer.wait(
            lambda: got and np.allclose(got[-1].values, expected, atol=1e-9), "torques", each=send
        )
        peer.enable(False, each=send)
        peer.wait(lambda: not np.any(got[-1].values), "the stop sequence", each=send)
        assert all(m.interface_name == "effort" and list(m.joint_names) == order for m in got)
        stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in got]
        now = peer.node.get_clock().now().nanoseconds * 1e-9
        assert stamps == sorted(stamps) and now - 600.0 < stamps[0] <= stamps[-1] <= now
        peer.close()

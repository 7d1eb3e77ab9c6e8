"""Topics and services of external torques. Those that are not requested do not exist."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from recording_node import RecordedLog
from sensor_msgs.msg import JointState

from ros2_node.control.settings.node_settings import Settings
from ros2_node.ros.effort_topics import NOT_FELT, EffortTopics
from ros2_node.ros.topics import RobotNames

FELT = Settings.of({"effort_source": "message", "external_wrench_link": "hand"})


class ServiceRecorder:
    """A stand-in for wiring that records the services."""

    def __init__(self):
        self.services = {}

    def serve(self, kind, name, function, robots):
        self.services[name] = lambda: function(robots, None)


@pytest.fixture
def node(context):
    node = Node("feeling", context=context)
    yield node
    node.destroy_node()


def make_topics(node, settings, robots=()):
    wiring = ServiceRecorder()
    names = [RobotNames("r0/", "r0/feeling/")]
    return EffortTopics(node, wiring, names, settings, lambda: robots), wiring.services


def test_without_efforts_there_are_services_and_no_topics(node):
    """The services answer with the missing parameter."""
    _, services = make_topics(node, Settings.of(), [SimpleNamespace(effort_watch=None)])
    assert set(services) == {"r0/feeling/identify_payload", "r0/feeling/diagnose_gravity"}
    assert all(service() == (False, NOT_FELT) for service in services.values())
    assert not node.count_publishers("r0/feeling/external_torques")


def test_external_torques_and_wrenches_are_sent_to_subscribers(node):
    """Torques have joint names and the stamp of the state. The wrench is in the frame of its link,
    with the robot's prefix. A state without valid torques sends nothing."""
    topics, _ = make_topics(node, FELT)
    torques, wrenches = [], []
    node.create_subscription(JointState, "r0/feeling/external_torques", torques.append, 10)
    node.create_subscription(
        WrenchStamped, "r0/feeling/external_wrench_estimate", wrenches.append, 10
    )
    watch = SimpleNamespace(
        valid=True,
        external=np.array([1.0, 2.0, 3.0]),
        torques=SimpleNamespace(link="hand", wrench=np.arange(6.0)[None]),
    )
    model = SimpleNamespace(v_indices=lambda names: [2, 0])
    robot = SimpleNamespace(
        effort_watch=watch,
        states=SimpleNamespace(joints=("c", "a")),
        dynamics=SimpleNamespace(model=model),
    )
    sent = []
    for publishers, kept in ((topics._torques, torques), (topics._wrenches, wrenches)):
        publishers[0] = SimpleNamespace(
            get_subscription_count=lambda: 1, publish=lambda m, kept=kept: sent.append(m)
        )
    topics.send(0, robot, Time(sec=7))
    joints, wrench = sent
    assert joints.name == ["c", "a"] and list(joints.effort) == [3.0, 1.0]
    assert joints.header.stamp.sec == 7 and wrench.header.frame_id == "r0/hand"
    assert (wrench.wrench.force.y, wrench.wrench.torque.z) == (1.0, 5.0)
    # Another model with joints of the same names in another order.
    robot.dynamics.model = SimpleNamespace(v_indices=lambda names: [0, 1])
    topics.send(0, robot, Time(sec=8))
    assert list(sent[2].effort) == [1.0, 2.0] and len(sent) == 4
    watch.valid = False
    topics.send(0, robot, Time(sec=8))
    assert len(sent) == 4


def test_answers_of_the_robot_are_returned_and_logged(node, monkeypatch):
    """They have several lines, and a terminal shows them on one line to the caller of the
    service."""
    log = RecordedLog()
    monkeypatch.setattr(node, "get_logger", lambda: log)
    watch = SimpleNamespace(
        identify=lambda: (True, "1 kg\nto set"), diagnose=lambda: (False, "no poses")
    )
    _, services = make_topics(node, FELT, [SimpleNamespace(effort_watch=watch)])
    assert services["r0/feeling/identify_payload"]() == (True, "1 kg\nto set")
    assert services["r0/feeling/diagnose_gravity"]() == (False, "no poses")
    assert log.lines == ["1 kg\nto set", "no poses"]


@pytest.mark.parametrize("heard", [(1, 0), (0, 1), (0, 0)])
def test_messages_are_sent_only_to_subscribers(node, heard):
    """Torques and wrench have separate subscribers. Before a model the services answer that efforts
    are not read."""
    topics, services = make_topics(node, FELT)
    assert all(service() == (False, NOT_FELT) for service in services.values())
    sent = []
    for publishers, count in zip((topics._torques, topics._wrenches), heard, strict=True):
        publishers[0] = SimpleNamespace(
            get_subscription_count=lambda count=count: count, publish=sent.append
        )
    watch = SimpleNamespace(
        valid=True,
        external=np.array([1.0, 2.0]),
        torques=SimpleNamespace(link="hand", wrench=np.arange(6.0)[None]),
    )
    names = []
    model = SimpleNamespace(v_indices=lambda joints: names.append(joints) or [1, 0])
    robot = SimpleNamespace(
        effort_watch=watch,
        states=SimpleNamespace(joints=("b", "a")),
        dynamics=SimpleNamespace(model=model),
    )
    for sec in (3, 4):
        topics.send(0, robot, Time(sec=sec))
    kinds = [JointState] * heard[0] + [WrenchStamped] * heard[1]
    assert [type(message) for message in sent] == kinds * 2
    assert len(names) == heard[0], "joints of a model are looked up once"
    topics.send(0, SimpleNamespace(effort_watch=None), Time())
    assert len(sent) == 2 * sum(heard)


def test_without_a_link_there_is_no_wrench_topic(node):
    topics, _ = make_topics(node, Settings.of({"effort_source": "message"}))
    assert len(topics._torques) == 1 and not topics._wrenches

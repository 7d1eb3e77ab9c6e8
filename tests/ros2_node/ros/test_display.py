"""Outputs that are sent at publish_frequency, and of which robots."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from fleets import MODEL, N, Q, feed, panda_fleet, panda_settings
from rclpy.qos import ReliabilityPolicy
from recording_node import RecordingNode

from ros2_node.ros import outputs
from ros2_node.ros.display import Display
from ros2_node.ros.outputs import WantedOutputs
from ros2_node.ros.topics import RobotNames

ROBOTS = [RobotNames("a/", "a/w/"), RobotNames("b/", "b/w/")]
STAMPS = [Time(sec=1), Time(sec=2)]


@pytest.fixture(scope="module")
def fleet():
    return panda_fleet(2)


@pytest.fixture
def node():
    return RecordingNode()


def display(node, **values):
    settings = panda_settings(**values)
    made = Display(node, ROBOTS, settings, WantedOutputs(settings))
    made.describe(MODEL, Time())
    return made


def test_only_robots_with_a_fresh_state_are_shown(node, fleet):
    """The messages have the stamp of the state."""
    shown = display(node, tip_links=["panda_hand"], publish_mass_matrix=True)
    for messages in node.messages.values():
        messages.clear()
    feed(fleet.robots[1], 5.0)
    shown.show(fleet, STAMPS, 5.0)
    assert sorted(node.messages) == ["b/w/link_poses", "b/w/mass_matrix", "b/w/poses/panda_hand"]
    assert node.messages["b/w/link_poses"][0].header.stamp.sec == 2
    shown.show(fleet, STAMPS, 9.0)
    assert all(len(messages) == 1 for messages in node.messages.values())


def test_the_names_of_a_model_are_published(node):
    display(node)
    (message,) = node.messages["~/joint_names"]
    assert message.data.splitlines() == list(MODEL.joint_names)
    assert "a/w/link_names" in node.messages


def test_outputs_that_are_not_requested_have_no_topic(node):
    """The joint names and the poses of batches always have one."""
    display(node, publish_link_poses=False)
    assert sorted(node.publishers) == ["~/batch/link_poses", "~/joint_names"]


def test_frequency_zero_keeps_only_latched_topics(node):
    display(
        node, publish_frequency=0.0, publish_tf=True, tip_links=["panda_hand"], jacobian_links=[]
    )
    topics = {"/tf", "/tf_static", "~/batch/link_poses", "~/joint_names"}
    assert set(node.publishers) == topics and "/tf_static" in node.messages


def test_a_batch_is_sent_once_and_only_to_subscribers(node, fleet):
    shown = display(node)
    state = np.zeros((3, 2, N))
    state[:, 0] = Q
    fleet.batch.compute(state)
    shown.batch_is_new = True
    assert node.publishers["~/batch/link_poses"].qos.reliability is ReliabilityPolicy.RELIABLE
    node.publishers["~/batch/link_poses"].listeners = 0
    shown.show(fleet, STAMPS, 100.0)
    assert shown.batch_is_new, "it waits for a listener"
    node.publishers["~/batch/link_poses"].listeners = 1
    for _ in range(2):
        shown.show(fleet, STAMPS, 100.0)
    (message,) = node.messages["~/batch/link_poses"]
    assert [(d.label, d.size) for d in message.layout.dim] == [
        ("robot", 3),
        ("link", MODEL.nlinks),
        ("7", 7),
    ]
    np.testing.assert_array_equal(message.data, fleet.batch.poses().ravel())


def test_without_tf2_msgs_all_other_outputs_work(node, monkeypatch):
    """The log says so once."""
    genuine = builtins.__import__

    def without(name, *rest):
        if name.startswith("tf2_msgs"):
            raise ImportError("not installed")
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    display(node, publish_tf=True)
    expected = "publish_tf is true but tf2_msgs is not installed: /tf is not published"
    assert node.log.lines == [expected] and "a/w/link_poses" in node.publishers


def test_outputs_are_computed_only_for_subscribers(node, fleet, monkeypatch):
    """There is no forward kinematics without a subscriber.

    With one only the requested functions run.
    """
    calls = []
    for name in ("fk", "crba"):
        genuine = getattr(outputs, name)
        monkeypatch.setattr(
            outputs, name, lambda *a, f=genuine, n=name, **k: (calls.append(n), f(*a, **k))[1]
        )
    shown = display(node, tip_links=["panda_hand"], publish_mass_matrix=True, publish_tf=True)
    for publisher in node.publishers.values():
        publisher.listeners = 0
    feed(fleet.robots[1], 5.0)
    shown.show(fleet, STAMPS, 5.0)
    assert not calls
    node.publishers["a/w/mass_matrix"].listeners = 1
    shown.show(fleet, STAMPS, 5.0)
    assert not calls, "that robot has no fresh state"
    node.publishers["b/w/mass_matrix"].listeners = 1
    shown.show(fleet, STAMPS, 5.0)
    assert calls == ["crba"]
    node.publishers["/tf"].listeners = node.publishers["b/w/poses/panda_hand"].listeners = 1
    shown.show(fleet, STAMPS, 5.0)
    assert sorted(calls) == ["crba", "crba", "fk", "fk"], "poses and transforms"

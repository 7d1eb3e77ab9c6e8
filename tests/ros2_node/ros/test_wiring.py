"""Inputs are guarded, and say when QoS does not match."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rclpy.clock import ClockType
from recording_node import RecordingNode
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ros2_node.ros.guards import Guards
from ros2_node.ros.topics import LAST
from ros2_node.ros.wiring import Wiring


@pytest.fixture
def node():
    return RecordingNode()


@pytest.fixture
def events():
    """What failed, and what did not match."""
    return SimpleNamespace(failed=[], mismatched=[])


@pytest.fixture
def wiring(node, events):
    mismatched = lambda *what: events.mismatched.append(what)  # noqa: E731
    return Wiring(node, Guards(lambda *what: events.failed.append(what)), mismatched)


def test_messages_come_with_the_robots_number_where_there_is_one(node, wiring):
    got = []
    wiring.subscribe(String, "one", LAST, lambda *x: got.append(x))
    wiring.subscribe(String, "many", LAST, lambda *x: got.append(x), robot=0)
    node.subscriptions["one"][1]("a")
    node.subscriptions["many"][1]("b")
    assert got == [("a",), (0, "b")]


def test_a_broken_callback_is_a_failure(node, wiring, events):
    def broken(*arguments):
        raise KeyError("gone")

    wiring.subscribe(String, "one", LAST, broken)
    wiring.subscribe(String, "three", LAST, broken, robot=3)
    wiring.every(0.5, broken)
    node.subscriptions["one"][1]("a")
    node.subscriptions["three"][1]("a")
    node.timers[0][1]()
    assert [robot for _, robot in events.failed] == [None, 3, None]
    assert "KeyError" in events.failed[0][0]


def test_a_mismatch_names_the_other_side_the_policy_and_the_robot(node, wiring, events):
    """In rclpy's words for the policy, without their prefix."""
    wiring.subscribe(String, "state", LAST, print, robot=2)
    event = SimpleNamespace(last_policy_kind=SimpleNamespace(name="QOS_POLICY_DURABILITY"))
    node.subscriptions["state"][3]["event_callbacks"].incompatible_qos(event)
    wiring.publisher_events("commands").incompatible_qos(SimpleNamespace(last_policy_kind="x"))
    assert events.mismatched[0] == ("a publisher of state", "DURABILITY", 2)
    assert events.mismatched[1][::2] == ("a subscriber of commands", 0)


def test_timers_go_by_the_steady_clock(node, wiring):
    """A paused or jumping simulation must not stop the watchdog."""
    wiring.every(0.25, lambda: None)
    period, _, clock = node.timers[0]
    assert period == 0.25 and clock.clock_type is ClockType.STEADY_TIME


def test_services_answer_for_their_robots(node, wiring):
    wiring.serve(Trigger, "~/reset", lambda robots, request: (True, str(robots)), [0, 1])
    kind, callback = node.services["~/reset"]
    assert kind is Trigger and callback(None, Trigger.Response()).message == "[0, 1]"

"""Inputs are guarded, and QoS mismatches are reported."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest
from rclpy.action import CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import ClockType
from recording_node import RecordingNode
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ros2_node.ros.guards import Guards
from ros2_node.ros.topics import LAST, LATCHED, RELIABLE
from ros2_node.ros.wiring import EARLY, SETTLED, Wiring


@pytest.fixture
def node():
    return RecordingNode()


@pytest.fixture
def events():
    """Failures and mismatches."""
    return SimpleNamespace(failed=[], mismatched=[])


@pytest.fixture
def wiring(node, events):
    mismatched = lambda *what: events.mismatched.append(what)  # noqa: E731
    return Wiring(node, Guards(lambda *what: events.failed.append(what)), mismatched)


def test_messages_of_a_robot_come_with_its_number(node, wiring):
    got = []
    wiring.subscribe(String, "one", LAST, lambda *x: got.append(x))
    wiring.subscribe(String, "many", LAST, lambda *x: got.append(x), robot=0)
    node.subscriptions["one"][1]("a")
    node.subscriptions["many"][1]("b")
    assert got == [("a",), (0, "b")]


def test_a_broken_callback_is_a_failure(node, wiring, events):
    def raise_key_error(*arguments):
        raise KeyError("gone")

    wiring.subscribe(String, "one", LAST, raise_key_error)
    wiring.subscribe(String, "three", LAST, raise_key_error, robot=3)
    wiring.every(0.5, raise_key_error)
    node.subscriptions["one"][1]("a")
    node.subscriptions["three"][1]("a")
    node.timers[0][1]()
    assert [robot for _, robot in events.failed] == [None, 3, None]
    assert "KeyError" in events.failed[0][0]


def test_a_mismatch_names_the_other_side_the_policy_and_the_robot(node, wiring, events):
    """The policy is in rclpy's words without their prefix."""
    wiring.subscribe(String, "state", LAST, print, robot=2)
    event = SimpleNamespace(last_policy_kind=SimpleNamespace(name="QOS_POLICY_DURABILITY"))
    node.subscriptions["state"][3]["event_callbacks"].incompatible_qos(event)
    wiring.publisher_events("commands").incompatible_qos(SimpleNamespace(last_policy_kind="x"))
    first = "a publisher of state does not match this node's DURABILITY"
    assert events.mismatched[0] == (first, 2)
    assert events.mismatched[1][0].startswith("a subscriber of commands does not match")
    assert events.mismatched[1][1] == 0


def test_a_mismatch_remains_until_the_graph_has_none(node, wiring):
    """Mismatches of other nodes on the topic do not count. Before SETTLED the graph is not used."""
    wiring.publisher_events("commands").incompatible_qos(SimpleNamespace(last_policy_kind="x"))
    begun = time.monotonic()
    volatile, latched = endpoint("warpdyn", RELIABLE), endpoint("stranger", LATCHED)
    node.endpoints["commands"] = [volatile], [latched, endpoint("friend", RELIABLE)]
    assert len(wiring.mismatches(begun + SETTLED + 1.0)) == 1
    node.endpoints["commands"] = [volatile, endpoint("other", RELIABLE)], []
    assert len(wiring.mismatches(begun)) == 1
    assert not wiring.mismatches(begun + SETTLED + 1.0)
    wiring.publisher_events("commands").incompatible_qos(SimpleNamespace(last_policy_kind="x"))
    node.endpoints["commands"] = [endpoint("other", RELIABLE)], [latched]
    assert not wiring.mismatches(begun + SETTLED + 10.0)
    wiring.publisher_events("commands").incompatible_qos(SimpleNamespace(last_policy_kind="x"))
    wiring.forget_mismatches()
    assert not wiring.mismatches(begun)


def endpoint(name, qos):
    """One end of a topic, in the form of the graph."""
    return SimpleNamespace(node_name=name, node_namespace="/", qos_profile=qos)


def test_timers_use_the_steady_clock(node, wiring):
    """A paused or jumping simulation must not stop the watchdog."""
    wiring.every(0.25, lambda: None)
    period, _, clock = node.timers[0]
    assert period == 0.25 and clock.clock_type is ClockType.STEADY_TIME


def test_a_state_may_run_a_timer_that_is_nearly_due(node, wiring, events):
    """Two calls are at most one period apart, since the timer then waits for a whole period. Timers
    that must not be early are not run, and failures are reported."""
    called = []
    wiring.every(10.0, lambda: called.append("early"), early=True)
    wiring.every(1.0, lambda: called.append("in time"))
    begun = time.monotonic()
    node.timers[0][1]()
    wiring.catch_up(begun + (1.0 - EARLY) * 10.0 - 0.5)
    assert called == ["early"] and not node.resets
    at = begun + 10.0
    wiring.catch_up(at)
    assert called == ["early"] * 2 and node.resets == [10.0]
    wiring.catch_up(at + (1.0 - EARLY) * 10.0 - 1e-3)
    assert len(called) == 2
    wiring.catch_up(at + (1.0 - EARLY) * 10.0)
    assert called == ["early"] * 3 and node.resets == [10.0] * 2
    wiring.every(0.1, lambda: 1 / 0, early=True)
    wiring.catch_up(at)
    assert "ZeroDivisionError" in events.failed[0][0]


def test_services_get_the_numbers_of_their_robots(node, wiring):
    wiring.serve(Trigger, "~/reset", lambda robots, request: (True, str(robots)), [0, 1])
    kind, callback = node.services["~/reset"]
    assert kind is Trigger and callback(None, Trigger.Response()).message == "[0, 1]"


def test_an_action_is_guarded_and_ends_with_the_node(node, wiring, events, monkeypatch):
    """Each goal that a client cancels is cancelled. The robot's number is the first argument."""
    made, got = [], []

    class Server:
        def __init__(self, *arguments, **callbacks):
            self.arguments, self.callbacks, self.gone = arguments, callbacks, False
            made.append(self)

        def destroy(self):
            self.gone = True

    def raise_key_error(*arguments):
        raise KeyError("gone")

    monkeypatch.setattr("ros2_node.ros.wiring.ActionServer", Server)
    result = object()
    note = lambda *x: got.append(x)  # noqa: E731
    wiring.serve_action(String, "act", begin=note, cancel=note, result=result, robot=3)
    wiring.serve_action(
        String, "bad", begin=raise_key_error, cancel=raise_key_error, result=result, robot=4
    )
    good, bad = made
    assert good.arguments == (node, String, "act", result)
    good.callbacks["handle_accepted_callback"]("goal")
    assert good.callbacks["cancel_callback"]("goal") is CancelResponse.ACCEPT
    assert got == [(3, "goal"), (3, "goal")]
    bad.callbacks["handle_accepted_callback"]("goal")
    assert bad.callbacks["cancel_callback"]("goal") is CancelResponse.ACCEPT
    assert [robot for _, robot in events.failed] == [4, 4]
    wiring.end_actions()
    wiring.end_actions()
    assert good.gone and bad.gone


def test_a_service_that_waits_lets_others_run(node, wiring, events):
    """A coroutine has its own callback group. A failure is reported, and is the answer."""
    groups = {}
    create = node.create_service
    node.create_service = lambda kind, name, answer, **options: (
        create(kind, name, answer),
        groups.update({name: options.get("callback_group")}),
    )

    async def ask(robots, request):
        if request is None:
            raise KeyError("gone")
        return True, f"{robots} {request}"

    wiring.serve(Trigger, "~/plain", lambda robots, request: (True, ""), [0])
    wiring.serve(Trigger, "~/slow", ask, [2])
    assert groups["~/plain"] is None and type(groups["~/slow"]) is ReentrantCallbackGroup
    kind, callback = node.services["~/slow"]
    response = asyncio.run(callback("a", Trigger.Response()))
    assert kind is Trigger and (response.success, response.message) == (True, "[2] a")
    response = asyncio.run(callback(None, Trigger.Response()))
    assert (response.success, response.message) == (False, "'gone'")
    assert events.failed == [("ask: KeyError: 'gone'", 2)]


def test_a_subscription_gets_its_options(node, wiring):
    override = object()
    wiring.subscribe(String, "plain", LAST, print)
    wiring.subscribe(String, "bytes", RELIABLE, print, override=override, raw=True)
    for topic, qos, wanted, raw in (
        ("plain", LAST, None, False),
        ("bytes", RELIABLE, override, True),
    ):
        kind, _, given, options = node.subscriptions[topic]
        assert (kind, given) == (String, qos) and options["raw"] is raw
        assert options["qos_overriding_options"] is wanted


def test_a_mismatch_of_another_robot_has_its_number(node, wiring, events):
    """The graph is used more than two seconds after the mismatch."""
    event = SimpleNamespace(last_policy_kind=SimpleNamespace(name="QOS_POLICY_DEPTH"))
    wiring.subscribe(String, "state", LAST, print)
    node.subscriptions["state"][3]["event_callbacks"].incompatible_qos(event)
    text = "a publisher of state does not match this node's DEPTH"
    assert events.mismatched == [(text, 0)]
    node.endpoints["state"] = [], []
    (_, since) = wiring._standing[text]
    assert wiring.mismatches(since + 2.0) == [text]
    assert wiring.mismatches(since + 2.001) == []

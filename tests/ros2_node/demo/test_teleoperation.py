"""The node between two arms: which states it forwards as references, and which not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from ros2_node.demo import teleoperation as module
from ros2_node.demo.teleoperation import FRESH, Teleoperation


@pytest.fixture
def between(context):
    """Create the node with parameters, and record the messages it sends to each arm."""
    made = []

    def make(**values):
        parameters = [Parameter(name, value=x) for name, x in values.items()]
        node = Teleoperation(context=context, parameter_overrides=parameters)
        made.append(node)
        sent = []
        for side in node.sides:
            side._references.publish = lambda message, side=side: sent.append((side, message))
        return node, sent

    yield make
    for node in made:
        node.destroy_node()


def state(names, position, velocity=()):
    return JointState(name=names, position=position, velocity=velocity)


def test_the_leaders_state_is_the_followers_reference(between):
    """Positions and velocities of the forwarded joints are sent by name. Nothing is sent back."""
    node, sent = between(joints=["b", "a"])
    assert len(node.sides) == 1
    node._forward_states()
    assert not sent, "no state yet"
    node.sides[0]._on_state(state(["a", "b", "finger"], [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]))
    node._forward_states()
    (_, message), point = sent[0], sent[0][1].points[0]
    assert message.joint_names == ["b", "a"]
    np.testing.assert_array_equal(point.positions, [2.0, 1.0])
    np.testing.assert_array_equal(point.velocities, [0.2, 0.1])
    topics = {n for n, _ in node.get_topic_names_and_types()}
    assert "/follower/warpdyn/reference" in topics and "/leader/joint_states" in topics


def test_with_feedback_the_followers_state_is_forwarded_too(between):
    node, sent = between(leader="left", follower="right", feedback=True)
    leader, follower = node.sides
    follower._on_state(state(["a"], [4.0]))
    node._forward_states()
    assert [side for side, _ in sent] == [follower] and leader is not follower
    assert sent[0][1].points[0].positions[0] == 4.0 and not len(sent[0][1].points[0].velocities)
    assert follower._references.topic_name == "/left/warpdyn/reference"


def test_old_and_incomplete_states_are_not_forwarded(between):
    """A leader that has died must not keep its follower in motion."""
    node, sent = between(joints=["a", "b"])
    side = node.sides[0]
    side._on_state(state(["a"], [1.0]))
    node._forward_states()
    side._on_state(state(["a", "b"], [1.0]))
    node._forward_states()
    side._on_state(state(["a", "b"], [1.0, 2.0]))
    side._arrived -= 2.0 * FRESH + 1.0
    node._forward_states()
    assert not sent


def test_a_state_is_forwarded_again_while_it_is_fresh(between, monkeypatch):
    """The last state is sent again as long as it is fresh."""
    clock = SimpleNamespace(now=8.0)
    monkeypatch.setattr(module, "FRESH", 0.125)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    node, sent = between()
    node.sides[0]._on_state(state(["a"], [1.0]))
    for passed, count in ((0.0, 1), (0.125, 2), (0.25, 2), (9.0, 2)):
        node.sides[0]._arrived = clock.now - passed
        node._forward_states()
        assert len(sent) == count


def test_a_rate_of_zero_is_refused(between):
    with pytest.raises(ValueError, match=r"rate must lie in 1 .. 2000 Hz, got 0"):
        between(rate=0.0)


@pytest.mark.parametrize("rate", [1.0, 250.0, 2000.0])
def test_references_are_sent_at_their_rate(between, rate):
    node, _ = between(rate=rate)
    (timer,) = node.timers
    assert timer.timer_period_ns * 1e-9 == pytest.approx(1.0 / rate)
    for bad in (0.99, 2000.1):
        with pytest.raises(ValueError, match="rate must lie in"):
            between(rate=bad)


def test_all_joints_are_forwarded_by_default(between):
    """They have the order of the state. Velocities are sent only if each joint has one."""
    node, sent = between()
    side = node.sides[0]
    for velocity in ([0.1, 0.2], [0.1]):
        side._on_state(state(["x", "y"], [1.0, 2.0], velocity))
        node._forward_states()
        message = sent[-1][1]
        assert message.joint_names == ["x", "y"]
        assert list(message.points[0].positions) == [1.0, 2.0]
        assert list(message.points[0].velocities) == (velocity if len(velocity) == 2 else [])

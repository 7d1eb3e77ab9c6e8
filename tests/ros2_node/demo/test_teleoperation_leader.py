"""A simulated hand: when it begins, and how it pulls."""

from __future__ import annotations

import numpy as np
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from ros2_node.demo.teleoperation_leader import GRIP, Hand

NAMES = ["panda_joint1", "panda_joint4", "panda_finger_joint1", "panda_finger_joint2"]


class Brake:
    """A stand-in for a client of ~/brake."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: SetBool.Request) -> Brake:
        self.asked.append(request.data)
        return self

    def done(self) -> bool:
        return True


@pytest.fixture
def hand(context):
    node = Hand(context=context)
    node._brakes = {arm: Brake() for arm in node._brakes}
    node.sent = []
    node._push.publish = lambda message: node.sent.append(np.array(message.data))
    yield node
    node.destroy_node()


def state(seconds, q=(0.1, -2.0, 0.0, 0.0), v=(0.0, 0.0, 0.0, 0.0)):
    message = JointState(name=NAMES, position=q, velocity=v)
    message.header.stamp.sec = int(seconds)
    message.header.stamp.nanosec = int(1e9 * (seconds % 1.0))
    return message


def test_the_brakes_open_when_both_arms_have_torques(hand):
    """They open once, and the hand does not push before."""
    for arm in ("leader", "follower"):
        for _ in range(101):
            hand._open_brakes()
            hand._on_state(state(1.0))
            hand._count(arm)
    assert not hand.sent
    for _ in range(3):
        hand._open_brakes()
    assert [brake.asked for brake in hand._brakes.values()] == [[False], [False]]


def test_the_hand_pulls_like_a_spring_along_its_path(hand):
    """It begins where the arm is and is `swing` away after half a period. It does not push
    followers."""
    hand._open = True
    hand._on_state(state(5.0))
    np.testing.assert_allclose(hand.sent[-1], [0.0, 0.0, 0.0], atol=1e-12)
    hand._on_state(state(5.0 + 0.5 * hand.period, v=(0.5, 0.0, 0.0, 0.0)))
    stiffness, damping = GRIP
    np.testing.assert_allclose(
        hand.sent[-1], [stiffness * hand.swing - 0.5 * damping, 0.0, 0.0], atol=1e-9
    )


def test_the_second_joint_swings_twice_as_often(hand):
    """It swings by half of `swing` at a quarter and at three quarters of the period. The path
    begins at the first state."""
    hand._open = True
    hand._on_state(state(5.0, q=(0.5, -1.0, 0.0, 0.0)))
    assert GRIP == (40.0, 6.0) and (hand.swing, hand.period) == (0.3, 4.0)
    for share, way in (
        (0.25, (0.15, 0.15)),
        (0.5, (0.3, 0.0)),
        (0.75, (0.15, 0.15)),
        (1.0, (0.0, 0.0)),
    ):
        v = (0.0, 0.25, 0.0, 0.0)
        hand._on_state(state(5.0 + 4.0 * share, q=(0.6, -1.0, 0.0, 0.0), v=v))
        first, second, finger = hand.sent[-1]
        assert first == pytest.approx(40.0 * (way[0] - 0.1)) and finger == 0.0
        assert second == pytest.approx(40.0 * way[1] - 6.0 * 0.25)


def test_the_push_is_in_the_order_of_the_commands(context):
    """It pushes only its own joints. The parameters give its arms and its timer."""
    values = {
        "leader": "left",
        "follower": "right",
        "joints": ["b", "a"],
        "command_joints": ["c", "a", "b"],
        "swing": 0.5,
        "period": 8.0,
    }
    overrides = [Parameter(name, value=x) for name, x in values.items()]
    node = Hand(context=context, parameter_overrides=overrides)
    sent = []
    node._push.publish = lambda message: sent.append(list(message.data))
    assert list(node._brakes) == list(node._commanded) == ["left", "right"]
    assert node._push.topic_name == "/left/plant/push"
    topics = {subscription.topic_name for subscription in node.subscriptions}
    wanted = {"/left/warpdyn/commands", "/right/warpdyn/commands", "/left/joint_states"}
    assert wanted <= topics
    assert [timer.timer_period_ns for timer in node.timers] == [100_000_000]
    node._open = True
    for q in ((1.0, 2.0, 3.0), (1.0, 2.5, 4.0)):
        node._on_state(JointState(name=["a", "b", "c"], position=q, velocity=[0.0] * 3))
    assert sent == [[0.0, 0.0, 0.0], [0.0, 0.0, -20.0]]
    node.destroy_node()


def test_brakes_open_after_a_hundred_commands_to_each_arm(hand):
    """Their services must be available, and their answers must have come."""
    leader, follower = hand._brakes.values()
    done = []
    follower.done = lambda: bool(done)
    for arm in ("leader", "follower"):
        hand._commanded[arm] = 100
    hand._open_brakes()
    assert not leader.asked and not follower.asked
    for arm in ("leader", "follower"):
        hand._count(arm)
    leader.service_is_ready = lambda: False
    hand._open_brakes()
    assert not leader.asked and follower.asked == [False] and not hand._open
    leader.service_is_ready = lambda: True
    hand._open_brakes()
    assert leader.asked == [False] and not hand._open
    done.append(True)
    hand._open_brakes()
    assert hand._open and leader.asked == follower.asked == [False]

"""A simulated hand: when it begins, and how it pulls."""

from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from ros2_node.demo.teleoperation_leader import GRIP, Hand

NAMES = ["panda_joint1", "panda_joint4", "panda_finger_joint1", "panda_finger_joint2"]


class Brake:
    """In the place of a client of ~/brake."""

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
    """Neither before, nor twice; no push before."""
    for arm in ("leader", "follower"):
        for _ in range(101):
            hand._open_brakes()
            hand._on_state(state(1.0))
            hand._count(arm)
    assert not hand.sent
    for _ in range(3):
        hand._open_brakes()
    assert [brake.asked for brake in hand._brakes.values()] == [[False], [False]]


def test_it_pulls_like_a_spring_on_its_way(hand):
    """From where the arm is, to `swing` beyond after half a period; followers are not pushed."""
    hand._open = True
    hand._on_state(state(5.0))
    np.testing.assert_allclose(hand.sent[-1], [0.0, 0.0, 0.0], atol=1e-12)
    hand._on_state(state(5.0 + 0.5 * hand.period, v=(0.5, 0.0, 0.0, 0.0)))
    stiffness, damping = GRIP
    np.testing.assert_allclose(
        hand.sent[-1], [stiffness * hand.swing - 0.5 * damping, 0.0, 0.0], atol=1e-9
    )

"""Parameters over real DDS: refusals with reasons, and changes while the node runs."""

from __future__ import annotations

import time

import numpy as np
import pytest
from harness import PATIENCE
from oracle import Oracle
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]

Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])

BAD_VALUES = [
    ("torque_scale", 2.0, "0 .. 1.5|out of range"),
    ("torque_scale", float("nan"), "0 .. 1.5|out of range"),
    ("torque_scale", [1.0, 1.0], "8 command joints"),
    ("torque_scale", "much", "must be a number"),
    ("kp", -1.0, "0 .. |out of range"),
    ("state_timeout", 0.0, "0.01 .. |out of range"),
    ("state_timeout", float("inf"), "0.01 .. |out of range"),
    ("mode", "dance", "one of gravity"),
    ("mode", 3, "must be a text"),
    ("gravity", [0.0, 0.0], "3 numbers"),
    ("gravity", [0.0, 0.0, float("nan")], "must lie in"),
    ("stale_action", "", "one of ramp_down"),
    ("payload.link", "no_such_link", "no_such_link"),
    ("payload.mass", -2.0, "must lie in|out of range"),
    ("payload.mass", 2.0, "payload.link is empty"),
    ("device", "cuda:0", "read-only"),
    ("namespaces", ["a"], "read-only"),
    ("executor", "single", "read-only"),
]


@pytest.mark.parametrize(
    "name, value, reason", BAD_VALUES, ids=[f"{n}={v}" for n, v, _ in BAD_VALUES]
)
def test_a_bad_parameter_is_refused_with_a_reason(name, value, reason, panda_node, peer):
    answer = peer.set_parameter(name, value)
    assert not answer.successful
    assert any(part in answer.reason for part in reason.split("|")), answer.reason
    assert panda_node.alive


def test_good_parameters_are_accepted_including_integers(panda_node, peer):
    for name, value in (
        ("torque_scale", 1),
        ("torque_scale", [1.0] * 8),
        ("gravity", [0, 0, -9]),
        ("ramp_time", 0),
    ):
        assert peer.set_parameter(name, value).successful, name
    expected = Oracle().torque(NAMES, Q)
    for gravity in (9.0, 9.81):
        assert peer.set_parameter("gravity", [0.0, 0.0, -gravity]).successful
        peer.wait(
            lambda g=gravity: (
                peer.torques
                and np.allclose(peer.torques[-1].effort, expected * g / 9.81, atol=1e-9)
            ),
            f"torques under {gravity} m/s^2",
            each=lambda: peer.send(NAMES, Q),
        )
    assert peer.set_parameter("ramp_time", 0.05).successful


def test_mode_does_not_change_while_enabled(panda_node, peer):
    peer.wait_until_matched()

    def send():
        peer.send(NAMES, Q)

    peer.wait(lambda: peer.enable(each=send).success, "enabling", each=send)
    answer = peer.set_parameter("mode", "computed_torque", each=send)
    assert not answer.successful and "while enabled" in answer.reason
    assert peer.enable(False, each=send).success


def test_a_flood_of_parameters_does_not_break_limits_or_the_node(panda_node, peer):
    """The peer sets 2,500 a second without waiting for answers, while the arm is enabled."""
    peer.wait_until_matched()

    def send():
        peer.send(NAMES, Q)

    peer.wait(lambda: peer.enable(each=send).success, "enabling", each=send)
    client = peer.node.create_client(SetParameters, peer.own + "set_parameters")
    peer.wait(client.service_is_ready, "service", each=send)
    answers, answered, k = [], 0, 0
    begun = time.monotonic()
    while k < 5000 or (answered <= 100 and time.monotonic() - begun < PATIENCE):
        value = (0.5, 1.0, float("nan"), -1.0)[k % 4]
        request = SetParameters.Request(
            parameters=[Parameter("torque_scale", value=value).to_parameter_msg()]
        )
        answers.append(client.call_async(request))
        k += 1
        peer.spin(0.0)  # even if the peer is too slow for the rate
        while time.monotonic() - begun < k / 2500:
            send()
            peer.spin(0.0)
        if k % 100 == 0:
            send()
            answered += sum(a.done() for a in answers)
            answers = [a for a in answers if not a.done()]
    assert answered > 100, "DDS keeps the last ten calls only, but many were answered"
    assert peer.commands
    commands = np.array(peer.commands)
    assert np.isfinite(commands).all() and (np.abs(commands) <= 100.0).all()
    assert panda_node.alive
    peer.wait(
        lambda: peer.set_parameter("torque_scale", 1.0, each=send).successful,
        "an answer at the end",
        each=send,
    )
    peer.enable(False, each=send)

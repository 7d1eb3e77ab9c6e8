"""Parameters that change while commands are sent, over real DDS: no step, and no bad value is
accepted."""

from __future__ import annotations

import numpy as np
import pytest
from harness import NodeProcess, Peer
from oracle import Oracle
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
EXACT = 1e-9


@pytest.fixture
def sides(context):
    """A panda enabled at full torque, ready for a payload, its peer, and a function that sends
    states."""
    parameters = {
        "robot_description_file": "panda",
        "payload.link": "panda_hand",
        "ramp_time": 1.0,
        "state_timeout": 5.0,
    }
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()

        def send():
            peer.send(NAMES, Q, [0.0] * 8)

        assert peer.enable(each=send).success
        wait_for_command(peer, send, Oracle().torque(NAMES, Q))
        yield peer, send
        peer.close()


def wait_for_command(peer, send, expected):
    peer.wait(
        lambda: peer.commands and np.allclose(peer.commands[-1], expected, rtol=0.0, atol=EXACT),
        f"commands {expected}",
        each=send,
    )


@pytest.mark.parametrize(
    "name, value", [("torque_scale", 0.3), ("gravity", [0.0, 0.0, 9.81]), ("payload.mass", 3.0)]
)
def test_a_parameter_change_makes_no_step(sides, name, value):
    """The first commands after it differ from the last before it by no more than the ramp of a
    second allows in the cycles between. At its end they have the wanted values."""
    peer, send = sides
    oracle = Oracle()
    if name == "payload.mass":
        oracle.add_load("panda_hand", value, np.zeros(3))
    expected = oracle.torque(NAMES, Q) * {"torque_scale": 0.3, "gravity": -1.0}.get(name, 1.0)
    last = peer.commands[-1]
    seen = len(peer.commands)
    assert peer.set_parameter(name, value, each=send).successful
    wait_for_command(peer, send, expected)
    new = np.array([last, *peer.commands[seen:]])
    change = np.abs(expected - last).max()
    assert change > 3.0, "worth looking at"
    between = np.abs(new - last).max(axis=1) / change
    assert ((between > 0.02) & (between < 0.98)).sum() >= 5, "it takes its time"
    assert (np.diff(between) >= -1e-9).all() and between[-1] == pytest.approx(1.0)


def test_a_payload_is_applied_after_a_bad_description(sides):
    peer, send = sides
    answer = peer.set_parameter("robot_description", "<robot", each=send)
    assert not answer.successful and "the one before stays" in answer.reason
    assert peer.set_parameter("payload.mass", 2.0, each=send).successful
    loaded = Oracle()
    loaded.add_load("panda_hand", 2.0, np.zeros(3))
    wait_for_command(peer, send, loaded.torque(NAMES, Q))
    peer.wait_for_value("payload", lambda v: v == "2 kg on panda_hand", each=send)


def test_references_for_one_joint_that_jumps_and_that_is_not_followed(context):
    """A reference for one joint streams before ~/enable, and the others are held. Then one jumps
    and is refused. Then the arm does not follow, and stops."""
    parameters = {
        "robot_description_file": "panda",
        "mode": "computed_torque",
        "max_tracking_error": 0.3,
        "ramp_time": 0.05,
        "state_timeout": 5.0,
        "reference_timeout": 0,
    }
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        references = peer.node.create_publisher(JointTrajectory, peer.own + "reference", 1)
        peer.wait(references.get_subscription_count, "reference matched")

        def stream(offset):
            def send():
                point = JointTrajectoryPoint(positions=[Q[1] + offset])
                references.publish(JointTrajectory(joint_names=NAMES[1:2], points=[point]))
                peer.send(NAMES, Q, [0.0] * 8)

            return send

        def torque(offset):
            a = np.zeros(8)
            a[1] = 100.0 * offset
            return Oracle().torque(NAMES, Q, 0 * Q, a)

        peer.wait(lambda: len(peer.torques) > 5, "torques", each=stream(0.1))
        assert peer.enable(each=stream(0.1)).success
        wait_for_command(peer, stream(0.1), torque(0.1))
        peer.wait_for_value("noticed.reference_too_far", bool, each=stream(1.0))
        assert "panda_joint2" in peer.values["last reference refused"]
        wait_for_command(peer, stream(1.0), torque(0.1))
        peer.wait(
            lambda: "panda_joint2 is 0.35 from its reference" in peer.message,
            "the fault",
            each=stream(0.35),
        )
        peer.wait(lambda: not np.any(peer.commands[-5:]), "five zero commands", each=stream(0.35))
        assert peer.call("reset", Trigger, each=stream(0.35)).success
        assert not peer.enable(each=stream(0.35)).success
        peer.close()


def test_a_payload_too_heavy_for_the_joints_is_refused(sides):
    """It is 200 kg instead of 20. The refusal names joint, torque and limit, and the commands do
    not change."""
    peer, send = sides
    seen = len(peer.commands)
    answer = peer.set_parameter("payload.mass", 200.0, each=send)
    assert not answer.successful and "alone exceeds effort limits" in answer.reason
    assert "panda_joint2 " in answer.reason and " of 87" in answer.reason
    for _ in range(20):
        send()
        peer.spin(0.005)
    assert np.ptp(peer.commands[seen:], axis=0).max() < EXACT

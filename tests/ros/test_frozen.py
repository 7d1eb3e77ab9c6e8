"""A node that was frozen (SIGSTOP, then SIGCONT) for longer than `state_timeout`, in every mode and
law and with either executor. Its robot is stopped, and no torque for a state after the gap is sent.
Some cases run by default. Before a release each runs a hundred times for each executor."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from harness import NodeProcess, Peer

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
TIMEOUT, FROZEN = 0.25, 0.5
"""`state_timeout`, and how long the process is frozen [s]."""
KINDS = {
    "gravity": {},
    "inverse_dynamics": {"mode": "inverse_dynamics"},
    "computed_torque": {"mode": "computed_torque"},
    "joint_impedance": {"law": "joint_impedance", "law_inputs.stiffness": [200.0]},
    "cartesian_impedance": {
        "law": "cartesian_impedance",
        "law_options": ["frame=panda_hand"],
        "law_inputs.stiffness": [500.0, 500.0, 500.0, 30.0, 30.0, 30.0],
    },
    "teaching": {"law": "teaching"},
    "admittance": {
        "law": "admittance",
        "law_options": ["frame=panda_hand"],
        "law_inputs.virtual_mass": [5.0, 5.0, 5.0, 0.2, 0.2, 0.2],
        "law_inputs.virtual_damping": [100.0, 100.0, 100.0, 4.0, 4.0, 4.0],
        "ft_deadband": [
            50.0,
            10.0,
        ],  # this sensor does not report the weight of the hand
    },
}
"""Parameters of every mode and law of an arm."""
REPETITIONS = 17
"""Of each kind: 102 for an executor."""


def frozen_once(node: NodeProcess, peer: Peer, wrench: Any) -> None:
    """Enable the robot, freeze the node while the arm moves, and continue it.

    Fails unless the robot is stopped. wrench: the publisher of a force-torque sensor, which the law
    admittance needs.
    """
    q = Q.copy()

    def send() -> None:
        reading = WrenchStamped()
        reading.header.stamp = peer.node.get_clock().now().to_msg()
        reading.header.frame_id = "panda_hand"
        wrench.publish(reading)
        peer.send(NAMES, q, np.zeros(8))
        peer.spin(0.004)

    # On a busy machine the watchdog may fire while the torques rise. Then enable once more.
    def at_full_torque() -> bool:
        peer.enable(each=send)
        for _ in range(40):
            send()
        last = np.array(peer.commands[-5:])
        return peer.message == "enabled" and abs(last[0, 3]) > 15.0 and np.ptp(last[:, 3]) < 1e-9

    peer.wait(at_full_torque, "full torque")
    node.process.send_signal(signal.SIGSTOP)
    end = time.monotonic() + 0.1  # earlier messages are still on their way
    while time.monotonic() < end:
        peer.spin(0.005)
    before = len(peer.commands) - 1
    q[3] += 0.3
    end = time.monotonic() + FROZEN
    while time.monotonic() < end:
        send()
    node.process.send_signal(signal.SIGCONT)
    peer.wait_for_message("state lost", each=send)
    peer.wait(lambda: not np.any(peer.commands[-5:]), "five zeros", each=send)
    for _ in range(20):
        send()
    assert peer.message.startswith("state lost"), peer.message
    sent = np.array(peer.commands[before:])
    sizes = sent[:, 3] / sent[0, 3]
    assert np.abs(sent - np.outer(sizes, sent[0])).max() < 1e-9, (
        "no torque of a state after the gap"
    )
    assert (np.diff(sizes) <= 1e-9).all() and not sizes[-5:].any()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Two kinds run twice each by default.

    All kinds run a hundred times for each executor if --slow is set.
    """
    cases = [("events", "joint_impedance", 2), ("single", "computed_torque", 2)]
    if metafunc.config.getoption("--slow"):
        executors = ("events", "single")
        cases = [(executor, kind, REPETITIONS) for executor in executors for kind in KINDS]
    metafunc.parametrize(("executor", "kind", "repetitions"), cases)


def test_a_frozen_node_stops_its_robot(executor, kind, repetitions, context):
    parameters = {"robot_description_file": "panda", "ramp_time": 0.05, "executor": executor}
    parameters |= {"state_timeout": TIMEOUT, "diagnostics_period": 0.1, **KINDS[kind]}
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        wrench = peer.node.create_publisher(WrenchStamped, f"{peer.own}ft_wrench", 1)
        for _ in range(repetitions):
            frozen_once(node, peer, wrench)
            peer.commands.clear()
        peer.close()

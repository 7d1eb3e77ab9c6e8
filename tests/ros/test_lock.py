"""Safety parameters over DDS: no participant can widen those of an enabled node."""

from __future__ import annotations

import numpy as np
from harness import NodeProcess, Peer

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])


def test_limits_of_an_enabled_node_can_only_be_narrowed(context):
    """A wider value is refused with the reason while a robot is enabled, and accepted otherwise.

    `lock` itself is fixed.
    """
    parameters = {"robot_description_file": "panda", "ramp_time": 0.05, "lock": "enabled"}
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()

        def send():
            peer.send(NAMES, Q, [0.0] * 8)

        assert peer.set_parameter("effort_limits", 60.0, each=send).successful
        assert peer.enable(each=send).success
        for name, value in (
            ("torque_scale", 1.5),
            ("unlimited_effort", True),
            ("effort_limits", 1e6),
            ("stale_action", "hold"),
            ("robot_description_file", "ur5e"),
        ):
            answer = peer.set_parameter(name, value, each=send)
            assert not answer.successful, name
            assert f"{name} cannot be widened while a robot is enabled" in answer.reason
        assert not peer.set_parameter("lock", "never", each=send).successful
        assert peer.set_parameter("effort_limits", 50.0, each=send).successful
        assert peer.enable(False, each=send).success
        assert peer.set_parameter("effort_limits", 60.0, each=send).successful
        peer.close()

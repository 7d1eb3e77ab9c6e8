"""A leading and a following arm, both simulated, over DDS."""

from __future__ import annotations

import numpy as np
from harness import ForkedChild

from ros2_node.demo.teleoperating import teleoperate


def test_the_follower_follows_the_leader(monkeypatch):
    """The test takes 2 simulated seconds of the leader.

    The two simulations do not wait for each other, so on a busy machine the follower may be late.
    The test therefore compares its way with the leader's at any time.
    """
    monkeypatch.setattr("ros2_node.demo.teleoperating.Child", ForkedChild)
    patient = {"state_timeout": 10.0, "reference_timeout": 0.0}
    led = teleoperate(2.0, feedback=10.0, parameters=patient)
    assert led.swing > 0.1, "the hand led a joint by more than 5 degrees"
    swing = np.ptp(led.follower, axis=0).max()
    assert swing > 0.5 * led.swing
    distances = np.abs(led.follower[:, None] - led.leader).max(axis=-1)
    assert distances.min(axis=1).max() < 0.03

"""What the demo makes of two arms' states; tests/ros leads them."""

from __future__ import annotations

import numpy as np
import pytest

from ros2_node.demo.teleoperating import LeaderRecording


def test_swing_and_error_are_of_the_worst_joint():
    t = np.linspace(0.0, 1.0, 101)
    leader = np.zeros((101, 7))
    leader[:, 0], leader[:, 3] = 0.2 * np.sin(np.pi * t), -2.0 + 0.1 * t
    follower = leader.copy()
    follower[50, 5] += 0.03
    led = LeaderRecording(t, leader, follower)
    assert led.swing == pytest.approx(0.2) and led.error == pytest.approx(0.03)

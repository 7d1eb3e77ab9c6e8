"""What the demo makes of odometry; tests/ros walks it."""

from __future__ import annotations

import numpy as np
import pytest

from ros2_node.demo.walking import Walk

T = np.arange(0.0, 8.0, 0.01)


def walk_of(forward=0.5, turning=0.0, commanded=0.5, tilt=0.0, height=0.3):
    """Eight seconds that begin standing; speeds swing by 0.1 at 4 Hz, as a trot's do."""
    n = len(T)
    place, speed, told = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 3))
    place[:, 2], place[-1, 2] = 0.3, height
    place[:, 6], place[-1, 6], place[-1, 4] = 1.0, np.cos(tilt / 2), np.sin(tilt / 2)
    swing = 0.1 * np.sin(2 * np.pi * 4.0 * T)
    told[T >= 3.0, 0] = commanded
    speed[T >= 3.5, 0] = forward
    speed[:, 0] += swing
    speed[:, 5] = turning
    return Walk(T, place, speed, told, {})


def test_errors_are_of_means_after_a_command_has_settled():
    """Neither the swing of a trot nor the time of a change counts."""
    assert walk_of().errors == pytest.approx((0.0, 0.0), abs=2e-3)
    speed, turning = walk_of(forward=0.3, turning=-0.1).errors
    share = (8.0 - 4.5) / (8.0 - 4.5 + 1.5)
    assert speed == pytest.approx(0.2 * share, abs=3e-3) and turning == pytest.approx(0.1)


def test_a_fall_is_a_tilt_or_a_low_base():
    assert not walk_of(tilt=0.9).fell and not walk_of(height=0.2).fell
    assert walk_of(tilt=1.1).fell and walk_of(height=0.14).fell

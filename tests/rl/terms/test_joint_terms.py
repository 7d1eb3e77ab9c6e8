"""Costs of joints, compared with hand calculations."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("warpdyn.rl")
from warpdyn.rl import terms

V, TORQUES = np.array([2.0, -1.0]), np.array([3.0, 4.0])


def test_limits_are_costs_beyond_the_middle_share() -> None:
    """The middle nine tenths of a range of 2 rad end at 0.9.

    A joint without limits costs nothing.
    """
    q, lower, upper = np.array([0.95, -1.4, 50.0]), [-1.0, -1.0, -np.inf], [1.0, 1.0, np.inf]
    assert terms.joint_limits(q, lower, upper) == pytest.approx(0.05 + 0.5)
    assert terms.joint_limits(q, lower, upper, share=1.0) == pytest.approx(0.4)
    assert terms.speed_limits(V, [2.0, 2.0]) == pytest.approx(0.2)
    assert terms.torque_limits(TORQUES, [10.0, 4.0]) == pytest.approx(0.4)


def test_the_only_limit_of_a_joint_costs_the_angle_beyond_it() -> None:
    """It has no range, and so no middle share. Such limits cost nothing before."""
    lower, upper = [-1.0, -np.inf, -1.0], [np.inf, 2.0, 1.0]
    for share in (0.5, 0.9):
        inside, outside = np.array([50.0, -50.0, 0.0]), np.array([-1.5, 2.25, 0.0])
        assert terms.joint_limits(inside, lower, upper, share) == 0.0
        assert terms.joint_limits(outside, lower, upper, share) == pytest.approx(0.75)


@pytest.mark.parametrize("upper", [-2.0, np.nan])
def test_limits_without_a_range_are_refused(upper: float) -> None:
    with pytest.raises(ValueError, match="limits must be numbers, lower <= upper"):
        terms.joint_limits(np.zeros(1), [-1.0], [upper])


def test_torque_and_power_costs_equal_hand_calculations() -> None:
    """3 N·m at 2 rad/s give 6 W, and 4 N·m at -1 rad/s take 4 W."""
    assert terms.torque_cost(TORQUES) == 25.0 and terms.torque_cost(TORQUES, 5.0) == pytest.approx(
        1.0
    )
    assert terms.mechanical_power(TORQUES, V) == 10.0
    assert terms.motor_power(TORQUES, V) == 6.0
    assert terms.cost_of_transport(TORQUES, V, 2.0, -0.5) == pytest.approx(10 / (2 * 9.81 * 0.5))
    assert terms.cost_of_transport(TORQUES, V, 2.0, 0.0) == pytest.approx(10 / (2 * 9.81 * 0.1))


def test_smoothness_costs_equal_hand_calculations() -> None:
    last, before = np.array([1.0, -1.0]), np.array([0.0, -1.0])
    assert terms.joint_acceleration(V, last, 0.1) == pytest.approx(100.0)
    assert terms.action_rate(V, last) == 1.0
    assert terms.action_curvature(np.array([2.0, -1.0]), last, before) == 0.0
    assert terms.action_curvature(last, last, before) == 1.0
    assert terms.deviation(V, [1.0, 1.0]) == 5.0
    assert terms.deviation(V, [1.0, 1.0], [1.0, 0.5]) == 3.0

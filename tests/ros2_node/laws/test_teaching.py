"""An arm that is led by hand: the law carries its weight, damps it, and brakes fast joints."""

from __future__ import annotations

import numpy as np
import pytest
from driven_arm import READY, DrivenArm
from fleets import MODEL, N

import warpdyn as wd
from ros2_node.laws.teaching import check_teaching, teaching


def test_the_law_carries_the_weight_and_only_takes_energy():
    """The torques at rest are gravity's. In motion they take at least the power of `damping`."""
    rng = np.random.default_rng(0)
    q = READY + rng.uniform(-0.5, 0.5, (30, N)) * [*[1.0] * 7, 0.02]
    arm = DrivenArm(teaching, q, damping=0.3, max_speed=0.5)
    weight = wd.gravity_torques(MODEL, q)
    np.testing.assert_allclose(arm.torques(), weight, atol=1e-9)
    arm.v[:] = rng.normal(size=q.shape)
    taken = -np.einsum("bi,bi->b", arm.torques() - weight, arm.v)
    assert (taken >= 0.3 * (arm.v**2).sum(axis=1) - 1e-9).all()


def test_only_joints_beyond_max_speed_are_braked():
    """A constant push hardly exceeds max_speed. Without the brake the joint would be much
    faster."""
    speeds = {}
    for most in (0.6, 1e3):
        arm = DrivenArm(teaching, READY, max_speed=most, damping=0.0)
        arm.push[0, :7] = [2.0, 0, 0, 0, 0, 0, 0]
        speeds[most] = np.abs(arm.run(0.8, seen=lambda a=arm: a.v[0, 0].copy())).max()
    assert speeds[1e3] > 3.0 and 0.6 < speeds[0.6] < 1.0
    slow = DrivenArm(teaching, READY, max_speed=0.6, damping=0.0)
    slow.v[0, :7] = 0.59
    np.testing.assert_allclose(slow.torques(), wd.gravity_torques(MODEL, slow.q), atol=1e-9)


def test_the_brake_is_stable_in_slow_cycles():
    """Every joint slows down and none oscillates at 200 states a second.

    This is well within twice braking_time / joints.
    """
    arm = DrivenArm(teaching, READY, max_speed=0.2, damping=0.0)
    arm.v[0, :7] = [2.0, -2.0, 2.0, 1.0, -2.0, 2.0, 2.0]
    speed = arm.run(1.0, 0.005, lambda: arm.v[0, :7].copy())
    assert np.abs(speed[-1]).max() < 0.6
    assert np.abs(np.diff(np.sign(speed), axis=0)).sum(axis=0).max() <= 4


def test_a_spring_to_the_reference_is_bounded():
    """It transmits another arm's force. It is the stiffness times the distance, limited to that at
    0.3 rad."""
    way = np.array([0.1, -0.2, 0.0, 0.5, -3.0, 0.0, 0.0, 0.0])
    arm = DrivenArm(teaching, READY, coupling=20.0, q_posture=READY + way)
    felt = arm.torques()[0] - wd.gravity_torques(MODEL, READY)
    np.testing.assert_allclose(felt, 20.0 * np.clip(way, -0.3, 0.3), atol=1e-9)


def test_inputs_that_drive_the_arm_are_refused():
    good = {
        "damping": np.zeros(N),
        "max_speed": np.ones(N),
        "braking_time": np.array(0.05),
        "coupling": np.zeros(N),
    }
    check_teaching(good)
    for name, said in (
        ("damping", "damping must be at least 0"),
        ("max_speed", "max_speed must be at least 0"),
        ("braking_time", "braking_time must be at least 0.01 s"),
    ):
        with pytest.raises(ValueError, match=said):
            check_teaching({**good, name: good[name] - 2.0})

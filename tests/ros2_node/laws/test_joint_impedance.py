"""Joints as springs and dampers: passive, and with the requested stiffness and damping."""

from __future__ import annotations

import numpy as np
import pytest
from driven_arm import GRAVITY, READY, DrivenArm
from fleets import MODEL, N

import warpdyn as wd
from ros2_node.laws.joint_impedance import check_joint_impedance, joint_impedance

STIFFNESS = np.array([600.0, 600.0, 400.0, 400.0, 100.0, 80.0, 40.0, 500.0])


def states(count=30, seed=0):
    rng = np.random.default_rng(seed)
    q = READY + rng.uniform(-0.5, 0.5, (count, N)) * [*[1.0] * 7, 0.02]
    return q, rng.normal(size=(count, N)), rng


def test_the_power_is_that_of_the_spring_minus_the_dampers():
    """vᵀ (tau - g) + dU/dt = -vᵀ D v, which is negative at any speed. No motion gains energy from
    the law."""
    q, v, rng = states()
    arm = DrivenArm(joint_impedance, q, stiffness=STIFFNESS, damping_ratio=0.7, damping=0.1)
    arm.inputs["q_desired"][:] = q + rng.uniform(-0.3, 0.3, q.shape)
    arm.v[:] = v
    push = arm.torques() - wd.gravity_torques(MODEL, q)
    stored = -np.einsum("bi,bi->b", STIFFNESS * (arm.inputs["q_desired"] - q), v)
    dissipated = -(np.einsum("bi,bi->b", push, v) + stored)
    assert (dissipated > 0.1 * (v * v).sum(axis=1)).all(), "at least what `damping` takes"


def test_a_moving_reference_gives_the_pd_plus_law():
    """The torque is M a_d + C v_d + g + K e + D ė, with Coriolis forces by their matrix, and with
    the wrench and gravity. The oracle agrees."""
    q, v, rng = states(5, 1)
    arm = DrivenArm(joint_impedance, q, stiffness=STIFFNESS, damping_ratio=0.0, damping=3.0)
    arm.v[:] = v
    e, v_d, a_d = (rng.normal(size=q.shape) for _ in range(3))
    wrench = rng.normal(size=arm.inputs["f_ext"].shape)
    for name, value in (("q_desired", q + e), ("v_desired", v_d), ("a_desired", a_d)):
        arm.inputs[name][:] = value
    arm.inputs["f_ext"][:], arm.inputs["gravity"][:] = wrench, (1.0, 0.0, -3.7)
    C = wd.coriolis_matrix(MODEL, q, v)
    wanted = wd.rnea(MODEL, q, 0 * v, a_d, f_ext=wrench, gravity=(1.0, 0.0, -3.7))
    wanted += np.einsum("bij,bj->bi", C, v_d) + STIFFNESS * e + 3.0 * (v_d - v)
    np.testing.assert_allclose(arm.torques(), wanted, atol=1e-9)
    plain = wd.oracle(joint_impedance, MODEL, **{n: x[:1] for n, x in arm.inputs.items()})
    np.testing.assert_allclose(arm.tau[:1], plain, atol=1e-9)


def test_a_push_moves_a_joint_by_push_over_stiffness():
    """This holds at rest, to 1 %. The joint returns when the push ends."""
    arm = DrivenArm(joint_impedance, READY, stiffness=STIFFNESS, damping_ratio=1.0)
    arm.push[0, :7] = 0.05 * STIFFNESS[:7] * [1, -1, 1, -1, 1, 1, -1]
    arm.run(3.0)
    moved = arm.q[0, :7] - READY[:7]
    np.testing.assert_allclose(moved, arm.push[0, :7] / STIFFNESS[:7], rtol=0.01)
    arm.push[:] = 0.0
    arm.run(3.0)
    assert np.abs(arm.q[0] - READY).max() < 5e-4


@pytest.mark.parametrize("ratio", [0.3, 0.5])
def test_the_overshoot_of_a_mode_agrees_with_the_damping_ratio(ratio):
    """It is exp(-π z / √(1 - z²)) of the step. Each mode of the arm is released a small way off."""
    M = wd.crba(MODEL, READY)
    root = np.linalg.inv(np.linalg.cholesky(M))
    squares, turn = np.linalg.eigh(root @ np.diag(STIFFNESS) @ root.T)
    modes = (root.T @ turn)[:, [0, 2, 4]].T
    modes *= 1e-3 / np.abs(modes).max(axis=1, keepdims=True)
    arm = DrivenArm(
        joint_impedance, READY + modes, stiffness=STIFFNESS, damping_ratio=ratio, q_desired=READY
    )
    scale = np.einsum("bi,ij->bj", modes, M)
    weight = np.einsum("bi,bi->b", scale, modes)
    way = arm.run(1.0, 2e-4, lambda: np.einsum("bi,bi->b", scale, arm.q - READY) / weight)
    overshoot = -way.min(axis=0)
    measured = -np.log(overshoot) / np.hypot(np.pi, np.log(overshoot))
    np.testing.assert_allclose(measured, ratio, rtol=0.03)
    assert squares[0] > 0.0 and GRAVITY[2] < 0.0


def test_negative_springs_and_dampers_are_refused():
    good = {"stiffness": STIFFNESS, "damping": np.zeros(N), "damping_ratio": np.array(0.7)}
    check_joint_impedance(good)
    for name in good:
        with pytest.raises(ValueError, match=f"{name} must be at least 0, got -"):
            check_joint_impedance({**good, name: good[name] - 1e4})

"""Motions and torques split by a frame, compared with formulas that invert matrices, and their
rounding."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest
from driven_arm import HAND, READY
from fleets import MODEL, N

import warpdyn as wd
from ros2_node.laws.frame_split import HEAVIEST, FrameSplit, orthogonalise

SOFT = np.diag([800.0, 500.0, 300.0, 40.0, 30.0, 20.0])


def matrices(q, frame=HAND, model=MODEL):
    """The mass matrix, and the Jacobian in the axes of the frame."""
    return wd.crba(model, q), wd.jacobian(model, q, frame=frame, reference="local")


def inertia_of(M, J, heaviest):
    """Λ by inverses, damped as the laws damp it."""
    mobility = J @ np.linalg.solve(M, J.T)
    light = 1.0 / np.trace(np.linalg.inv(mobility + 1e-14 * np.eye(6)))
    lacks = np.clip(1.0 - light * heaviest, 0.0, 1.0)
    return np.linalg.inv(mobility + lacks**2 / heaviest * np.eye(6))


def mean_of(A, B):
    """A # B by eigenvectors."""
    C = np.linalg.cholesky(A)
    inner = np.linalg.solve(C, np.linalg.solve(C, B).T)
    values, turn = np.linalg.eigh(0.5 * (inner + inner.T))
    return C @ (turn * np.sqrt(values)) @ turn.T @ C.T


@wd.kernel
def parts(
    robot,
    M: Annotated[np.ndarray, ("nv", "nv")],
    J: Annotated[np.ndarray, (6, "nv")],
    v,
    torque: Annotated[np.ndarray, ("nv",)],
    a: (6,),
):
    split = FrameSplit(M, J, HEAVIEST * robot.total_mass)
    along, rest = split.parts(split.velocity(v))
    return {
        "free": split.free_velocity(rest),
        "torque": split.torques(split.free_torque(torque)),
        "inertial": split.torques(split.inertial(a)),
        "damped": split.torques(split.damping(SOFT, 0.7, along)),
    }


@pytest.mark.parametrize("stretched", [False, True])
def test_the_parts_agree_with_formulas_that_invert_matrices(stretched):
    """They are Nᵀ v, N tau, Jᵀ Λ a and Jᵀ D J v, at a bent pose and at one so stretched that Λ is
    damped."""
    q = np.array([0.0, 0.002, 0.0, -0.002, 0.0, np.pi / 2, 0.0, 0.02]) if stretched else READY + 0.1
    M, J = matrices(q)
    heaviest = HEAVIEST * MODEL.total_mass
    inertia = inertia_of(M, J, heaviest)
    undamped = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    assert (np.abs(inertia - undamped).max() > 1.0) == stretched
    rng = np.random.default_rng(0)
    v, torque, a = rng.normal(size=N), rng.normal(size=N), rng.normal(size=6)
    got = parts(MODEL, *(x[None] for x in (M, J, v, torque, a)))
    Nt = np.eye(N) - np.linalg.solve(M, J.T) @ inertia @ J
    D = 1.4 * mean_of(inertia, SOFT)
    wanted = (Nt @ v, Nt.T @ torque, J.T @ inertia @ a, J.T @ D @ (J @ v))
    for name, value in zip(("free", "torque", "inertial", "damped"), wanted, strict=True):
        np.testing.assert_allclose(getattr(got, name)[0], value, rtol=1e-7, atol=1e-7)


def test_a_frame_that_no_joint_moves_has_no_part():
    """All motion and torque is then free."""
    M, J = matrices(READY)
    v = np.ones(N)
    got = parts(MODEL, *(x[None] for x in (M, 0.0 * J, v, v, np.ones(6))))
    np.testing.assert_allclose(got.free[0], v, atol=1e-12)
    np.testing.assert_allclose(got.torque[0], v, atol=1e-12)
    np.testing.assert_allclose([got.inertial, got.damped], 0.0, atol=1e-12)


def test_orthogonalise_makes_columns_orthogonal():
    A = np.random.default_rng(3).normal(size=(7, 4))
    P, squares, R = orthogonalise(list(A.T), 0.0)
    np.testing.assert_allclose(np.stack(P).T @ R, A, atol=1e-14)
    np.testing.assert_allclose(np.stack(P) @ np.stack(P).T, np.diag(squares), atol=1e-13)


@wd.kernel
def free_torques(robot, q, v, torque: Annotated[np.ndarray, ("nv",)], *, frame):
    J = robot.jacobian(q, frame=frame, reference="local")
    split = FrameSplit(robot.crba(q), J, HEAVIEST * robot.total_mass)
    along, rest = split.parts(split.velocity(v))
    damped = split.damping(SOFT, 0.7, along)
    pull = torque - split.free_velocity(rest)
    return split.torques(split.free_torque(pull) - damped)


def test_rounding_is_small_near_singular_poses():
    """The kernel and the oracle, which rounds each product, differ by a few units in the last place
    of the largest torques. With the inverse of J M⁻¹ Jᵀ they would differ by up to 1e-9 N m."""
    model, frame = wd.load_robot("ur5e"), "tool0"
    rng = np.random.default_rng(4)
    q, v, torque = (rng.uniform(-3.0, 3.0, (60, 6)) for _ in range(3))
    q[:, 4] = rng.uniform(-0.06, 0.06, 60)
    kernel = free_torques(model, q, v, torque, frame=frame)
    assert np.abs(kernel).max() > 10.0
    largest = np.argsort(-np.abs(kernel).max(axis=1))[:15]  # the oracle takes 0.1 s a pose
    rows = (x[largest] for x in (q, v, torque))
    oracle = wd.oracle(free_torques, model, *rows, frame=frame)
    np.testing.assert_allclose(kernel[largest], oracle, atol=5e-12)

"""The Coriolis matrix: laws on every robot, the oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from pinocchio_peer import in_pinocchio, pin
from robots import Robot, by_name, random_trees
from states import error, states, step

import warpdyn as wd
from warpdyn.functions.dynamics import bias_forces, coriolis_matrix, gravity_torques

ROUND_OFF = {"float64": 1e-11, "float32": 1e-5}
"""Relative to the largest entry."""

DIFFERENCE = 1e-8
"""Relative; central differences of M with step 1e-5."""

H = 1e-5

KERNELS = ("panda", "mimic_branches", "free_inside_wxyz", "balls")
"""Robots whose kernels are compiled here."""


def rate_of_mass_matrix(model: wd.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    later, earlier = (wd.oracle(wd.crba, model, step(model, q, sign * H * v)) for sign in (1, -1))
    return (later - earlier) / (2 * H)


def products(C: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("eij,ej->ei", C, v)


def test_the_coriolis_matrix_gives_the_velocity_products(robot: Robot) -> None:
    """C v = bias - gravity."""
    model, s = robot.model, states(robot.model, 2)
    C = wd.oracle(coriolis_matrix, model, s.q, s.v)
    bias, gravity = wd.oracle(bias_forces, model, s.q, s.v), wd.oracle(gravity_torques, model, s.q)
    assert error(products(C, s.v), bias - gravity, bias, gravity) <= ROUND_OFF["float64"]


def test_the_rate_of_the_mass_matrix_is_twice_its_symmetric_part(robot: Robot) -> None:
    """dM/dt = C + C^T, so that dM/dt - 2 C is skew-symmetric and v^T (dM/dt - 2 C) v = 0.

    Without friction the motion adds no energy.
    """
    model, s = robot.model, states(robot.model, 2)
    C, rate = wd.oracle(coriolis_matrix, model, s.q, s.v), rate_of_mass_matrix(model, s.q, s.v)
    M = wd.oracle(wd.crba, model, s.q)
    assert error(C + C.swapaxes(1, 2), rate, C, M) <= DIFFERENCE
    fed = np.einsum("ei,eij,ej->e", s.v, rate - 2 * C, s.v)
    assert error(fed, 0 * fed, C, M) <= 20 * DIFFERENCE


@pytest.mark.parametrize(
    "name", ["axes", "slides", "mimic_chain", "mimic_branches", "double_pendulum"]
)
def test_the_coriolis_matrix_equals_that_of_the_christoffel_symbols(name: str) -> None:
    """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2, if v is the rate of q."""
    model, s = by_name(name).model, states(by_name(name).model, 2)
    steps = np.eye(model.nv) * H
    later, earlier = (
        np.stack([wd.oracle(wd.crba, model, s.q + sign * d) for d in steps], axis=-1)
        for sign in (1, -1)
    )
    D = (later - earlier) / (2 * H)  # D[e, i, j, k] = dM_ij/dq_k
    symbols = 0.5 * (D + D.transpose(0, 1, 3, 2) - D.transpose(0, 3, 1, 2))
    assert (
        error(
            wd.oracle(coriolis_matrix, model, s.q, s.v), np.einsum("eijk,ek->eij", symbols, s.v), D
        )
        <= DIFFERENCE
    )


@settings(max_examples=30)
@given(random_trees())
def test_coriolis_matrices_of_random_trees_obey_both_laws(robot: Robot) -> None:
    """C v = bias - gravity, and dM/dt = C + C^T."""
    model, s = robot.model, states(robot.model, 1)
    if not model.nv:
        return
    C = wd.oracle(coriolis_matrix, model, s.q, s.v)
    bias = wd.oracle(bias_forces, model, s.q, s.v, gravity=(0.0, 0.0, 0.0))
    assert error(products(C, s.v), bias, C) <= ROUND_OFF["float64"]
    M = wd.oracle(wd.crba, model, s.q)
    assert error(C + C.swapaxes(1, 2), rate_of_mass_matrix(model, s.q, s.v), C, M) <= DIFFERENCE


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernel_equals_the_oracle(name: str, run, dtype) -> None:
    model = by_name(name).model
    s = states(model).rounded(dtype)
    wanted = wd.oracle(coriolis_matrix, model, s.q, s.v)
    assert (
        error(run(coriolis_matrix, model, s.q, s.v, dtype=dtype), wanted) <= ROUND_OFF[str(dtype)]
    )


def test_the_coriolis_matrix_equals_pinocchios(robot: Robot) -> None:
    """computeCoriolisMatrix entry by entry, computeGeneralizedGravity and nonLinearEffects.

    For joints whose subspace moves in the child (universal) Pinocchio's matrix does not satisfy C v
    = h - g.
    """
    peer, model, s = in_pinocchio(robot), robot.model, states(robot.model, 3)
    data = peer.pin.createData()
    C, g, h = [], [], []
    for q, v in zip(s.q, s.v, strict=True):
        C.append(peer.square(pin.computeCoriolisMatrix(peer.pin, data, peer.q(q), peer.v(v))))
        g.append(peer.back(pin.computeGeneralizedGravity(peer.pin, data, peer.q(q))))
        h.append(peer.back(pin.nonLinearEffects(peer.pin, data, peer.q(q), peer.v(v))))
    assert (
        error(wd.oracle(gravity_torques, model, s.q), np.array(g), np.array(h))
        <= ROUND_OFF["float64"]
    )
    assert error(wd.oracle(bias_forces, model, s.q, s.v), np.array(h)) <= ROUND_OFF["float64"]
    if all(joint.kind.name != "universal" for joint in model.joints):
        assert (
            error(wd.oracle(coriolis_matrix, model, s.q, s.v), np.array(C), np.array(h))
            <= ROUND_OFF["float64"]
        )

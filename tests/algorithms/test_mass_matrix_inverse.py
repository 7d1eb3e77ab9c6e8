"""The inverse of the mass matrix, systems with it, and forward dynamics by either method."""

from __future__ import annotations

import numpy as np
import pytest
from pinocchio_peer import in_pinocchio, pin
from robots import Robot, by_name
from states import error, size, states

import warpdyn as wd
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.algorithms.mass_matrix_inverse import solve_articulated
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call, tree_of
from warpdyn.functions.dynamics import mass_matrix_inverse, solve

RESIDUAL = {"float64": 1e-12, "float32": 1e-5}
"""Of M M^-1 - 1, over the condition number that |M| |M^-1| is."""

PEER = 1e-11
"""Relative to the largest entry."""

KERNELS = ("panda", "mimic_branches", "branches_wxyz", "cartpole")


def movable(robot: Robot) -> wd.Model:
    joint = unmoved_joint(tree_of(robot.model))
    if joint is not None:
        pytest.skip(f"joint {joint} moves no inertia")
    return robot.model


def inverse_error(model: wd.Model, q: np.ndarray, inverse: np.ndarray) -> float:
    M = wd.oracle(wd.crba, model, q)
    assert np.array_equal(inverse, inverse.swapaxes(1, 2))
    condition = size(np.abs(M) @ np.abs(inverse))
    return error(M @ inverse, np.broadcast_to(np.eye(model.nv), M.shape)) / condition


def test_mass_matrix_inverse_is_the_inverse(robot: Robot) -> None:
    """M M^-1 = 1, and both triangles have the same numbers."""
    model = movable(robot)
    s = states(model, 2)
    assert (
        inverse_error(model, s.q, wd.oracle(mass_matrix_inverse, model, s.q)) <= RESIDUAL["float64"]
    )


def test_solve_equals_the_inverse_times_a_vector(robot: Robot) -> None:
    """M solve(b) = b, by the factorised matrix and by articulated bodies."""
    model = movable(robot)
    s = states(model, 2)
    M, x = wd.oracle(wd.crba, model, s.q), wd.oracle(solve, model, s.q, s.tau)
    terms = np.einsum("eij,ej->ei", np.abs(M), np.abs(x))
    assert error(np.einsum("eij,ej->ei", M, x), s.tau, terms) <= RESIDUAL["float64"]
    tree = tree_of(model)
    if not tree.shares_coordinates:
        rows = [
            solve_articulated(tree, q.tolist(), b.tolist()) for q, b in zip(s.q, s.tau, strict=True)
        ]
        assert (
            error(np.einsum("eij,ej->ei", M, np.array(rows)), s.tau, terms) <= RESIDUAL["float64"]
        )


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_the_oracle(name: str, run, dtype) -> None:
    """The inverse and `solve` in both precisions."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    assert (
        inverse_error(model, s.q, run(mass_matrix_inverse, model, s.q, dtype=dtype))
        <= RESIDUAL[str(dtype)]
    )
    M, x = wd.oracle(wd.crba, model, s.q), run(solve, model, s.q, s.tau, dtype=dtype)
    terms = np.einsum("eij,ej->ei", np.abs(M), np.abs(x))
    assert error(np.einsum("eij,ej->ei", M, x), s.tau, terms) <= RESIDUAL[str(dtype)]


@pytest.mark.parametrize(("follows", "most"), [(False, 2500), (True, 4500)])
def test_long_chains_are_solved_by_articulated_bodies(follows: bool, most: int) -> None:
    """This needs fewer operations than the matrix. With a mimic joint the matrix is needed."""
    chain = wd.ModelBuilder("chain").add_link("0")
    for k in range(1, 17):
        chain.add_link(str(k), mass=1.0, com=(0.1, 0.0, 0.0), inertia=np.diag([0.01] * 3))
        leader = "1" if follows and k == 16 else None
        axis = ((1, 0, 0), (0, 1, 0))[k % 2]
        chain.add_joint(
            str(k), "continuous", str(k - 1), str(k), pose=(0.2, 0, 0), axis=axis, mimic=leader
        )
    model = chain.build()
    s = states(model, 2)
    M, x = wd.oracle(wd.crba, model, s.q), solve(model, s.q, s.tau)
    terms = np.einsum("eij,ej->ei", np.abs(M), np.abs(x))
    assert error(np.einsum("eij,ej->ei", M, x), s.tau, terms) <= RESIDUAL["float64"]
    call = describe_call(solve, (model, ..., ...), {})
    assert record_call(call, input_shapes(call), True).operations <= most


def test_the_inverse_equals_pinocchios(robot: Robot) -> None:
    """computeMinverse, for robots without mimic joints."""
    model, peer = movable(robot), in_pinocchio(robot)
    if robot.has_mimic:
        pytest.skip("Pinocchio does not reduce mimic joints")
    s, data, wanted = states(model, 3), peer.pin.createData(), []
    for q in s.q:
        inverse = pin.computeMinverse(peer.pin, data, peer.q(q))
        wanted.append(peer.square(np.triu(inverse) + np.triu(inverse, 1).T))
    condition = np.linalg.cond(wd.oracle(wd.crba, model, s.q)).max() if model.nv else 1.0
    assert error(wd.oracle(mass_matrix_inverse, model, s.q), np.array(wanted)) <= max(
        PEER, 1e-15 * condition
    )

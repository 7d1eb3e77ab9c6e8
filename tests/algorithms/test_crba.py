"""Joint-space inertia: laws on every robot, the oracle, Pinocchio, published tables."""

from __future__ import annotations

import numpy as np
import pytest
import tables
from hypothesis import given, settings
from pinocchio_peer import Peer, in_pinocchio
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, reduction, states, without_mimic

import warpdyn as wd
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.execution.request.evaluate import tree_of

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest entry: products and sums along a branch."""

SINGULAR = 1e-13
"""Eigenvalues below this part of the largest are zero to rounding."""


def test_crba_equals_the_oracle(robot: Robot, run, dtype) -> None:
    """The kernel gives the numbers of the same algorithm in float64."""
    s = states(robot.model).rounded(dtype)
    wanted = wd.oracle(wd.crba, robot.model, s.q)
    assert error(run(wd.crba, robot.model, s.q, dtype=dtype), wanted) <= ROUND_OFF[str(dtype)]


def test_columns_of_the_inertia_matrix_equal_rnea(robot: Robot, run) -> None:
    """M e_k = rnea(q, 0, e_k) without gravity, as rnea is affine in the acceleration."""
    model, s = robot.model, states(robot.model, 3)
    M = run(wd.crba, model, s.q)
    for e in range(3):
        q = np.tile(s.q[e], (model.nv, 1))
        columns = wd.oracle(
            wd.rnea, model, q, np.zeros((model.nv, model.nv)), np.eye(model.nv), gravity=(0, 0, 0)
        )
        assert error(M[e], columns.T) <= ROUND_OFF["float64"]


def test_the_inertia_matrix_is_symmetric_and_positive_definite(robot: Robot, run) -> None:
    """Both triangles have the same bits, and every motion has kinetic energy."""
    M = run(wd.crba, robot.model, states(robot.model).q)
    assert np.array_equal(M, M.transpose(0, 2, 1))
    eigenvalues = np.linalg.eigvalsh(M)
    if unmoved_joint(tree_of(robot.model)) is None:
        assert np.all(eigenvalues[:, 0] > SINGULAR * eigenvalues[:, -1])


def test_the_inertia_matrix_gives_the_kinetic_energy_of_the_links(robot: Robot, run) -> None:
    """v^T M v / 2 = sum over links of m |v_com|^2 / 2 + w^T I w / 2, with velocities from Jacobians
    of links.
    """
    model, s = robot.model, states(robot.model, 3)
    M = run(wd.crba, model, s.q)
    total = np.zeros(3)
    for link in model.links:
        J = wd.oracle(wd.jacobian, model, s.q, frame=link.name, reference="local")
        twist = np.einsum("eij,ej->ei", J, s.v)
        linear, angular = twist[:, :3] + np.cross(twist[:, 3:], link.com), twist[:, 3:]
        total += 0.5 * link.mass * np.sum(linear**2, axis=1) + 0.5 * np.einsum(
            "ei,ij,ej->e", angular, link.inertia, angular
        )
    armature = [[joint.armature] * joint.kind.nv for joint in model.moving_joints]
    total += 0.5 * np.sum(np.concatenate([np.array(a) for a in armature]) * s.v**2, axis=1)
    terms = 0.5 * np.einsum("ei,eij,ej->e", np.abs(s.v), np.abs(M), np.abs(s.v))
    assert error(0.5 * np.einsum("ei,eij,ej->e", s.v, M, s.v), total, terms) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_equal_the_reduction_of_the_free_robot(robot: Robot, run) -> None:
    """M = G^T M_full(G q + g) G, with M_full of the robot whose mimic joints are free."""
    model, full, s = robot.model, without_mimic(robot.model), states(robot.model)
    Gq, Gv, g = reduction(model)
    M_full = wd.oracle(wd.crba, full, s.q @ Gq.T + g)
    assert error(run(wd.crba, model, s.q), Gv.T @ M_full @ Gv, M_full) <= ROUND_OFF["float64"]


def test_the_linear_block_of_a_floating_base_is_the_total_mass(run) -> None:
    """Times the identity. Root-fixed links count."""
    for name in ("rooted_floating", "branches_wxyz", "humanoid_floating", "erd_solo12_floating"):
        model = next((r.model for r in ROBOTS if r.name == name), None)
        if model is None:
            continue
        M = run(wd.crba, model, states(model).q)
        mass = np.tile(model.total_mass * np.eye(3), (len(M), 1, 1))
        assert error(M[:, :3, :3], mass) <= ROUND_OFF["float64"]


def test_the_block_of_joints_does_not_depend_on_the_base(run) -> None:
    """M of the joints is that of the fixed robot, for any pose of the floating base."""
    floating, fixed = by_name("rooted_floating").model, by_name("rooted").model
    s = states(floating)
    M = run(wd.crba, floating, s.q)[:, 6:, 6:]
    assert error(M, wd.oracle(wd.crba, fixed, s.q[:, 7:])) <= ROUND_OFF["float64"]


def test_armature_adds_to_the_diagonal(run) -> None:
    """Reflected rotor inertia adds multiplier^2 * armature at the coordinate of its joint, and
    nothing else.
    """
    robot = by_name("mimic_chain").model
    s = states(robot)
    geared = run(wd.crba, robot.with_armature({"lead": 0.5, "second": 0.2, "own": 0.1}), s.q)
    added = np.diag([0.5 + 0.2 * 0.25, 0.1])
    assert (
        error(geared - wd.oracle(wd.crba, robot, s.q), np.tile(added, (len(s.q), 1, 1)), geared)
        <= ROUND_OFF["float64"]
    )


@settings(max_examples=60)
@given(random_trees())
def test_columns_of_the_inertia_matrix_of_random_trees_equal_rnea(robot: Robot) -> None:
    """M e_k = rnea(q, 0, e_k), and M is symmetric."""
    model, s = robot.model, states(robot.model, 1)
    M, zeros = wd.oracle(wd.crba, model, s.q)[0], np.zeros((model.nv, model.nv))
    columns = wd.oracle(
        wd.rnea, model, np.tile(s.q, (model.nv, 1)), zeros, np.eye(model.nv), gravity=(0, 0, 0)
    )
    assert error(M, columns.T) <= ROUND_OFF["float64"]
    assert error(M, M.T) <= ROUND_OFF["float64"]


def test_crba_equals_pinocchios(robot: Robot, run) -> None:
    """Matrices are computed in float64 for the same robot and state."""
    peer, s = in_pinocchio(robot), states(robot.model)
    assert isinstance(peer, Peer)
    assert error(run(wd.crba, robot.model, s.q), peer.crba(s.q)) <= ROUND_OFF["float64"]


def test_the_inertia_matrix_of_the_puma_560_equals_the_published_table(run) -> None:
    """The robot has its motors. The printed digits agree."""
    M = run(wd.crba, tables.puma(), np.array([tables.PUMA_QN]))[0] + np.diag(tables.PUMA_ARMATURE)
    assert np.max(np.abs(np.diag(M) - tables.PUMA_M_DIAGONAL)) <= tables.PRINTED
    for (i, j), value in tables.PUMA_M.items():
        assert abs(M[i, j] - value) <= tables.PRINTED
    a, tau = tables.PUMA_ITORQUE
    assert np.max(np.abs(M @ np.array(a) - tau)) <= tables.PRINTED

"""Forward dynamics: laws on every robot, the oracle, Pinocchio, published tables, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import tables
from hand_made_urdf import joint, link, urdf
from hypothesis import given, settings
from pinocchio_peer import in_pinocchio
from robots import ROBOTS, Robot, random_trees
from states import error, reduction, size, states, without_mimic

import warpdyn as wd
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.execution.request.evaluate import tree_of

RESIDUAL = {"float64": 1e-12, "float32": 1e-5}
"""Of M a + h - tau, relative to its largest term: what rounding leaves however ill-conditioned M is."""

BACK = 1e-9
"""Relative: an acceleration itself, times the condition of M (up to 1e5 here)."""


def residual(M: np.ndarray, h: np.ndarray, a: np.ndarray, tau: np.ndarray) -> float:
    """|M a + h - tau| relative to its terms."""
    rows = np.abs(np.einsum("eij,ej->ei", M, a) + h - tau)
    rows = np.where(np.isnan(rows), np.inf, rows)
    terms = [size(np.abs(M[e]) @ np.abs(a[e]), h[e], tau[e]) for e in range(len(a))]
    return float(np.max(rows / np.array(terms)[:, None]))


def movable(robot: Robot) -> wd.Model:
    joint = unmoved_joint(tree_of(robot.model))
    if joint is not None:
        pytest.skip(f"joint {joint} moves no inertia")
    return robot.model


def test_aba_solves_the_equation_of_motion(robot: Robot, run, dtype) -> None:
    """M(q) a + h(q, v) = tau. M and h come from kernels in float64, which equal the oracle
    (test_crba.py, test_rnea.py).
    """
    model = movable(robot)
    s = states(model).rounded(dtype)
    a = run(wd.aba, model, s.q, s.v, s.tau, dtype=dtype)
    M, h = wd.crba(model, s.q), wd.rnea(model, s.q, s.v, 0 * s.v)
    assert residual(M, h, a, s.tau) <= RESIDUAL[str(dtype)]


def test_inverse_dynamics_inverts_forward_dynamics(robot: Robot, run) -> None:
    """rnea(q, v, aba(q, v, tau)) = tau, with gravity per environment and forces on every link."""
    model = movable(robot)
    s = states(model)
    a = run(wd.aba, model, s.q, s.v, s.tau, gravity=s.gravity, f_ext=s.forces)
    tau = run(wd.rnea, model, s.q, s.v, a, gravity=s.gravity, f_ext=s.forces)
    M = wd.crba(model, s.q)  # for the size of the terms
    terms = np.einsum("eij,ej->ei", np.abs(M), np.abs(a))
    assert error(tau, s.tau, terms) <= RESIDUAL["float64"]


def test_forward_dynamics_inverts_inverse_dynamics(robot: Robot, run) -> None:
    """aba(q, v, rnea(q, v, a)) = a, to the condition of M."""
    model = movable(robot)
    s = states(model)
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
    assert error(run(wd.aba, model, s.q, s.v, tau), s.a) <= BACK


def test_articulated_bodies_and_the_factorised_matrix_agree(robot: Robot) -> None:
    """The oracles of both algorithms."""
    from warpdyn.algorithms.aba import aba, forward_dynamics_crba

    model, s = movable(robot), states(robot.model, 2)
    tree, g = tree_of(model), (0.0, 0.0, -9.81)
    for e in range(2):
        args = (
            tree,
            s.q[e].tolist(),
            s.v[e].tolist(),
            s.tau[e].tolist(),
            g,
            {model.link_names[-1]: s.forces[e, 0].tolist()},
        )
        assert error(aba(*args), forward_dynamics_crba(*args)) <= BACK


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_equal_the_reduction_of_the_free_robot(robot: Robot, run) -> None:
    """a = (G^T M_full G)^-1 (tau - G^T h_full)."""
    model, full, s = movable(robot), without_mimic(robot.model), states(robot.model)
    Gq, Gv, g = reduction(model)
    q = s.q @ Gq.T + g
    M = Gv.T @ wd.oracle(wd.crba, full, q) @ Gv
    h = wd.oracle(wd.rnea, full, q, s.v @ Gv.T, np.zeros((len(q), full.nv))) @ Gv
    wanted = np.linalg.solve(M, (s.tau - h)[..., None])[..., 0]
    assert error(run(wd.aba, model, s.q, s.v, s.tau), wanted) <= BACK


def test_a_floating_robot_without_torques_falls(robot: Robot, run) -> None:
    """A base at rest accelerates with gravity, and the joints do not accelerate."""
    model = robot.model
    if not model.floating_base:
        pytest.skip("the base is fixed")
    s = states(model)
    zeros = np.zeros_like(s.v)
    a = run(wd.aba, model, s.q, zeros, zeros)
    R = wd.oracle(wd.fk, model, s.q, frame=model.root)[:, :3, :3]
    wanted = np.hstack([np.einsum("eji,j->ei", R, [0, 0, -9.81]), zeros[:, 3:]])
    assert error(a, wanted) <= BACK


@settings(max_examples=40)
@given(random_trees())
def test_random_trees_solve_the_equation_of_motion(robot: Robot) -> None:
    """The result of `aba` satisfies M a + h = tau on any tree with inertia beyond every joint."""
    model, s = robot.model, states(robot.model, 1)
    if unmoved_joint(tree_of(model)) is not None or not model.nv:
        return
    a = wd.oracle(wd.aba, model, s.q, s.v, s.tau, gravity=s.gravity, f_ext=s.forces)
    M = wd.oracle(wd.crba, model, s.q)
    h = wd.oracle(wd.rnea, model, s.q, s.v, 0 * s.v, gravity=s.gravity, f_ext=s.forces)
    assert residual(M, h, a, s.tau) <= RESIDUAL["float64"]


def test_a_point_mass_on_the_axis_is_refused() -> None:
    """A revolute joint does not move a point mass on its axis."""
    parts = (
        link("base"),
        link("bead", 1.0, (0, 0, 0.5), [0.0] * 6),
        joint("spin", "revolute", "base", "bead"),
    )
    model = wd.load_urdf(urdf("bead", *parts))
    with pytest.raises(wd.ModelError, match='joint "spin" moves no inertia'):
        wd.aba(model, np.zeros(1), np.zeros(1), np.zeros(1))


def test_aba_equals_pinocchios(robot: Robot, run) -> None:
    """Accelerations are compared in float64. Robots with mimic joints are compared only by the
    residual of Pinocchio's M and h.
    """
    model, peer, s = movable(robot), in_pinocchio(robot), states(robot.model)
    a = run(wd.aba, model, s.q, s.v, s.tau)
    if not robot.has_mimic:
        assert error(a, peer.aba(s.q, s.v, s.tau)) <= BACK
    M, h = peer.crba(s.q), peer.rnea(s.q, s.v, 0 * s.v)
    terms = np.einsum("eij,ej->ei", np.abs(M), np.abs(a))
    assert error(np.einsum("eij,ej->ei", M, a) + h, s.tau, terms, h) <= RESIDUAL["float64"]


@pytest.mark.parametrize("chain", tables.RBDL, ids=lambda chain: chain.name)
def test_accelerations_equal_rbdls_table(chain: tables.Chain, run) -> None:
    """The chains in RBDL's DynamicsTests.cc start from rest. All digits agree."""
    n = len(chain.bodies)
    found = run(wd.aba, chain.model, *np.zeros((3, 1, n)), gravity=tables.RBDL_GRAVITY)
    assert np.max(np.abs(found[0] - chain.qdd)) <= 1e-13


def test_accelerations_of_the_puma_560_equal_the_published_table(run) -> None:
    """The robot has friction and motors. The printed digits agree."""
    v, applied, wanted = (np.array(x, dtype=float) for x in tables.PUMA_ACCEL)
    model = tables.puma().with_armature(
        {f"joint{i + 1}": g for i, g in enumerate(tables.PUMA_ARMATURE)}
    )
    tau = applied - tables.puma_motors(v, 0 * v)
    a = run(wd.aba, model, np.array([tables.PUMA_QN]), v[None], tau[None])[0]
    assert np.max(np.abs(a - wanted)) <= tables.PRINTED


def test_joints_on_one_axis_need_inertia_between_them() -> None:
    """Two hinges on one axis with nothing between them move the same inertia.

    The inner one moves none of its own, although its entry of M is not zero.
    """
    for mass, unmoved in ((0.0, "a_joint"), (1e-3, None)):
        builder = wd.ModelBuilder("coaxial").add_link("base")
        builder.add_link("a", mass, inertia=mass * np.eye(3))
        builder.add_link("b", 1.0, (0.2, 0.0, 0.0), np.eye(3))
        builder.add_joint("a_joint", "continuous", "base", "a", axis=(0, 0, 1))
        builder.add_joint("b_joint", "continuous", "a", "b", axis=(0, 0, 1))
        assert unmoved_joint(tree_of(builder.build())) == unmoved
    builder = wd.ModelBuilder("empty").add_link("base").add_link("a")
    builder.add_joint("a_joint", "continuous", "base", "a", axis=(0, 0, 1))
    assert unmoved_joint(tree_of(builder.build())) == "a_joint"

"""Derivatives of inverse and forward dynamics: differences of the oracle, each other, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from pinocchio_peer import in_pinocchio
from robots import Robot
from states import error, states, step

import warpdyn as wd
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.call import tree_of

pin = pytest.importorskip("pinocchio")

ROUND_OFF = {"float64": 1e-10, "float32": 1e-4}
"""Relative to the largest entry; the issue's bounds."""

DIFFERENCES = 1e-7
"""Central differences of the oracle, by a step of 1e-5."""

H = 1e-5


def directions(count: int) -> np.ndarray:
    return np.eye(count)


def by_differences(model: wd.Model, function, q: np.ndarray, *rest: np.ndarray, **options) -> np.ndarray:
    """d f / dq of the first row, by central differences along v's coordinates."""
    n = model.nv
    qs = [step(model, np.tile(q[:1], (n, 1)), sign * H * np.eye(n)) for sign in (1, -1)]
    rows = [np.tile(x[:1], (n, 1)) for x in rest]
    options = {k: {link: np.tile(x[:1], (n, 1)) for link, x in f.items()} for k, f in options.items()}
    ahead, behind = (wd.oracle(function, model, x, *rows, **options) for x in qs)
    return np.moveaxis((ahead - behind) / (2 * H), 0, -1)


def test_by_q_is_the_limit_of_differences(robot: Robot) -> None:
    """Along every coordinate of v, forces on links included; by v and a likewise."""
    model, s = robot.model, states(robot.model, 1)
    forces = {model.link_names[-1]: s.forces[:, -1]}
    by_q, by_v, by_a = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a, f_ext=forces)
    assert error(by_q[0], by_differences(model, wd.rnea, s.q, s.v, s.a, f_ext=forces)) <= DIFFERENCES
    n, tile = model.nv, lambda x: np.tile(x, (model.nv, 1))
    for found, which in ((by_v, 1), (by_a, 2)):
        ahead, behind = (
            wd.oracle(wd.rnea, model, tile(s.q), *(tile(x) + sign * H * np.eye(n) * (k == which) for k, x in ((1, s.v), (2, s.a))))
            for sign in (1, -1)
        )
        assert error(found[0], ((ahead - behind) / (2 * H)).T) <= DIFFERENCES
    assert error(by_a, wd.oracle(wd.crba, model, s.q)) <= 1e-12


def test_analytic_and_recorded_derivatives_agree(robot: Robot, run) -> None:
    """The recursion against forward mode on the recorded rnea: two texts, one answer."""
    model, s = robot.model, states(robot.model, 3)
    if model.nv > 20:
        pytest.skip("forward mode of a large robot takes long to compile")
    forces = {model.link_names[-1]: s.forces[:, -1]}
    wanted = run(wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v", "a"), f_ext=forces)
    found = run(wd.rnea_derivatives, model, s.q, s.v, s.a, f_ext=forces)
    for x, y in zip(found, wanted, strict=True):
        assert error(x, y) <= ROUND_OFF["float64"]


def test_kernels_match_the_oracle(robot: Robot, run, dtype) -> None:
    """rnea_derivatives, in both precisions."""
    s = states(robot.model).rounded(dtype)
    wanted = wd.oracle(wd.rnea_derivatives, robot.model, s.q, s.v, s.a)
    for x, y in zip(run(wd.rnea_derivatives, robot.model, s.q, s.v, s.a, dtype=dtype), wanted, strict=True):
        assert error(x, y) <= ROUND_OFF[str(dtype)]


def test_forward_derivatives_undo_inverse_ones(robot: Robot) -> None:
    """M dqdd/dq = -dtau/dq and M dqdd/dv = -dtau/dv at the same state, M dqdd/dtau = 1."""
    model, s = robot.model, states(robot.model, 2)
    if unmoved_joint(tree_of(model)) is not None or not model.nv:
        pytest.skip("forward dynamics is not defined")
    qdd, by_q, by_v, by_tau = wd.oracle(wd.aba_derivatives, model, s.q, s.v, s.tau)
    dtau_dq, dtau_dv, M = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, qdd)
    size = np.abs(M).max() * max(np.abs(by_q).max(), np.abs(by_v).max())
    assert np.abs(M @ by_q + dtau_dq).max() <= 1e-12 * size
    assert np.abs(M @ by_v + dtau_dv).max() <= 1e-12 * size
    assert np.abs(M @ by_tau - np.eye(model.nv)).max() <= 1e-12 * np.abs(M).max() * np.abs(by_tau).max()


def test_pinocchio_agrees(robot: Robot) -> None:
    """computeRNEADerivatives of the robot without mimic joints, reduced by G."""
    peer, s = in_pinocchio(robot), states(robot.model, 2)
    found = wd.oracle(wd.rnea_derivatives, robot.model, s.q, s.v, s.a)
    data = peer.pin.createData()
    for e in range(2):
        three = pin.computeRNEADerivatives(peer.pin, data, peer.q(s.q[e]), peer.v(s.v[e]), peer.v(s.a[e]))
        for k, matrix in enumerate(three):
            if k == 2:
                matrix = np.triu(matrix) + np.triu(matrix, 1).T
            full = np.zeros((peer.full.nv, peer.full.nv))
            full[np.ix_(peer._columns, peer._columns)] = matrix
            assert error(found[k][e], peer.Gv.T @ full @ peer.Gv) <= ROUND_OFF["float64"]

"""Derivatives of forward dynamics: inverse dynamics, differences, kernels, Pinocchio, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_urdf import joint, link, urdf
from pinocchio_peer import pin
from robots import Robot, by_name
from states import error, states, step

import warpdyn as wd
from tests.algorithms.test_aba import movable
from tests.algorithms.test_rnea_derivatives import peer_of

ROUND_OFF = 1e-12
"""Relative to the terms of M dqdd = -dtau."""

CONDITIONED = {"float64": 1e-10, "float32": 1e-4}
"""Of the derivatives themselves, relative to the largest entry; the issue's bounds, on robots of moderate condition."""

PINOCCHIO = 1e-9
"""Relative; times the condition of M."""

DIFFERENCES = 1e-7

H = 1e-5

KERNELS = (
    "panda",
    "rooted_floating",
    "balls",
    "mimic_branches",
    pytest.param("quadruped_floating", marks=pytest.mark.slow),
)


def test_derivatives_of_aba_invert_those_of_rnea(robot: Robot) -> None:
    """M dqdd/dq = -dtau/dq and M dqdd/dv = -dtau/dv at the same state, and M dqdd/dtau = 1. qdd
    equals aba.
    """
    model = movable(robot)
    s = states(model, 2)
    options = {"gravity": s.gravity, "f_ext": {model.link_names[-1]: s.forces[:, -1]}}
    qdd, by_q, by_v, by_tau = wd.oracle(wd.aba_derivatives, model, s.q, s.v, s.tau, **options)
    dtau_dq, dtau_dv, M = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, qdd, **options)
    for found, wanted in (
        (by_q, -dtau_dq),
        (by_v, -dtau_dv),
        (by_tau, np.broadcast_to(np.eye(model.nv), M.shape)),
    ):
        terms = np.abs(M) @ np.abs(found)
        assert error(M @ found, wanted, terms) <= ROUND_OFF
    tau = wd.oracle(wd.rnea, model, s.q, s.v, qdd, **options)
    assert error(tau, s.tau, np.einsum("eij,ej->ei", np.abs(M), np.abs(qdd))) <= ROUND_OFF


@pytest.mark.parametrize(
    "name", ["panda", "branches_wxyz", "balls", "mimic_chain", "two_axes", "planar"]
)
def test_derivatives_of_aba_equal_finite_differences(name: str) -> None:
    """Differences of the oracle's aba are taken along every coordinate of v, by v and by tau."""
    model = by_name(name).model
    s, n = states(model, 1), model.nv
    rows = [np.tile(x[:1], (n, 1)) for x in (s.q, s.v, s.tau)]
    qdd, *found = wd.oracle(wd.aba_derivatives, model, s.q, s.v, s.tau)
    for k, x in enumerate(found):
        values = []
        for sign in (1, -1):
            there, d = list(rows), sign * H * np.eye(n)
            there[k] = step(model, rows[k], d) if k == 0 else rows[k] + d
            values.append(wd.oracle(wd.aba, model, *there))
        assert error(x[0], ((values[0] - values[1]) / (2 * H)).T, qdd) <= DIFFERENCES


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_the_oracle(name: str, run, dtype) -> None:
    """Both precisions are tested, with gravity and forces per environment."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    options = {"gravity": s.gravity, "f_ext": {model.link_names[-1]: s.forces[:, -1]}}
    wanted = wd.oracle(wd.aba_derivatives, model, s.q, s.v, s.tau, **options)
    found = run(wd.aba_derivatives, model, s.q, s.v, s.tau, dtype=dtype, **options)
    for x, y in zip(found, wanted, strict=True):
        assert error(x, y) <= CONDITIONED[str(dtype)]


def test_derivatives_of_aba_equal_pinocchios(robot: Robot) -> None:
    """computeABADerivatives, for robots without mimic joints."""
    model = movable(robot)
    if robot.has_mimic:
        pytest.skip("Pinocchio's ABA knows no mimic joints")
    peer, s = peer_of(robot), states(model, 2)
    qdd, *found = wd.oracle(wd.aba_derivatives, model, s.q, s.v, s.tau)
    data = peer.pin.createData()
    for e in range(2):
        force = s.tau[e][peer._columns]
        by_q, by_v, inverse = pin.computeABADerivatives(
            peer.pin, data, peer.q(s.q[e]), peer.v(s.v[e]), force
        )
        wanted = [peer.square(x) for x in (by_q, by_v, np.triu(inverse) + np.triu(inverse, 1).T)]
        for x, y in zip(found, wanted, strict=True):
            assert error(x[e], y, qdd[e]) <= PINOCCHIO


def test_a_joint_without_inertia_is_refused() -> None:
    """The error names the joint, as that of aba. With armature the derivatives exist."""
    links, joints = (
        (link("base"), link("arm", 1.0, (0.3, 0, 0)), link("tip")),
        ("shoulder", "wrist"),
    )
    parents, children = ("base", "arm"), ("arm", "tip")
    hung = [joint(*x) for x in zip(joints, ("continuous",) * 2, parents, children, strict=True)]
    model, x = Robot("bare", urdf("bare", *links, *hung)).model, np.ones((1, 2))
    with pytest.raises(wd.ModelError, match=r'"wrist" moves no inertia.*with_armature'):
        wd.aba_derivatives(model, x, x, x)
    *_, inverse = wd.oracle(wd.aba_derivatives, model.with_armature({"wrist": 0.5}), x, x, x)
    assert inverse[0, 1, 1] == pytest.approx(2.0)

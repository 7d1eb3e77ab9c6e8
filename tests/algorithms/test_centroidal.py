"""Rates of centroidal momentum: laws on every robot, the oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from links import Links, shift_forces, times
from pinocchio_peer import Peer, in_pinocchio, pin
from robots import ROBOTS, Robot, by_name
from states import error, states, step

import warpdyn as wd
from warpdyn.functions import centroidal

ROUND_OFF = {"float64": 1e-11, "float32": 2e-5}
"""Relative to the largest term: a few hundred roundings, and a solution of three equations in the
averages."""

DIFFERENCE = 3e-8
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-16 / 1e-5 to
rounding, of each term."""

H = 1e-5
"""Step of central differences [s]."""


def test_the_matrix_derivative_is_the_rate_of_the_matrix(robot: Robot) -> None:
    """dA/dt by central differences along v."""
    model, s = robot.model, states(robot.model, 2)
    later, earlier = (
        wd.oracle(centroidal.centroidal_momentum_matrix, model, step(model, s.q, t * s.v))
        for t in (H, -H)
    )
    found = wd.oracle(centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v)
    assert error(found, (later - earlier) / (2 * H), later, np.ones(1)) <= DIFFERENCE


def test_the_rate_of_momentum_follows_from_the_matrix_and_its_derivative(robot: Robot) -> None:
    """h' = A a + dA/dt v."""
    model, s = robot.model, states(robot.model, 2)
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    dA = wd.oracle(centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v)
    found = wd.oracle(centroidal.centroidal_momentum_rate, model, s.q, s.v, s.a)
    wanted = times(A, s.a) + times(dA, s.v)
    assert error(found, wanted, np.abs(A), np.abs(dA)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.floating], ids=lambda r: r.name)
def test_the_rate_of_momentum_equals_the_external_forces(robot: Robot) -> None:
    """h' = weight + forces on links, with moments about the centre of mass and accelerations of
    `aba`.
    """
    model, s = robot.model, states(robot.model, 2)
    s.tau[:, :6] = 0.0
    a = wd.oracle(wd.aba, model, s.q, s.v, s.tau, gravity=s.gravity, f_ext=s.forces)
    found = wd.oracle(centroidal.centroidal_momentum_rate, model, s.q, s.v, a)
    links = Links(model, s.q)
    R, p = links.T[..., :3, :3], links.T[..., :3, 3]
    forces = np.einsum("elij,elj->eli", R, s.forces[..., :3])
    moments = np.einsum("elij,elj->eli", R, s.forces[..., 3:]) + np.cross(
        p - links.com[:, None], forces
    )
    wanted = np.hstack([forces.sum(axis=1) + model.total_mass * s.gravity, moments.sum(axis=1)])
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    assert error(found, wanted, np.abs(A) * np.abs(a)[:, None]) <= ROUND_OFF["float64"]


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("rooted", "float64"),
        ("free_inside_wxyz", "float64"),
        ("mimic_chain_floating", "float64"),
        ("quadruped_floating", "float32"),
    ],
)
def test_kernels_equal_the_oracle(name: str, dtype: str, run) -> None:
    """Double precision is tested on difficult robots, single precision on a legged robot far from
    the origin.
    """
    model = by_name(name).model
    s = states(model)
    if dtype == "float32":
        s.q[:, :3] += 1000.0
    s = s.rounded(np.dtype(dtype))
    for function, given in (
        (centroidal.centroidal_momentum_matrix_derivative, (s.q, s.v)),
        (centroidal.centroidal_momentum_rate, (s.q, s.v, s.a)),
    ):
        found = run(function, model, *given, dtype=dtype)
        assert error(found, wd.oracle(function, model, *given)) <= ROUND_OFF[dtype]


def test_translation_of_the_base_has_no_angular_momentum(run) -> None:
    """The base's linear columns of dA/dt have exactly no moment."""
    model = by_name("quadruped_floating").model
    s = states(model, 4)
    dA = run(
        centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v, dtype=np.dtype("float32")
    )
    assert not dA[:, 3:, :3].any()


# Pinocchio.


def on_rows(peer: Peer, A: np.ndarray) -> np.ndarray:
    return np.array([peer.back(row) for row in A])


def test_rates_of_centroidal_momentum_equal_pinocchios(robot: Robot) -> None:
    """Its ccrba and dccrba are about the centre of mass of moving links.

    Ours include root-fixed links, and are moved there. Its dAg omits that the centre of mass moves,
    c' × A[:3], which adds nothing to dAg v as c' × m c' = 0. It also omits the change of motion
    subspaces of joints with two axes.
    """
    peer, model, s = in_pinocchio(robot), robot.model, states(robot.model, 2)
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    dA = wd.oracle(centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v)
    com, data = Links(model, s.q).com, peer.pin.createData()
    for e in range(len(s.q)):
        q, v = peer.q(s.q[e]), peer.v(s.v[e])
        theirs = on_rows(peer, pin.computeCentroidalMap(peer.pin, data, q))
        by = np.array([data.com[0] - com[e]])
        assert error(shift_forces(A[e : e + 1], by)[0], theirs, A[e]) <= ROUND_OFF["float64"]
        if any(joint.kind.series for joint in model.joints):
            continue
        theirs = on_rows(peer, pin.computeCentroidalMapTimeVariation(peer.pin, data, q, v))
        moved = shift_forces(dA[e : e + 1], by)[0]
        moved[3:] += np.cross(A[e, :3] @ s.v[e] / model.total_mass, A[e, :3], axisb=0).T
        assert error(moved, theirs, A[e], dA[e]) <= ROUND_OFF["float64"]

"""Regressors: linear in the links' parameters, unidentifiable columns, the oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from pinocchio_peer import in_pinocchio, pin
from robots import Robot, by_name
from states import States, error, states

import warpdyn as wd
from warpdyn.functions import regressors
from warpdyn.functions.inertial import (
    from_log_cholesky,
    inertial_parameters,
    with_inertial_parameters,
)

ROUND_OFF = {"float64": 1e-11, "float32": 1e-5}
"""Relative to the largest term."""

FUNCTIONS = (
    regressors.joint_torque_regressor,
    regressors.kinetic_energy_regressor,
    regressors.potential_energy_regressor,
)


def arguments(function, s: States) -> tuple[np.ndarray, ...]:
    return {
        regressors.joint_torque_regressor: (s.q, s.v, s.a),
        regressors.kinetic_energy_regressor: (s.q, s.v),
        regressors.potential_energy_regressor: (s.q,),
    }[function]


def of_links(model: wd.Model) -> tuple[wd.Model, np.ndarray]:
    """The robot with random inertias on every link, also on root-fixed and massless ones, and their
    parameters.
    """
    theta = 0.5 * np.random.default_rng(model.nlinks).normal(size=(model.nlinks, 10))
    parameters = from_log_cholesky(theta)
    return with_inertial_parameters(model, parameters), parameters.ravel()


def test_regressor_times_parameters_is_inverse_dynamics(robot: Robot) -> None:
    """Y pi = rnea under any gravity, minus the torques of armature.

    Y does not depend on the links' inertias.
    """
    s = states(robot.model, 2)
    Y = wd.oracle(regressors.joint_torque_regressor, robot.model, s.q, s.v, s.a, gravity=s.gravity)
    for model, pi in (
        (robot.model, inertial_parameters(robot.model).ravel()),
        of_links(robot.model),
    ):
        bare = model.with_armature(0.0)
        tau = wd.oracle(wd.rnea, bare, s.q, s.v, s.a, gravity=s.gravity)
        assert error(Y @ pi, tau, np.abs(Y) @ np.abs(pi)) <= ROUND_OFF["float64"]


def test_energies_are_linear_in_the_parameters(robot: Robot) -> None:
    """K pi = v M v / 2, U pi = - sum of m g · c over all links."""
    s = states(robot.model, 2)
    K = wd.oracle(regressors.kinetic_energy_regressor, robot.model, s.q, s.v)
    U = wd.oracle(regressors.potential_energy_regressor, robot.model, s.q, gravity=s.gravity)
    model, pi = of_links(robot.model)
    M = wd.oracle(wd.crba, model.with_armature(0.0), s.q)
    assert (
        error(K @ pi, 0.5 * np.einsum("ei,eij,ej->e", s.v, M, s.v), np.abs(K) @ np.abs(pi))
        <= ROUND_OFF["float64"]
    )
    T = wd.oracle(wd.fk, model, s.q)
    com = np.array([[*link.com, 1.0] for link in model.links])
    mass = np.array([link.mass for link in model.links])
    wanted = -np.einsum("l,elij,lj,ei->e", mass, T[:, :, :3], com, s.gravity)
    assert error(U @ pi, wanted, np.abs(U) @ np.abs(pi)) <= ROUND_OFF["float64"]


def test_unidentifiable_parameters_have_zero_columns(run) -> None:
    """A link on a vertical hinge only shows its moment about it, one on a rail its mass, a fixed
    one nothing.
    """
    upright = by_name("panda").model
    s = states(upright)
    Y = run(regressors.joint_torque_regressor, upright, s.q, s.v, s.a)
    first = upright.link_index(upright.joint(upright.joint_names[0]).child)
    felt = [k for k in range(10) if Y[:, :, 10 * first + k].any()]
    assert felt == [9]
    assert not Y[:, :, :10].any()
    slides = by_name("slides").model
    s = states(slides)
    Y = run(regressors.joint_torque_regressor, slides, s.q, s.v, s.a)
    assert [k for k in range(10) if Y[:, :, 10 + k].any()] == [0]
    rooted = by_name("rooted").model
    s = states(rooted)
    Y = run(regressors.joint_torque_regressor, rooted, s.q, s.v, s.a)
    assert not Y[:, :, :20].any() and Y[:, :, 20:30].any()
    U = run(regressors.potential_energy_regressor, rooted, s.q)
    assert U[:, 13].all() and not U[:, 14:20].any()


def test_a_free_body_shows_all_ten_parameters(run) -> None:
    """Stacked over states, the columns of a floating base's own link are independent."""
    model = by_name("rooted_floating").model
    s = states(model)
    Y = run(regressors.joint_torque_regressor, model, s.q, s.v, s.a)
    assert np.linalg.matrix_rank(Y[:, :, :10].reshape(-1, 10)) == 10


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["rooted", "free_inside_wxyz", "mimic_chain_floating"])
def test_kernels_equal_the_oracle(function, name: str, run, dtype) -> None:
    """Every regressor is compared in both precisions."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    given = arguments(function, s)
    found = run(function, model, *given, dtype=dtype)
    assert error(found, wd.oracle(function, model, *given)) <= ROUND_OFF[str(dtype)]


def test_regressors_equal_pinocchios(robot: Robot) -> None:
    """Column by column, for links whose frame is that of a moving joint.

    Pinocchio has ten columns per joint.
    """
    peer, model, s = in_pinocchio(robot), robot.model, states(robot.model, 2)
    carriers = {joint.child: joint for joint in model.moving_joints if not joint.kind.series}
    carriers |= {joint.child: joint for joint in model.joints if joint.mimic and joint.kind.nv}
    ours = [10 * model.link_index(link) + k for link in carriers for k in range(10)]
    theirs = [10 * (peer._id(joint) - 1) + k for joint in carriers.values() for k in range(10)]
    Y = wd.oracle(regressors.joint_torque_regressor, model, s.q, s.v, s.a)
    K = wd.oracle(regressors.kinetic_energy_regressor, model, s.q, s.v)
    U = wd.oracle(regressors.potential_energy_regressor, model, s.q)
    data = peer.pin.createData()
    for e in range(len(s.q)):
        q, v, a = peer.q(s.q[e]), peer.v(s.v[e]), peer.v(s.a[e])
        wanted = pin.computeJointTorqueRegressor(peer.pin, data, q, v, a).reshape(peer.pin.nv, -1)[
            :, theirs
        ]
        wanted = np.array([peer.back(column) for column in wanted.T]).T
        assert error(Y[e][:, ours], wanted) <= ROUND_OFF["float64"]
        wanted = pin.computeKineticEnergyRegressor(peer.pin, data, q, v)[theirs]
        assert error(K[e, ours], wanted) <= ROUND_OFF["float64"]
        wanted = pin.computePotentialEnergyRegressor(peer.pin, data, q)[theirs]
        assert error(U[e, ours], wanted) <= ROUND_OFF["float64"]

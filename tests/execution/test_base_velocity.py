"""A free base's velocity in the representation that the model was loaded with, in every function."""

from __future__ import annotations

import numpy as np
import pytest
from states import error, states

import warpdyn as wd
from warpdyn.execution.base_velocity import OWN_ONLY, RESULTS

CLOSE = 1e-12
DIFFERENCES = 1e-7
STEP = 1e-6

INDEPENDENT = {
    *(
        "fk",
        "frame_velocity",
        "frame_acceleration",
        "manipulability",
        "interpolate",
        "normalize",
        "clamp",
        "integrate",
    ),
    *(
        "com",
        "com_velocity",
        "com_acceleration",
        "link_coms",
        "configuration_rate",
        "operational_space",
    ),
    *(
        "operational_space_inertia",
        "kinetic_energy",
        "potential_energy",
        "mechanical_energy",
        "momentum",
    ),
    *("centroidal_momentum", "centroidal_momentum_rate", "locked_inertia", "average_velocity"),
    *(
        "average_centroidal_velocity",
        "kinetic_energy_regressor",
        "potential_energy_regressor",
        "inverse_kinematics",
    ),
    *("convert_configuration", "convert_velocity", "convert_acceleration", "convert_force"),
}
"""Results that are not by velocity coordinates; their inputs are converted all the same."""


class Case:
    """One state of a quadruped in its own representation and in another."""

    def __init__(self, representation: str):
        self.own = wd.load_robot("quadruped")
        self.model = self.own.with_base_velocity(representation)
        s = states(self.own, 2)
        self.q, self.v_own, self.a_own = s.q, s.v, s.a
        self.tau_own = wd.oracle(wd.rnea, self.own, s.q, s.v, s.a)
        sides = {"source": "body", "target": representation}
        self.v = wd.oracle(wd.convert_velocity, self.own, s.q, s.v, **sides)
        self.a = wd.oracle(wd.convert_acceleration, self.own, s.q, s.v, s.a, **sides)
        self.tau = wd.oracle(wd.convert_force, self.own, s.q, self.tau_own, **sides)
        self.frame = self.own.link_names[-1]

    def __call__(self, function, *arrays, **options):
        return wd.oracle(function, self.model, self.q, *arrays, **options)

    def in_own(self, function, *arrays, **options):
        return wd.oracle(function, self.own, self.q, *arrays, **options)

    def rate(self, function, **options):
        """By differences along the motion."""
        ahead, behind = (
            wd.oracle(
                function,
                self.model,
                wd.oracle(wd.integrate, self.model, self.q, h * self.v),
                **options,
            )
            for h in (STEP, -STEP)
        )
        return (ahead - behind) / (2 * STEP)


def times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", matrix, vector)


@pytest.fixture(params=["mixed", "inertial"], scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_every_function_is_known() -> None:
    """A new function must say what its result is; or a model in another representation would get it wrong."""
    functions = {name: getattr(wd, name) for name in wd.__all__}
    of_models = {
        name for name, function in functions.items() if getattr(function, "of_a_model", False)
    }
    assert of_models <= {*RESULTS, *OWN_ONLY, *INDEPENDENT}


def test_dynamics(case: Case) -> None:
    """tau = M a + h, a = M⁻¹ (tau - h), and the power is the same as in the base's own representation."""
    assert error(case(wd.rnea, case.v, case.a), case.tau) <= CLOSE
    assert error(case(wd.aba, case.v, case.tau), case.a) <= 1e-10
    assert error(wd.aba(case.model, case.q, case.v, case.tau), case.a) <= 1e-10
    M, h = case(wd.crba), case(wd.bias_forces, case.v)
    assert error(times(M, case.a) + h, case.tau) <= CLOSE
    assert error(case(wd.solve, case.tau - h), case.a) <= 1e-10
    assert (
        error(M @ case(wd.mass_matrix_inverse), np.broadcast_to(np.eye(case.own.nv), M.shape))
        <= CLOSE
    )
    assert error(np.sum(case.v * case.tau, 1), np.sum(case.v_own * case.tau_own, 1)) <= CLOSE
    assert (
        error(case(wd.kinetic_energy, case.v), case.in_own(wd.kinetic_energy, case.v_own)) <= CLOSE
    )
    pi = wd.inertial_parameters(case.own).ravel()
    assert error(case(wd.joint_torque_regressor, case.v, case.a) @ pi, case.tau) <= CLOSE


def test_the_coriolis_matrix(case: Case) -> None:
    """C v = h - g, and dM/dt = C + Cᵀ."""
    C = case(wd.coriolis_matrix, case.v)
    assert error(times(C, case.v), case(wd.bias_forces, case.v) - case(wd.gravity_torques)) <= CLOSE
    assert error(C + C.transpose(0, 2, 1), case.rate(wd.crba)) <= DIFFERENCES


def test_jacobians_and_their_rates(case: Case) -> None:
    """J v is the same velocity; dJ/dt by differences; J a + J' v the same acceleration."""
    where = {"frame": case.frame}
    J, dJ = case(wd.jacobian, **where), case(wd.jacobian_derivative, case.v, **where)
    assert error(times(J, case.v), case.in_own(wd.frame_velocity, case.v_own, **where)) <= CLOSE
    assert error(dJ, case.rate(wd.jacobian, **where)) <= DIFFERENCES
    assert error(times(dJ, case.v), case(wd.frame_bias_acceleration, case.v, **where)) <= CLOSE
    A, dA = (
        case(wd.centroidal_momentum_matrix),
        case(wd.centroidal_momentum_matrix_derivative, case.v),
    )
    assert error(times(A, case.v), case.in_own(wd.centroidal_momentum, case.v_own)) <= CLOSE
    assert error(dA, case.rate(wd.centroidal_momentum_matrix)) <= DIFFERENCES
    bias = case(wd.com_bias_acceleration, case.v)
    acceleration = case.in_own(wd.com_acceleration, case.v_own, case.a_own)
    assert error(times(case(wd.com_jacobian), case.a) + bias, acceleration) <= CLOSE
    assert error(case(wd.com_acceleration, case.v, case.a), acceleration) <= CLOSE
    for matrix, vector in (
        (wd.momentum_jacobian, wd.momentum),
        (wd.average_velocity_jacobian, wd.average_velocity),
        (wd.average_centroidal_velocity_jacobian, wd.average_centroidal_velocity),
    ):
        assert error(times(case(matrix), case.v), case.in_own(vector, case.v_own)) <= CLOSE
    pose, same = case(wd.pose_and_jacobian, **where)
    assert error(same, J) <= CLOSE and error(pose, case(wd.fk, **where)) <= CLOSE
    inverse = case(wd.dynamically_consistent_inverse, **where)
    assert error(J @ inverse, np.broadcast_to(np.eye(6), (2, 6, 6))) <= 1e-10


def test_the_manifold_and_derivatives(case: Case) -> None:
    """Steps are in the model's representation; derivatives by q are along them."""
    d = 0.1 * case.v
    moved = case(wd.integrate, d)
    assert error(wd.oracle(wd.difference, case.model, case.q, moved), d) <= CLOSE
    assert (
        error(case(wd.configuration_rate, case.v), case.in_own(wd.configuration_rate, case.v_own))
        <= CLOSE
    )
    along = wd.derivatives(wd.com, case.model, case.q)
    assert error(times(along, case.v), case.in_own(wd.com_velocity, case.v_own)) <= CLOSE
    for function, rest in (
        (wd.rnea_derivatives, (case.v, case.a)),
        (wd.aba_derivatives, (case.v, case.tau)),
    ):
        with pytest.raises(ValueError, match=r"base_velocity=\"local\".*derivatives\(wd"):
            case(function, *rest)


def test_chosen_when_loading() -> None:
    """Readers take it; names that are none are refused; a fixed base does not care."""
    model = wd.load_robot("quadruped", base_velocity="mixed")
    assert model.base_velocity == "local_world_aligned"
    assert model.key != wd.load_robot("quadruped").key
    with pytest.raises(ValueError, match="base_velocity must be one of local"):
        wd.load_robot("quadruped", base_velocity="global")
    arm, q = wd.load_robot("double_pendulum", base_velocity="inertial"), np.ones((1, 2))
    assert (
        error(
            wd.oracle(wd.rnea, arm, q, q, q),
            wd.oracle(wd.rnea, wd.load_robot("double_pendulum"), q, q, q),
        )
        == 0
    )

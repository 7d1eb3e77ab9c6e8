"""Velocities of a free base in the representation that the model was loaded with, in every
function."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from ball_beside import ball_beside
from states import error, states

import warpdyn as wd
from warpdyn.execution import batched
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.base_velocity import (
    ACCELERATION,
    CONFIGURATION,
    FORCE,
    Converter,
    inputs_in,
)
from warpdyn.execution.request.call import Call, inputs_of
from warpdyn.execution.request.evaluate import evaluate, result_shapes, tree_of
from warpdyn.model.actuators import Actuator

CLOSE = 1e-12
DIFFERENCES = 1e-7
STEP = 1e-6

CONVERSIONS = {"convert_configuration", "convert_velocity", "convert_acceleration", "convert_force"}
"""Their arguments give the representation of each side, whatever the model's."""


class Case:
    """One state of a quadruped in its own representation and in another."""

    def __init__(self, representation: str):
        self.own = wd.load_robot("quadruped")
        self.model = self.own.with_base_velocity(representation)
        s = states(self.own, 2)
        self.q, self.v_own, self.a_own = s.q, s.v, s.a
        self.tau_own = wd.oracle(wd.rnea, self.own, s.q, s.v, s.a)
        sides = {"source": "body", "target": representation}
        self.v = wd.oracle(wd.convert.velocity, self.own, s.q, s.v, **sides)
        self.a = wd.oracle(wd.convert.acceleration, self.own, s.q, s.v, s.a, **sides)
        self.tau = wd.oracle(wd.convert.force, self.own, s.q, self.tau_own, **sides)
        self.frame = self.own.link_names[-1]

    def __call__(self, function, *arrays, **options):
        return wd.oracle(function, self.model, self.q, *arrays, **options)

    def in_own(self, function, *arrays, **options):
        return wd.oracle(function, self.own, self.q, *arrays, **options)

    def rate(self, function, **options):
        """Rate of a function's result, by differences along the motion."""
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


_PENDULUM = wd.load_robot("double_pendulum", floating_base=True)
FLOATING = _PENDULUM.with_payload(_PENDULUM.root, 1.0, inertia=np.eye(3))
"""nv is 8, which no frame, matrix or list of links has as a size."""

PUSHED = replace(FLOATING, actuators=(Actuator("push", ((FLOATING.joint_names[1], 1.0),)),))

FUNCTIONS = {name: each for name, each in batched.FUNCTIONS.items() if each.of_a_model}


def call_of(name: str, model: wd.Model) -> Call:
    """The call of a function on one state of zeros."""
    function = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    arrays: dict[str, Any] = {"targets": np.eye(4)[None], "t": 0.5, "forces": np.zeros((1, 0, 3))}
    arrays["pattern"] = np.zeros((3, 2))
    given = {
        p.name: arrays.get(p.name, np.zeros((1, model.nq if p.name[0] == "q" else model.nv)))
        for p in parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "model"
    }
    frame = {"frame": model.link_names[-1]} if "frame" in parameters else {}
    sides = {"target": "mujoco"} if name in CONVERSIONS else {}
    points = getattr(parameters.get("points"), "default", ()) is inspect.Parameter.empty
    touching = {"points": [wd.ContactPoint(model.link_names[-1], (0, 0, 0), 0.1)]} if points else {}
    if name == "pair_distances":
        touching = {"pairs": [ball_beside(model.link_names[-1])]}
    return describe_call(function, (model,), {**given, **frame, **sides, **touching})


@pytest.mark.parametrize("representation", ["mixed", "inertial"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_local_velocities_refuse_other_models(name: str, representation: Any) -> None:
    """Otherwise they would return numbers in another representation. The error says what to
    call."""
    model = PUSHED.with_base_velocity(representation)
    call = call_of(name, model)
    if not call.local_only:
        result_shapes(call)
        return
    remedy = re.escape(f'use {call.local_only}, or model.with_base_velocity("local")')
    with pytest.raises(ValueError, match=f'has "{model.base_velocity}": {remedy}'):
        result_shapes(call)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_declares_its_velocity_sized_arrays(name: str) -> None:
    """These are all arrays with nv entries, and no others. Functions without them name the function
    to call for other models."""
    call = call_of(name, PUSHED)
    if call.local_only:
        name = call.local_only.partition("(")[0].removeprefix("wd.")
        assert not call.by_velocity and attrgetter(name)(wd)
        return
    if name in CONVERSIONS:
        assert not call.axes
        return
    shapes = {n: x.shape for n, x in inputs_of(call).items()} | result_shapes(call)
    wide = {n: shape for n, shape in shapes.items() if FLOATING.nv in shape}
    others = {"bias", "configuration"}
    by_velocity = {n: axes for n, axes in call.axes.items() if n in shapes}
    assert set(wide) == {n for n, axes in by_velocity.items() if not others & {*axes}}
    if wide:
        assert CONFIGURATION in by_velocity.values()
    for n, shape in wide.items():
        axes = by_velocity[n]
        last = shape[len(shape) - len(axes) :]
        assert [size == FLOATING.nv for size in last] == [kind is not None for kind in axes]


def test_arguments_are_converted_by_their_names() -> None:
    """The argument v is converted as a velocity. With `by_velocity=None` none is converted."""

    def algorithm(tree: Any, q: Any, v: Any) -> Any:
        return v

    model = FLOATING.with_base_velocity("world")
    inputs = {"q": [1.0, 2.0, 3.0, *model.neutral[3:]], "v": [float(k) for k in range(model.nv)]}
    converted = Call("mine", model, (algorithm,), inputs)
    as_given = replace(converted, by_velocity=None)
    assert evaluate(as_given, inputs)["out"] == inputs["v"]
    local = wd.convert.velocity(model, [inputs["q"]], [inputs["v"]], target="local")
    np.testing.assert_allclose(evaluate(converted, inputs)["out"], local[0])


def test_inverse_kinematics_does_not_depend_on_the_representation(case: Case) -> None:
    """Its results are configurations: the same bits in every representation."""
    frame = case.frame
    targets = wd.fk(case.own, case.q, frame=frame)
    found = wd.inverse_kinematics(case.model, targets, frame=frame, restarts=1)
    same = wd.inverse_kinematics(case.own, targets, frame=frame, restarts=1)
    assert found.success.all() and np.array_equal(found.q, same.q)
    near = wd.inverse_kinematics(case.model, targets, frame=frame, q0=case.q, restarts=0)
    assert near.success.all()


def test_derivatives_of_conversions_are_along_the_models_velocity(case: Case) -> None:
    """Derivatives by q of every other function are, too."""
    sides = {"source": "local", "target": "world"}
    d = wd.derivatives(wd.convert.velocity, case.model, case.q, case.v_own, **sides)
    ahead, behind = (
        wd.oracle(
            wd.convert.velocity,
            case.model,
            wd.oracle(wd.integrate, case.model, case.q, h * case.a),
            case.v_own,
            **sides,
        )
        for h in (STEP, -STEP)
    )
    assert error(times(d, case.a), (ahead - behind) / (2 * STEP)) <= DIFFERENCES


def test_dynamics_are_consistent_in_every_representation(case: Case) -> None:
    """tau = M a + h, a = M⁻¹ (tau - h), and the power equals that in the base's own
    representation."""
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


def test_accelerations_at_rest_convert_like_velocities(case: Case) -> None:
    """Accelerations and forces have the same power before and after the conversion."""
    converter = Converter(tree_of(case.own), case.q[0].tolist(), case.model.base_velocity)
    given = {"a": case.a[0].tolist(), "tau": case.tau[0].tolist()}
    local = inputs_in(converter, given, {"a": ACCELERATION, "tau": FORCE})
    still = wd.oracle(
        wd.convert.acceleration,
        case.model,
        case.q[0],
        0 * case.v[0],
        case.a[0],
        source=case.model.base_velocity,
        target="body",
    )
    assert error(np.array(local["a"]), still) <= CLOSE
    assert np.dot(local["a"], local["tau"]) == pytest.approx(case.a[0] @ case.tau[0])


def test_the_coriolis_matrix_is_consistent(case: Case) -> None:
    """The equations are C v = h - g, and dM/dt = C + Cᵀ."""
    C = case(wd.coriolis_matrix, case.v)
    assert error(times(C, case.v), case(wd.bias_forces, case.v) - case(wd.gravity_torques)) <= CLOSE
    assert error(C + C.transpose(0, 2, 1), case.rate(wd.crba)) <= DIFFERENCES


def test_jacobians_and_their_rates_are_consistent(case: Case) -> None:
    """J v is the same velocity, dJ/dt equals differences, J a + J' v is the same acceleration."""
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


def test_steps_and_derivatives_use_the_models_representation(case: Case) -> None:
    """Derivatives by q are along such steps."""
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


def test_the_representation_is_chosen_when_loading() -> None:
    """Readers take it, and unknown names are refused. For a fixed base it does not matter."""
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


@pytest.mark.parametrize("representation", ["world", "mixed"])
def test_an_empty_result_is_not_converted(representation: str) -> None:
    """A robot without loops has a Jacobian without rows."""
    case = Case(representation)
    assert wd.loops.constraint_jacobian(case.model, case.q).shape == (2, 0, 18)

"""Jacobians of any function over the tangent space, compared with differences of the oracle, each
other and Pinocchio.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from gradient_cases import MODELS
from pinocchio_frames import REFERENCES, frames_in_pinocchio
from pinocchio_peer import pin
from robots import by_name
from states import error, states, step

import warpdyn as wd
from warpdyn.functions import derivatives

ROUND_OFF = 1e-12

DIFFERENCES = 1e-7
"""Relative to the largest entry, of central differences by 1e-5."""

H = 1e-5

OF_MOTION: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("fk", "q", {"frame": True}),
    ("jacobian", "q", {"frame": True, "reference": "local"}),
    ("frame_velocity", "q v", {"frame": True, "reference": "local"}),
    ("frame_velocity", "q v", {"frame": True, "reference": "world"}),
    ("frame_acceleration", "q v a", {"frame": True, "kind": "classical"}),
    ("com", "q", {}),
    ("com_velocity", "q v", {}),
    ("com_acceleration", "q v a", {}),
    ("momentum", "q v", {}),
    ("centroidal_momentum", "q v", {}),
    ("centroidal_momentum_rate", "q v a", {}),
    ("crba", "q", {}),
    ("kinetic_energy", "q v", {}),
    ("aba", "q v tau", {}),
)

MOVING = ("hopper", "gripper", "socket", "planar", "branches_wxyz", "free_inside")


def moving_model(name: str) -> wd.Model:
    return MODELS[name] if name in MODELS else by_name(name).model


def by_differences(
    function: Callable[..., Any],
    model: wd.Model,
    given: Mapping[str, np.ndarray],
    options: dict[str, Any],
    wrt: str,
) -> np.ndarray:
    """Central differences of the oracle's first row by one array, along v's coordinates for q."""
    n = model.nv
    rows = {name: np.tile(x[:1], (n, 1)) for name, x in given.items()}
    values = []
    for sign in (1, -1):
        d = sign * H * np.eye(n)
        there = {**rows, wrt: step(model, rows[wrt], d) if wrt == "q" else rows[wrt] + d}
        values.append(wd.oracle(function, model, *there.values(), **options))
    return np.moveaxis((values[0] - values[1]) / (2 * H), 0, -1)


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize(
    "function, arrays, options", OF_MOTION, ids=lambda x: x if isinstance(x, str) else ""
)
def test_derivatives_equal_finite_differences(
    name: str, function: str, arrays: str, options: dict[str, Any]
) -> None:
    """The derivative by q is compared along every coordinate of v for all joints.

    Those by v, a and tau are compared entry by entry.
    """
    model = moving_model(name)
    s = states(model, 1)
    given = {x: getattr(s, x) for x in arrays.split()}
    options = {**options, **({"frame": model.link_names[-1]} if "frame" in options else {})}
    call = getattr(wd, function)
    found = wd.oracle(wd.derivatives, call, model, *given.values(), wrt=tuple(given), **options)
    for x, wrt in zip(found if isinstance(found, tuple) else (found,), given, strict=True):
        assert error(x[0], by_differences(call, model, given, options, wrt)) <= DIFFERENCES


def test_derivatives_equal_functions_with_names() -> None:
    """They equal Jacobians, momentum and mass matrices, momenta and gravity torques."""
    model = MODELS["hopper"]
    s = states(model, 3)

    def by(
        function: Callable[..., Any], *arrays: np.ndarray, wrt: str, **options: Any
    ) -> np.ndarray:
        return wd.oracle(wd.derivatives, function, model, *arrays, wrt=(wrt,), **options)

    for found, wanted in (
        (
            by(wd.frame_velocity, s.q, s.v, wrt="v", frame="leg"),
            wd.oracle(wd.jacobian, model, s.q, frame="leg"),
        ),
        (by(wd.com, s.q, wrt="q"), wd.oracle(wd.com_jacobian, model, s.q)),
        (
            by(wd.centroidal_momentum, s.q, s.v, wrt="v"),
            wd.oracle(wd.centroidal_momentum_matrix, model, s.q),
        ),
        (by(wd.potential_energy, s.q, wrt="q"), wd.oracle(wd.gravity_torques, model, s.q)),
        (
            by(wd.kinetic_energy, s.q, s.v, wrt="v"),
            np.einsum("eij,ej->ei", wd.oracle(wd.crba, model, s.q), s.v),
        ),
        (by(wd.rnea, s.q, s.v, s.a, wrt="a"), wd.oracle(wd.crba, model, s.q)),
        (by(wd.aba, s.q, s.v, s.tau, wrt="tau"), wd.oracle(wd.mass_matrix_inverse, model, s.q)),
    ):
        assert error(found, wanted) <= 10 * ROUND_OFF


def test_derivatives_by_forces_gravity_and_masses_have_known_values() -> None:
    """The derivative by `f_ext` is -Jᵀ.

    Those by gravity and by a mass follow from rnea and the regressor.
    """
    model = MODELS["gripper"]
    s = states(model, 2)
    forces, mass = {"right": s.forces[:, -1]}, np.array([0.4, 0.3])
    params = model.params(mass={"right": mass})
    found = wd.oracle(
        wd.derivatives, wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=forces, params=params,
        wrt=("f_ext:right", "gravity", "params:mass"),
    )  # fmt: skip
    J = wd.oracle(wd.jacobian, model, s.q, frame="right", reference="local")
    assert error(found[0], -np.swapaxes(J, 1, 2)) <= ROUND_OFF
    weightless = wd.oracle(
        wd.rnea, model, s.q, s.v, s.a, gravity=(0, 0, 0), f_ext=forces, params=params
    )
    heavy = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=forces, params=params)
    assert (
        error(np.einsum("eij,ej->ei", found[1], s.gravity), heavy - weightless, heavy) <= ROUND_OFF
    )
    ahead, behind = (
        wd.oracle(
            wd.rnea,
            model,
            s.q,
            s.v,
            s.a,
            gravity=s.gravity,
            params=model.params(mass={"right": mass + h}),
        )
        for h in (1.0, -0.2)
    )
    assert found[2].shape == (2, 2, 1)
    assert error(found[2][..., 0], (ahead - behind) / 1.2) <= 10 * ROUND_OFF


@pytest.mark.parametrize("name", ["hopper", "socket", "planar", "branches_wxyz"])
def test_gradients_by_entries_are_converted_to_the_tangent_space(name: str) -> None:
    """The conversion is that by `configuration_rate` and by a step of zero."""
    model = moving_model(name)
    s = states(model, 2)
    bar = wd.oracle(wd.vjp, wd.rnea, model, s.q, s.v, s.a, cotangents=s.tau, wrt=("q",))
    wanted = np.einsum("ei,eij->ej", s.tau, wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a)[0])
    for function in (wd.configuration_rate, wd.integrate):
        name = "v" if function is wd.configuration_rate else "d"
        found = wd.oracle(wd.vjp, function, model, s.q, 0 * s.v, cotangents=bar, wrt=(name,))
        assert error(found, wanted) <= ROUND_OFF


# Pinocchio.


@pytest.mark.parametrize("name", ["panda", "branches_wxyz", "balls", "mimic_chain"])
def test_derivatives_of_frames_equal_pinocchios(name: str) -> None:
    """Its getFrameVelocityDerivatives and getFrameAccelerationDerivatives are spatial, in "local"
    and "world". Its LOCAL_WORLD_ALIGNED is the change of local components, rotated. Here it is the
    change of aligned components.
    """
    peer, model = frames_in_pinocchio(by_name(name)), by_name(name).model
    s, link, data = states(model, 1), model.link_names[-1], peer.pin.createData()
    q, v, a = peer.q(s.q[0]), peer.v(s.v[0]), peer.v(s.a[0])
    pin.computeForwardKinematicsDerivatives(peer.pin, data, q, v, a)
    pin.updateFramePlacements(peer.pin, data)
    for reference in ("local", "world"):
        where = peer.pin, data, peer._frame(link), REFERENCES[reference]
        options = {"frame": link, "reference": reference}
        velocity = wd.oracle(
            wd.derivatives, wd.frame_velocity, model, s.q, s.v, wrt=("q", "v"), **options
        )
        for found, wanted in zip(velocity, pin.getFrameVelocityDerivatives(*where), strict=True):
            assert error(found[0], peer._columns_of(wanted)) <= ROUND_OFF
        acceleration = wd.oracle(
            wd.derivatives,
            wd.frame_acceleration,
            model,
            s.q,
            s.v,
            s.a,
            wrt=("q", "v", "a"),
            **options,
        )
        for found, wanted in zip(
            acceleration, pin.getFrameAccelerationDerivatives(*where)[1:], strict=True
        ):
            assert error(found[0], peer._columns_of(wanted)) <= ROUND_OFF


@pytest.mark.parametrize("name", ["branches_wxyz", "mimic_chain", "rooted_floating"])
def test_derivatives_of_momentum_equal_pinocchios(name: str) -> None:
    """computeCentroidalDynamicsDerivatives and getCenterOfMassVelocityDerivatives, for robots whose
    links all move.
    """
    peer, model = frames_in_pinocchio(by_name(name)), by_name(name).model
    s, data = states(model, 1), peer.pin.createData()
    q, v, a = peer.q(s.q[0]), peer.v(s.v[0]), peer.v(s.a[0])
    theirs = pin.computeCentroidalDynamicsDerivatives(peer.pin, data, q, v, a)
    dh = wd.oracle(wd.derivatives, wd.centroidal_momentum, model, s.q, s.v)
    rate = wd.oracle(
        wd.derivatives, wd.centroidal_momentum_rate, model, s.q, s.v, s.a, wrt=("q", "v", "a")
    )
    for found, wanted in zip((dh, *rate), theirs, strict=True):
        assert error(found[0], peer._columns_of(wanted)) <= ROUND_OFF
    pin.computeAllTerms(peer.pin, data, q, v)
    found = wd.oracle(wd.derivatives, wd.com_velocity, model, s.q, s.v)
    assert (
        error(found[0], peer._columns_of(pin.getCenterOfMassVelocityDerivatives(peer.pin, data)))
        <= ROUND_OFF
    )


def test_only_solvers_without_a_solution_compute_their_result_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, computed = by_name("double_pendulum").model, []
    carry_out = derivatives.carry_out
    monkeypatch.setattr(
        derivatives, "carry_out", lambda call: computed.append(call.name) or carry_out(call)
    )
    s = states(model, 1)
    a = wd.aba(model, s.q, s.v, s.tau)
    for function, last, options, wanted in (
        (wd.rnea, s.a, {}, []),
        (wd.aba, s.tau, {}, ["aba"]),
        (wd.aba, s.tau, {"solution": a}, []),
    ):
        forward = {"tangents": {"v": s.v}}
        for product, seeds in ((wd.vjp, {"cotangents": s.v}), (wd.jvp, forward)):
            computed.clear()
            product(function, model, s.q, s.v, last, **seeds, **options)
            assert computed == wanted

"""The momentum observer: laws on every robot, a first-order filter, the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions.identification.observers import external_wrench, momentum_observer

ROUND_OFF = {"float64": 1e-11, "float32": 2e-5}
"""Relative to the largest term."""

INTEGRATED = 2e-3
"""Relative to the largest push, of a motion in steps of a millisecond: the steps of the motion and
of the observer are of second order."""

KERNELS = ("panda", "mimic_branches")
"""Robots whose kernels are compiled here."""


def begun(model: wd.Model, s, **given):
    zero = np.zeros_like(s.v)
    return wd.oracle(momentum_observer, model, s.q, s.v, s.tau, zero, zero, zero, dt=0.0, **given)


def test_the_observer_returns_the_momentum_and_its_rate(robot: Robot) -> None:
    """p = M v, and the rate is tau + Cᵀ v - g + Jᵀ f - friction, with C of another algorithm."""
    model, s = robot.model.with_friction(viscous=0.3, coulomb=0.2), states(robot.model, 2)
    given = {"gravity": s.gravity, "f_ext": s.forces}
    p, rate, external = begun(model, s, **given)
    M, C = wd.oracle(wd.crba, model, s.q), wd.oracle(wd.coriolis_matrix, model, s.q, s.v)
    weight = wd.oracle(wd.gravity_torques, model, s.q, **given)
    rubbing = wd.oracle(wd.effect_torques, model, s.q, s.v)
    assert error(p, np.einsum("eij,ej->ei", M, s.v), M) <= ROUND_OFF["float64"]
    turning = np.einsum("eji,ej->ei", C, s.v)
    wanted = s.tau + turning - weight - rubbing
    assert error(rate, wanted, turning, weight) <= ROUND_OFF["float64"]
    assert not external.any(), "it begins with nothing"


@pytest.mark.parametrize("dt", [1e-3, 0.02, 1.0])
def test_a_constant_force_is_filtered_with_first_order(dt: float) -> None:
    """The observer at rest against an unknown force gives force (1 - exp(-gain t)) exactly, also
    for steps far longer than 1 / gain.
    """
    model = by_name("branches_wxyz").model
    s = states(model, 2)
    push, rest = s.a, np.zeros_like(s.v)
    tau = wd.oracle(wd.gravity_torques, model, s.q) - push
    state = (rest, rest, rest)
    state = wd.oracle(momentum_observer, model, s.q, rest, tau, *state, dt=0.0, gain=30.0)
    for k in range(1, 4):
        state = wd.oracle(momentum_observer, model, s.q, rest, tau, *state, dt=dt, gain=30.0)
        assert error(state[2], push * (1.0 - np.exp(-30.0 * k * dt)), push) <= 1e-10 / dt


def test_during_motion_only_the_unknown_force_is_observed() -> None:
    """A double pendulum swings under changing torques, friction and a known force.

    An unknown force begins at 0.1 s. Before it the result is zero, after it that of a first-order
    filter.
    """
    model = wd.load_robot("double_pendulum").with_friction(viscous=0.1)
    h, gain, push = 1e-3, 40.0, np.array([1.5, -0.7])
    q, v = np.array([0.4, -0.3]), np.array([1.0, -2.0])
    known = {model.link_names[-1]: np.array([0.3, 0.0, 0.5, 0.0, 0.1, 0.0])}
    zero, wanted, worst = np.zeros(2), np.zeros(2), 0.0
    state = (zero, zero, zero)
    for k in range(250):
        tau = np.array([3.0 * np.cos(0.02 * k), -np.sin(0.03 * k)])
        state = wd.oracle(
            momentum_observer, model, q, v, tau, *state, dt=h * (k > 0), gain=gain, f_ext=known
        )
        worst = max(worst, float(np.abs(state[2] - wanted).max()))
        pushed = push * (k >= 100)
        a = wd.oracle(wd.aba, model, q, v, tau + pushed, f_ext=known)
        half = q + 0.5 * h * v, v + 0.5 * h * a
        a = wd.oracle(wd.aba, model, *half, tau + pushed, f_ext=known)
        q, v = q + h * half[1], v + h * a
        wanted = wanted + (1.0 - np.exp(-gain * h)) * (pushed - wanted)
    assert np.abs(wanted / push - 1.0).max() < 0.01
    assert worst <= 0.02 * np.abs(push).max()


@pytest.mark.parametrize("name", ["panda", "branches_wxyz"])
@pytest.mark.parametrize("reference", ["local", "world", "local_world_aligned"])
def test_the_external_wrench_reproduces_the_joint_torques(name: str, reference: str) -> None:
    """Jᵀ wrench gives the wrench back, if the joints determine all of it.

    Other components are zero, and the result is never larger than the true wrench.
    """
    model = by_name(name).model
    frame, s = "panda_link7" if name == "panda" else model.link_names[-1], states(model, 4)
    J = wd.oracle(wd.jacobian, model, s.q, frame=frame, reference=reference)
    wrench = s.forces[:, 0]
    tau = np.einsum("eij,ei->ej", J, wrench)
    found = wd.oracle(
        external_wrench, model, s.q, tau, frame=frame, reference=reference, damping=1e-3
    )
    smallest = np.linalg.svd(J, compute_uv=False)[:, -1]
    felt = smallest > 0.05
    assert error(found[felt], wrench[felt]) <= (1e-3 / 0.05) ** 2 * 5
    assert (np.linalg.norm(found, axis=1) <= np.linalg.norm(wrench, axis=1) * (1 + 1e-9)).all()
    damped = np.linalg.solve(
        J @ J.swapaxes(1, 2) + 1e-6 * np.eye(6), np.einsum("eij,ej->ei", J, tau)[..., None]
    )
    assert error(found, damped[..., 0]) <= 1e-6


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_the_oracle(name: str, dtype: str, device: str) -> None:
    """Each environment has its own time step and gain, and one of them restarts."""
    model = by_name(name).model
    s = states(model, 5).rounded(np.dtype(dtype))
    dt = np.array([0.0, 1e-3, 2e-3, 0.01, 0.5]).astype(dtype).astype(float)
    gain = np.array([10.0, 20.0, 50.0, 100.0, 200.0])
    given = (s.q, s.v, s.tau, s.a, s.v, s.tau)
    wanted = wd.oracle(momentum_observer, model, *given, dt=dt, gain=gain)
    found = momentum_observer(
        model, *(x.astype(dtype) for x in given), dt=dt.astype(dtype), gain=gain.astype(dtype)
    )
    scale = np.abs(wanted[2]).max(axis=1, keepdims=True) + 1.0
    assert error(found[0], wanted[0]) <= ROUND_OFF[dtype]
    assert error(found[1], wanted[1]) <= ROUND_OFF[dtype]
    assert np.abs((found[2] - wanted[2]) / scale).max() <= 10 * ROUND_OFF[dtype]
    assert not found[2][0].any()

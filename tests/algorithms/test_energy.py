"""Energies: laws on every robot, the oracle, Pinocchio, and motion over time."""

from __future__ import annotations

import numpy as np
import pytest
from pinocchio_peer import in_pinocchio, pin
from robots import Robot, by_name
from states import error, size, states, step

import warpdyn as wd
from warpdyn.functions.dynamics import effect_torques, gravity_torques
from warpdyn.functions.energy import (
    contact_power,
    kinetic_energy,
    mechanical_energy,
    potential_energy,
)

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest term."""

DIFFERENCE = 3e-8
"""Relative; central differences with step 1e-5."""

H = 1e-5


def test_kinetic_energy_equals_that_of_the_mass_matrix(robot: Robot) -> None:
    """v^T M v / 2, with armature."""
    model = robot.model.with_armature(0.3)
    s = states(model, 3)
    wanted = 0.5 * np.einsum("ei,eij,ej->e", s.v, wd.oracle(wd.crba, model, s.q), s.v)
    assert error(wd.oracle(kinetic_energy, model, s.q, s.v), wanted) <= ROUND_OFF["float64"]


def test_potential_energy_includes_every_link(robot: Robot) -> None:
    """- sum m g . c over the links of the description, those fixed to the world included."""
    model, s = robot.model, states(robot.model, 3)
    T = wd.oracle(wd.fk, model, s.q)
    com = np.array([[*link.com, 1.0] for link in model.links])
    mass = np.array([link.mass for link in model.links])
    terms = -np.einsum("l,elij,lj,ei->el", mass, T[:, :, :3], com, s.gravity)
    found = wd.oracle(potential_energy, model, s.q, gravity=s.gravity)
    assert error(found, terms.sum(1), terms) <= ROUND_OFF["float64"]


def test_gravity_torques_are_the_gradient_of_potential_energy(robot: Robot) -> None:
    """dU/dt = g(q) . v."""
    model, s = robot.model, states(robot.model, 3)
    later, earlier = (
        wd.oracle(potential_energy, model, step(model, s.q, sign * H * s.v)) for sign in (1, -1)
    )
    rate = np.sum(wd.oracle(gravity_torques, model, s.q) * s.v, axis=1)
    assert error((later - earlier) / (2 * H), rate, later) <= DIFFERENCE


def test_power_is_the_rate_of_mechanical_energy(robot: Robot) -> None:
    """(tau - effects) . v = dE/dt along the motion caused by tau."""
    model, s = robot.model.with_friction(viscous=0.4, coulomb=0.7), states(robot.model, 2)
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
    later, earlier = (
        wd.oracle(mechanical_energy, model, step(model, s.q, sign * H * s.v), s.v + sign * H * s.a)
        for sign in (1, -1)
    )
    power = (tau - wd.oracle(effect_torques, model, s.q, s.v)) * s.v
    assert error((later - earlier) / (2 * H), power.sum(1), power, later) <= DIFFERENCE


def test_contact_power_equals_that_of_unknown_forces(robot: Robot) -> None:
    """Wrench times twist of the link, in the link's frame. Known forces do not count."""
    model, s = robot.model.with_friction(viscous=0.4), states(robot.model, 3)
    link = model.link_names[-1]
    wrench = np.random.default_rng(5).normal(size=(3, 6))
    a = wd.oracle(wd.aba, model, s.q, s.v, s.tau, f_ext={link: wrench})
    twist = wd.oracle(wd.frame_velocity, model, s.q, s.v, frame=link, reference="local")
    found = wd.oracle(contact_power, model, s.q, s.v, a, s.tau)
    explained = wd.oracle(wd.rnea, model, s.q, s.v, a)
    terms = np.abs(s.v * explained).sum(1) + np.abs(s.v * s.tau).sum(1)
    assert error(found, np.sum(wrench * twist, axis=1), terms) <= ROUND_OFF["float64"]
    none = wd.oracle(contact_power, model, s.q, s.v, a, s.tau, f_ext={link: wrench})
    assert error(none, np.zeros(3), terms) <= ROUND_OFF["float64"]


def test_contact_power_completes_the_rate_of_energy(robot: Robot) -> None:
    """dE/dt = (tau - effects) . v + contact power, for any motion."""
    model, s = robot.model.with_friction(viscous=0.4, coulomb=0.7), states(robot.model, 2)
    later, earlier = (
        wd.oracle(mechanical_energy, model, step(model, s.q, sign * H * s.v), s.v + sign * H * s.a)
        for sign in (1, -1)
    )
    power = (s.tau - wd.oracle(effect_torques, model, s.q, s.v)) * s.v
    rate = power.sum(1) + wd.oracle(contact_power, model, s.q, s.v, s.a, s.tau)
    assert error((later - earlier) / (2 * H), rate, power, later) <= DIFFERENCE


@pytest.mark.parametrize("coulomb", [0.0, 0.3])
def test_the_energy_of_a_pendulum_falls_by_the_work_of_friction(coulomb: float) -> None:
    """The work is integrated over half a second of Runge-Kutta steps of 1 ms."""
    model = by_name("double_pendulum").model.with_friction(
        viscous=0.2 if coulomb else 0.0, coulomb=coulomb
    )
    q, v, dt, lost = np.array([1.2, 0.4]), np.array([2.0, 3.0]), 1e-3, 0.0

    def rates(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        return (
            v,
            wd.oracle(wd.aba, model, q, v, 0 * v),
            float(wd.oracle(effect_torques, model, q, v) @ v),
        )

    start = wd.oracle(mechanical_energy, model, q, v)
    for _ in range(500):
        if (
            coulomb and min(abs(v)) < 0.05
        ):  # friction changes sign there, and the rule needs smooth motion
            break
        k1 = rates(q, v)
        k2 = rates(q + dt / 2 * k1[0], v + dt / 2 * k1[1])
        k3 = rates(q + dt / 2 * k2[0], v + dt / 2 * k2[1])
        k4 = rates(q + dt * k3[0], v + dt * k3[1])
        dq, dv, power = (
            (a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)
        )
        q, v, lost = q + dt * dq, v + dt * dv, lost + dt * power
    assert lost > 0.1 if coulomb else lost == 0.0
    assert wd.oracle(mechanical_energy, model, q, v) == pytest.approx(
        start - lost, abs=1e-8 * abs(start)
    )


@pytest.mark.parametrize("name", ["panda", "rooted", "mimic_branches", "free_inside_wxyz"])
def test_kernels_equal_the_oracle(name: str, run, dtype) -> None:
    """One number per robot, with the default gravity and with gravity per environment."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    for given in ({}, {"gravity": s.gravity}):
        for function, arrays in ((potential_energy, (s.q,)), (mechanical_energy, (s.q, s.v))):
            wanted = wd.oracle(function, model, *arrays, **given)
            assert (
                error(run(function, model, *arrays, dtype=dtype, **given), wanted)
                <= ROUND_OFF[str(dtype)]
            )
    arrays = (s.q, s.v, s.a, s.tau)
    wanted = wd.oracle(contact_power, model, *arrays)
    terms = (s.v * wd.oracle(wd.rnea, model, *arrays[:3]), s.v * s.tau)
    found = run(contact_power, model, *arrays, dtype=dtype)
    assert error(found, wanted, *terms) <= ROUND_OFF[str(dtype)]
    found = run(kinetic_energy, model, s.q, s.v, dtype=dtype)
    assert error(found, wd.oracle(kinetic_energy, model, s.q, s.v)) <= ROUND_OFF[str(dtype)]


def test_energies_equal_pinocchios(robot: Robot) -> None:
    """computeKineticEnergy and computePotentialEnergy, which omits links fixed to the world."""
    peer, model, s = in_pinocchio(robot), robot.model, states(robot.model, 3)
    data = peer.pin.createData()
    kinetic = [
        pin.computeKineticEnergy(peer.pin, data, peer.q(q), peer.v(v))
        for q, v in zip(s.q, s.v, strict=True)
    ]
    potential = np.array([pin.computePotentialEnergy(peer.pin, data, peer.q(q)) for q in s.q])
    assert (
        error(wd.oracle(kinetic_energy, model, s.q, s.v), np.array(kinetic)) <= ROUND_OFF["float64"]
    )
    found = wd.oracle(potential_energy, model, s.q)
    assert (
        error(found - found[0], potential - potential[0], size(found, potential))
        <= ROUND_OFF["float64"]
    )

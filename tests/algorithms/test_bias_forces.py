"""Bias forces: inverse dynamics without acceleration, laws on every robot, kernels, no friction."""

from __future__ import annotations

import numpy as np
import pytest
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions.dynamics import bias_forces, coriolis_matrix, effect_torques, gravity_torques

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest term."""


def test_bias_forces_equal_inverse_dynamics_without_acceleration(robot: Robot) -> None:
    """rnea(q, v, 0), with gravity and forces per environment."""
    model, s = robot.model, states(robot.model, 2)
    given = {"gravity": s.gravity, "f_ext": s.forces}
    found = wd.oracle(bias_forces, model, s.q, s.v, **given)
    wanted = wd.oracle(wd.rnea, model, s.q, s.v, 0 * s.v, **given)
    assert error(found, wanted) <= ROUND_OFF["float64"]


def test_bias_forces_equal_velocity_products_and_gravity(robot: Robot) -> None:
    """h = C v + g - J^T f_ext. At rest h = g - J^T f_ext."""
    model, s = robot.model, states(robot.model, 2)
    given = {"gravity": s.gravity, "f_ext": s.forces}
    still = wd.oracle(gravity_torques, model, s.q, **given)
    C = wd.oracle(coriolis_matrix, model, s.q, s.v)
    found = wd.oracle(bias_forces, model, s.q, s.v, **given)
    products = np.einsum("eij,ej->ei", C, s.v)
    assert error(found, products + still, products, still) <= ROUND_OFF["float64"]
    at_rest = wd.oracle(bias_forces, model, s.q, 0 * s.v, **given)
    assert error(at_rest, still) <= ROUND_OFF["float64"]


def test_velocity_products_are_quadratic_in_v(robot: Robot) -> None:
    """The bias in free fall satisfies h(q, -2 v) = 4 h(q, v)."""
    model, s = robot.model, states(robot.model, 2)
    once, twice = (
        wd.oracle(bias_forces, model, s.q, scale * s.v, gravity=(0.0, 0.0, 0.0))
        for scale in (1.0, -2.0)
    )
    assert error(twice, 4 * once, np.ones(1)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "mimic_branches", "rooted_floating"])
def test_the_kernel_equals_the_oracle(name: str, run, dtype) -> None:
    """The default gravity is tested, and gravity and forces per environment."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    for given in ({}, {"gravity": s.gravity, "f_ext": s.forces}):
        found = run(bias_forces, model, s.q, s.v, dtype=dtype, **given)
        wanted = wd.oracle(bias_forces, model, s.q, s.v, **given)
        assert error(found, wanted) <= ROUND_OFF[str(dtype)]


def test_bias_forces_exclude_passive_forces() -> None:
    """The law with friction and limit springs is rnea = M a + h + effect_torques. h is that of the
    robot without them.
    """
    model, s = by_name("axes").model, states(by_name("axes").model, 2)
    rubbing = model.with_friction(viscous=2.0, coulomb=1.0).with_limits(
        "slanted", lower=-0.1, upper=0.1
    )
    rubbing = rubbing.with_limit_springs(stiffness=100.0)
    h = wd.oracle(bias_forces, rubbing, s.q, s.v)
    assert np.array_equal(h, wd.oracle(bias_forces, model, s.q, s.v))
    Ma = np.einsum("eij,ej->ei", wd.oracle(wd.crba, model, s.q), s.a)
    effects = wd.oracle(effect_torques, rubbing, s.q, s.v)
    assert effects.all()
    tau = wd.oracle(wd.rnea, rubbing, s.q, s.v, s.a)
    assert error(tau, Ma + h + effects, Ma, h) <= ROUND_OFF["float64"]

"""Gravity torques, which hold a robot at rest: inverse dynamics at rest, kernels, no springs."""

from __future__ import annotations

import numpy as np
import pytest
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions.dynamics import gravity_torques

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest term."""


def test_gravity_torques_equal_inverse_dynamics_at_rest(robot: Robot) -> None:
    """rnea(q, 0, 0), with gravity and forces per environment."""
    model, s = robot.model, states(robot.model, 2)
    given = {"gravity": s.gravity, "f_ext": s.forces}
    found = wd.oracle(gravity_torques, model, s.q, **given)
    wanted = wd.oracle(wd.rnea, model, s.q, 0 * s.v, 0 * s.v, **given)
    assert error(found, wanted) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "mimic_branches", "rooted_floating"])
def test_the_kernel_equals_the_oracle(name: str, run, dtype) -> None:
    """The default gravity is tested, and gravity and forces per environment."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    for given in ({}, {"gravity": s.gravity, "f_ext": s.forces}):
        found = run(gravity_torques, model, s.q, dtype=dtype, **given)
        wanted = wd.oracle(gravity_torques, model, s.q, **given)
        assert error(found, wanted) <= ROUND_OFF[str(dtype)]


def test_gravity_torques_exclude_limit_springs() -> None:
    """The springs act beyond the limits. `effect_torques` returns their forces."""
    model, q = by_name("axes").model, states(by_name("axes").model, 2).q
    springy = model.with_limits("slanted", lower=-0.1, upper=0.1).with_limit_springs(
        stiffness=100.0
    )
    assert wd.oracle(wd.effect_torques, springy, q, np.zeros((2, model.nv))).any()
    assert np.array_equal(
        wd.oracle(gravity_torques, springy, q), wd.oracle(gravity_torques, model, q)
    )

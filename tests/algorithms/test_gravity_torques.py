"""What holds a robot still, and what moving without acceleration takes: special cases of inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions.dynamics import bias_forces, gravity_torques

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest term."""


def test_they_are_inverse_dynamics(robot: Robot) -> None:
    """gravity_torques is rnea(q, 0, 0), bias_forces rnea(q, v, 0), with gravity and forces of every environment."""
    model, s = robot.model, states(robot.model, 2)
    given = {"gravity": s.gravity, "f_ext": s.forces}
    still, moving = (
        wd.oracle(gravity_torques, model, s.q, **given),
        wd.oracle(bias_forces, model, s.q, s.v, **given),
    )
    assert (
        error(still, wd.oracle(wd.rnea, model, s.q, 0 * s.v, 0 * s.v, **given))
        <= ROUND_OFF["float64"]
    )
    assert (
        error(moving, wd.oracle(wd.rnea, model, s.q, s.v, 0 * s.v, **given)) <= ROUND_OFF["float64"]
    )


@pytest.mark.parametrize("name", ["panda", "mimic_branches", "rooted_floating"])
def test_the_kernels_match_the_oracle(name: str, run, dtype) -> None:
    """Once with the default gravity alone, once with gravity and forces of every environment."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    for given in ({}, {"gravity": s.gravity, "f_ext": s.forces}):
        for function, arrays in ((gravity_torques, (s.q,)), (bias_forces, (s.q, s.v))):
            found = run(function, model, *arrays, dtype=dtype, **given)
            assert (
                error(found, wd.oracle(function, model, *arrays, **given)) <= ROUND_OFF[str(dtype)]
            )


def test_joint_effects_are_not_in_them() -> None:
    """Friction and limit springs are what `effect_torques` says, not part of C v + g."""
    model, s = by_name("axes").model, states(by_name("axes").model, 2)
    rubbing = model.with_friction(viscous=2.0, coulomb=1.0).with_limits(
        "slanted", lower=-0.1, upper=0.1
    )
    rubbing = rubbing.with_limit_springs(stiffness=100.0)
    assert np.array_equal(
        wd.oracle(bias_forces, rubbing, s.q, s.v), wd.oracle(bias_forces, model, s.q, s.v)
    )
    assert np.array_equal(
        wd.oracle(gravity_torques, rubbing, s.q), wd.oracle(gravity_torques, model, s.q)
    )

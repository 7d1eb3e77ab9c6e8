"""Where velocities lead in a step."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.base_step import base_step
from warpdyn.algorithms.step_along import step_along
from warpdyn.execution.evaluate import tree_of


def test_joints_move_as_integrate_moves_them() -> None:
    """Every kind but a free base, in a tree of them, balls and planes."""
    rng = np.random.default_rng(1)
    model = wd.load_robot("panda")
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    reached, after = step_along(tree_of(model), list(q), list(v), list(v), [], 0.1)
    assert reached == pytest.approx(q + 0.1 * v) and after == pytest.approx(v)


def test_a_free_base_moves_by_its_momentum_and_its_legs_by_themselves() -> None:
    rng = np.random.default_rng(0)
    model = wd.load_robot("quadruped")
    q = wd.random_configuration(model, 1, seed=0)[0]
    v = rng.normal(size=model.nv)
    H = wd.oracle(wd.crba, model, q).tolist()
    reached, after = map(list, step_along(tree_of(model), list(q), list(v), list(v), H, 0.1))
    base, twist = base_step(list(q[:7]), list(v), list(v[:6]), H, 0.1)
    assert reached[:7] == base and after[:6] == twist
    assert reached[7:] == pytest.approx(q[7:] + 0.1 * v[6:]) and after[6:] == list(v[6:])

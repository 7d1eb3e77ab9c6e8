"""Where velocities lead in a step."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.step_along import step_along
from warpdyn.execution.evaluate import tree_of

QUADRUPED = wd.load_robot("quadruped")


def test_a_base_moves_straight_in_the_world_while_it_turns() -> None:
    """Along h v of the beginning; the velocity of its end is the same in the world."""
    rng = np.random.default_rng(0)
    q = wd.random_configuration(QUADRUPED, 1, seed=0)[0]
    v = rng.normal(size=QUADRUPED.nv)
    reached, after = map(np.array, step_along(tree_of(QUADRUPED), list(q), list(v), 0.1))
    before = _rotation(q)
    assert reached[:3] - q[:3] == pytest.approx(before @ v[:3] * 0.1)
    assert _rotation(reached) @ after[:3] == pytest.approx(before @ v[:3])
    assert after[3:] == pytest.approx(v[3:])
    assert np.linalg.norm(reached[3:7]) == pytest.approx(1.0)
    turned = before.T @ _rotation(reached)
    angle = math.acos((np.trace(turned) - 1) / 2)
    assert angle == pytest.approx(0.1 * np.linalg.norm(v[3:6]))


def test_joints_move_as_integrate_moves_them() -> None:
    rng = np.random.default_rng(1)
    model = wd.load_robot("panda")
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    reached, after = step_along(tree_of(model), list(q), list(v), 0.1)
    assert reached == pytest.approx(q + 0.1 * v) and after == pytest.approx(v)


def _rotation(q: np.ndarray) -> np.ndarray:
    x, y, z, w = q[3:7]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )

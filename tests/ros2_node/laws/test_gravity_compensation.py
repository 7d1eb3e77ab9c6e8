"""The mode gravity as a law."""

from __future__ import annotations

import numpy as np

import warpdyn as wd
from ros2_node.laws.gravity_compensation import gravity_compensation

MODEL = wd.load_robot("panda")
DOWN = np.array([0.0, 0.0, -9.81])


def test_the_torques_are_gravity_torques():
    """They are g(q) at any velocity."""
    q, v = np.random.default_rng(1).uniform(-1.0, 1.0, (4, MODEL.nq)), np.ones((4, MODEL.nv))
    none = np.zeros((4, MODEL.nlinks, 6))
    found = wd.oracle(gravity_compensation, MODEL, q, v, none, np.tile(DOWN, (4, 1)))
    expected = wd.oracle(wd.gravity_torques, MODEL, q)
    np.testing.assert_allclose(found, expected, atol=1e-12)

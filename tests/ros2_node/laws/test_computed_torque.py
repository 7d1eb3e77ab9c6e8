"""The mode computed_torque as a law."""

from __future__ import annotations

import numpy as np

import warpdyn as wd
from ros2_node.laws.computed_torque import computed_torque

MODEL = wd.load_robot("panda")
DOWN = np.array([0.0, 0.0, -9.81])


def test_closed_loop_errors_follow_the_gains():
    """The accelerations that the torques produce satisfy ë + kd ė + kp e = 0."""
    draw = np.random.default_rng(2)
    q = np.clip(draw.uniform(-1.0, 1.0, (3, MODEL.nq)), MODEL.position_lower, MODEL.position_upper)
    v, a = draw.normal(size=(3, MODEL.nv)), draw.normal(size=(3, MODEL.nv))
    error, rate = draw.normal(size=(3, MODEL.nv)), draw.normal(size=(3, MODEL.nv))
    none, kp, kd = (
        np.zeros((3, MODEL.nlinks, 6)),
        np.full((3, MODEL.nv), 90.0),
        np.full((3, MODEL.nv), 8.0),
    )
    tau = wd.oracle(
        computed_torque, MODEL, q, v, q + error, v + rate, a, none, np.tile(DOWN, (3, 1)), kp, kd
    )
    produced = wd.oracle(wd.aba, MODEL, q, v, tau)
    np.testing.assert_allclose(produced, a + 90.0 * error + 8.0 * rate, atol=1e-9)

"""Equations of closed loops: derivatives along the motion, and rows known to be zero."""

from __future__ import annotations

import numpy as np
import pytest
from loop_robots import ROBOTS as LOOP_ROBOTS
from loop_robots import closed_configurations, four_bar, two_arms
from states import states, step

import warpdyn as wd
from warpdyn.algorithms.closed_loops.loop_equations import LoopRows, loop_bias
from warpdyn.execution.request.evaluate import tree_of

HELD = wd.description.Loop.couple("left1_joint", None, (0.4,))
ROBOTS = {**LOOP_ROBOTS, "held": two_arms(HELD)}

STEP = 1e-6
"""Step of central differences [rad, m]."""
NEAR = 1e-7
"""Error of derivatives by central differences."""


@pytest.mark.parametrize("name", ROBOTS)
def test_the_jacobian_is_the_rate_of_the_errors(name: str) -> None:
    """The loops are closed."""
    model = ROBOTS[name]
    q, v = closed_configurations(model, 3), states(model, 3).v
    ahead, behind = step(model, q, STEP * v), step(model, q, -STEP * v)
    for now, there, before, speed in zip(q, ahead, behind, v, strict=True):
        errors = [wd.oracle(wd.loops.errors, model, x) for x in (there, before)]
        rate = (errors[0] - errors[1]) / (2 * STEP)
        J = wd.oracle(wd.loops.constraint_jacobian, model, now)
        np.testing.assert_allclose(J @ speed, rate, rtol=0, atol=NEAR)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_bias_is_the_rate_of_the_jacobian_times_the_velocity(name: str) -> None:
    """Velocity terms are compared in the carrier's axes, for velocities that keep the loops closed."""
    model = ROBOTS[name]
    q, v = closed_configurations(model, 3), states(model, 3).v
    J = np.array([wd.oracle(wd.loops.constraint_jacobian, model, x) for x in q])
    v -= np.einsum("bij,bj->bi", np.linalg.pinv(J, rcond=1e-9) @ J, v)
    tree = tree_of(model)
    for now, there, before, speed in zip(
        q, step(model, q, STEP * v), step(model, q, -STEP * v), v, strict=True
    ):
        rates = [np.array(LoopRows.at(tree, list(x)).J) @ speed for x in (there, before)]
        rows = LoopRows.at(tree, list(now))
        bias = rows.rows_of(loop_bias(tree, list(now), list(speed)))
        np.testing.assert_allclose(
            np.array(bias, float), (rates[0] - rates[1]) / (2 * STEP), rtol=0, atol=10 * NEAR
        )


def test_rows_normal_to_the_plane_of_a_linkage_are_left_out() -> None:
    """A planar linkage has two rows on any base, and neither has entries of the base."""
    for floating in (False, True):
        model = four_bar(floating=floating)
        q = list(states(model, 1).q[0])
        rows = LoopRows.at(tree_of(model), q)
        assert rows.kept == [[0, 2]]
        assert not np.array(rows.J)[:, : 6 * floating].any()


def test_a_weld_of_a_link_on_itself_has_no_error() -> None:
    """Both ends are on one body, and no row is kept."""
    builder = wd.ModelBuilder("r").add_link("a").add_link("b", 1.0, inertia=np.eye(3))
    builder.add_frame("c", "b", (0.1, 0.2, 0.3)).add_joint("j", "revolute", "a", "b")
    model = builder.weld("b", (0.1, 0.2, 0.3), "c").build()
    assert not np.abs(wd.oracle(wd.loops.errors, model, np.array([0.3]))).max() > 1e-12
    assert LoopRows.at(tree_of(model), [0.3]).kept == [[]]

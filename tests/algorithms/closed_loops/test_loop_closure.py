"""Configurations with closed loops: near the start, with fixed joints, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from loop_robots import CONNECT, COUPLE, WELD, four_bar, leg, two_arms
from states import states, step

import warpdyn as wd
from warpdyn.algorithms.closed_loops.loop_closure import LONGEST, loop_closure
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.structure import start_of

CLOSED = 1e-9
"""Largest error [m, rad]."""


@pytest.mark.parametrize(
    "model", [two_arms(CONNECT), two_arms(WELD), two_arms(COUPLE), four_bar(), leg()]
)
def test_loops_are_closed_to_the_tolerance(model: wd.Model) -> None:
    """The tolerance is 1e-9 m and rad."""
    start = np.tile(start_of(model), (3, 1))
    for q in step(model, start, 0.2 * states(model, 3, seed=1).v):
        closed = wd.oracle(wd.loops.close, model, q)
        assert np.abs(wd.oracle(wd.loops.errors, model, closed)).max() < CLOSED


def test_fixed_joints_do_not_move_and_the_step_is_the_shortest() -> None:
    """The step is orthogonal to the null space of the equations, to first order."""
    model = four_bar()
    q = wd.oracle(wd.loops.close, model, np.array([1.0, -0.9, 1.0]), fixed=["j1"])
    assert q[0] == 1.0
    J = wd.oracle(wd.loops.constraint_jacobian, model, q)[[0, 2]]
    free = np.linalg.svd(J)[2][-1]
    near = q + 1e-4 * np.linalg.pinv(J) @ [0.3, -0.7]
    way = wd.oracle(wd.loops.close, model, near) - q
    assert abs(way @ free) < 1e-7


@pytest.mark.parametrize("model", [four_bar(), leg(), two_arms(WELD)], ids=["bar", "leg", "weld"])
def test_loops_close_from_random_states(model: wd.Model) -> None:
    """None of 256 configurations far from closed stays open.

    Without damping two thirds of the leg's would.
    """
    q = wd.random_configuration(model, 256)
    closed = wd.loops.close(model, q)
    assert np.abs(wd.loops.errors(model, closed)).max() < CLOSED
    assert np.abs(wd.loops.errors(model, q)).max() > 0.1


def test_the_length_of_a_step_is_bounded() -> None:
    """The search begins far from a closed configuration."""
    model = four_bar()
    q = [3.0, 2.0, -2.0]
    moved = np.array(loop_closure(tree_of(model), q, range(3), 1)) - q
    assert np.linalg.norm(moved) == pytest.approx(LONGEST)


@pytest.mark.parametrize("model", [two_arms(COUPLE), leg()], ids=["couple", "leg"])
def test_derivatives_where_loops_are_closed_are_finite_in_single_precision(
    model: wd.Model,
) -> None:
    """The last steps have no length. A closed configuration moves along its loops."""
    q = wd.loops.close(model, start_of(model)[None])
    slopes = [
        wd.vjp(wd.loops.close, model, x, check=False, cotangents=np.ones_like(x))
        for x in (q, q.astype(np.float32))
    ]
    assert slopes[1] == pytest.approx(slopes[0], abs=1e-4)

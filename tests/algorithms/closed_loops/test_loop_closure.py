"""Configurations with closed loops: near the start, with fixed joints, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from loop_robots import CONNECT, COUPLE, WELD, four_bar, leg, rod, two_arms
from states import states, step

import warpdyn as wd
from warpdyn.algorithms.closed_loops.loop_closure import (
    LONGEST,
    closed_velocities,
    closing_step,
    loop_closure,
)
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


def test_loops_that_no_joint_moves_are_left_alone() -> None:
    """Both ends are on one rigid part, so that a loop has no rows. A gap of it is refused."""
    builder = wd.ModelBuilder("idle").add_link("a").add_link("b", **rod(0.3, 2)).add_link("c")
    builder.add_joint("j", "continuous", "a", "b", axis=(0, 1, 0)).add_joint("k", "fixed", "a", "c")
    loopless = builder.build()
    model = builder.connect("a", (1, 0, 0), "c", (1, 0, 0)).build()
    tree, q, v = tree_of(model), [0.4], [0.7]
    assert closing_step(tree, q, range(1), LONGEST) == q and closing_step(tree, q, [], LONGEST) == q
    assert closed_velocities(tree, q, v) == v
    assert wd.oracle(wd.loops.close, model, np.array(q)) == q
    a = wd.oracle(wd.loops.inverse_dynamics, model, q, v, [0.5], actuated=["j"])
    assert a == pytest.approx(wd.oracle(wd.rnea, model, q, v, [0.5]))
    end = wd.oracle(wd.step, model, q, v, [0.0], dt=0.01, integrator="rk4")
    free = wd.oracle(wd.step, loopless, q, v, [0.0], dt=0.01, integrator="rk4")
    assert end[0] == pytest.approx(free[0]) and end[1] == pytest.approx(free[1])
    apart = builder.connect("a", (1, 0, 0), "c", (1.1, 0, 0)).build()
    with pytest.raises(ValueError, match=r"stay open in 1 of 1 .*by 0\.1 m"):
        wd.loops.close(apart, np.array([q]))

"""A launch on plain numbers: steps one after the other, means over them, and what begins anew."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.semi_implicit_step import Scene
from warpdyn.algorithms.substeps import guarded_step
from warpdyn.execution.evaluate import tree_of

MODEL = wd.load_robot("double_pendulum")
GRAVITY = (0.0, 0.0, -9.81)


def test_torques_are_the_mean_over_the_steps() -> None:
    """Of what single steps report, each from where the one before ended."""
    q, v = np.array([0.3, -0.2]), np.zeros(2)
    drive = {"control": wd.PD(20.0, 1.0), "targets": np.array([1.0, 0.5]), "dt": 0.01}
    tau = np.array([0.1, 0.2])
    together = wd.Step(*wd.oracle(wd.step, MODEL, q, v, tau, substeps=3, **drive))
    each = []
    for _ in range(3):
        end = wd.Step(*wd.oracle(wd.step, MODEL, q, v, tau, **drive))
        q, v = end.q, end.v
        each.append(end.torques)
    assert together.torques == pytest.approx(np.mean(each, axis=0), rel=1e-12)
    assert together.q == pytest.approx(q, rel=1e-12)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_state_that_is_not_finite_becomes_the_start_and_counts(broken: float) -> None:
    scene = Scene((), (), False, (), (), 0.01, 2, 4)
    tree, start = tree_of(MODEL), [0.4, 0.5]

    def after(speed: float) -> tuple:
        return guarded_step(
            *(tree, [0.1, 0.2], [speed, 0.0], [0.0, 0.0], start, [1.5], [3.0]),
            **{"scene": scene, "gravity": GRAVITY, "f_ext": {}},
        )

    q, v, impulses, forces, torques, time, failures = after(broken)
    assert (q, v, torques, time, failures) == (start, [0.0] * 2, [0.0] * 2, [0.0], [4.0])
    assert (impulses, forces) == ([], [])
    q, *_, time, failures = after(0.1)
    assert q != start and time == [pytest.approx(1.52)] and failures == [3.0]

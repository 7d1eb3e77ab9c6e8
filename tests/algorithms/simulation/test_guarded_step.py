"""A launch on plain numbers: states that are not finite are reset, and time counts launches."""

from __future__ import annotations

import math

import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.guarded_step import guarded_step
from warpdyn.algorithms.simulation.scene import Scene
from warpdyn.execution.request.evaluate import tree_of

MODEL = wd.load_robot("double_pendulum")
GRAVITY = (0.0, 0.0, -9.81)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_state_that_is_not_finite_is_reset_to_the_start_and_counted(broken: float) -> None:
    scene = Scene(
        arrays=(),
        points=(),
        guarded=False,
        speed_limits=(),
        stops=(),
        dt=0.01,
        substeps=2,
        sweeps=4,
    )
    tree, start = tree_of(MODEL), [0.4, 0.5]

    def after(speed: float) -> tuple:
        return guarded_step(
            *(tree, [0.1, 0.2], [speed, 0.0], [0.0, 0.0], start, [1.5], [3.0]),
            **{"scene": scene, "sensors": None, "gravity": GRAVITY, "f_ext": {}},
        )

    q, v, impulses, forces, torques, time, failures = after(broken)
    assert (q, v, torques, time, failures) == (start, [0.0] * 2, [0.0] * 2, [0.0], [4.0])
    assert (impulses, forces) == ([], [])
    q, *_, time, failures = after(0.1)
    assert q != start and time == [pytest.approx(1.52)] and failures == [3.0]

"""A launch on plain numbers: states that are not finite are reset, and time counts launches."""

from __future__ import annotations

import math

import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.guarded_step import guarded_step
from warpdyn.algorithms.simulation.imu import imu
from warpdyn.algorithms.simulation.link_contact_forces import Measurements
from warpdyn.algorithms.simulation.scene import Scene
from warpdyn.execution.request.evaluate import tree_of

MODEL = wd.load_robot("double_pendulum")
GRAVITY = (0.0, 0.0, -9.81)
SCENE = Scene(
    arrays=(),
    points=(),
    guarded=False,
    speed_limits=(),
    stops=(),
    dt=0.01,
    substeps=2,
    sweeps=4,
)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_state_that_is_not_finite_is_reset_to_the_start_and_counted(broken: float) -> None:
    tree, start = tree_of(MODEL), [0.4, 0.5]

    def after(speed: float) -> tuple:
        return guarded_step(
            *(tree, [0.1, 0.2], [speed, 0.0], [0.0, 0.0], start, [1.5], [3.0]),
            **{"scene": SCENE, "sensors": None, "gravity": GRAVITY, "f_ext": {}},
        )

    q, v, impulses, forces, torques, time, failures = after(broken)
    assert (q, v, torques, time, failures) == (start, [0.0] * 2, [0.0] * 2, [0.0], [4.0])
    assert (impulses, forces) == ([], [])
    q, *_, time, failures = after(0.1)
    assert q != start and time == [pytest.approx(1.52)] and failures == [3.0]


def test_sensors_are_read_at_the_end_of_a_launch() -> None:
    """The acceleration is that of the last step. After a failure the robot is at rest at the start,
    and its sensors read zero."""
    tree, start = tree_of(MODEL), [0.4, 0.5]
    link = MODEL.link_names[-1]
    sensors = Measurements(units=(link,), links=(link,), threshold=1.0)

    def after(speed: float, substeps: int) -> tuple:
        return guarded_step(
            *(tree, [0.1, 0.2], [speed, -0.3], [0.5, 0.6], start, [0.0], [0.0]),
            **{"scene": SCENE._replace(substeps=substeps), "sensors": sensors},
            **{"gravity": GRAVITY, "f_ext": {}},
        )

    q, v, *_, failures, unit, points, forces, links = after(0.7, 2)
    before = after(0.7, 1)[1]
    a = [(x - y) / SCENE.dt for x, y in zip(v, before, strict=True)]
    (wanted,) = imu(tree, q, v, a, GRAVITY, {}, frames=(link,))
    assert unit == [pytest.approx(wanted, rel=1e-9)] and any(wanted)
    assert (failures, points, forces, links) == ([0.0], [], [[0.0] * 6], [0.0])
    *_, failures, unit, points, forces, links = after(math.nan, 2)
    assert (failures, points, forces, links) == ([1.0], [], [[0.0] * 6], [0.0])
    assert unit == [[0.0] * len(wanted)]

"""Forces that a step takes implicitly: their slopes and bounds."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.implicit_forces import (
    Drive,
    Stop,
    drive_forces,
    guard_forces,
    stop_forces,
)
from warpdyn.execution.request.evaluate import tree_of

ARM = tree_of(wd.load_robot("double_pendulum"))
SMALL = 1e-6


def test_the_slopes_of_a_drive_are_its_gains() -> None:
    drive = Drive([0.5, -0.2], [20.0, 30.0], [1.0, 2.0], [float("inf")] * 2)
    q, v = [0.1, 0.2], [0.3, -0.4]
    at = drive_forces(ARM, q, v, drive)
    assert [x.force for x in at] == pytest.approx([20 * 0.4 - 0.3, -30 * 0.4 + 0.8])
    further = drive_forces(ARM, [x + SMALL for x in q], v, drive)
    faster = drive_forces(ARM, q, [x + SMALL for x in v], drive)
    for here, there, then in zip(at, further, faster, strict=True):
        assert (here.force - there.force) / SMALL == pytest.approx(here.by_q, rel=1e-6)
        assert (here.force - then.force) / SMALL == pytest.approx(here.by_v, rel=1e-6)


def test_both_slopes_of_a_drive_at_its_effort_scale_equally() -> None:
    """Its force does not exceed its effort."""
    drive = Drive([1.0, 1.0], [20.0, 30.0], [1.0, 2.0], [5.0, 0.0])
    held, slack = drive_forces(ARM, [0.0, 0.0], [0.0, 0.0], drive)
    assert (held.force, held.by_q / 20.0, held.by_v / 1.0) == pytest.approx((5.0, 0.25, 0.25))
    assert (slack.force, slack.by_q, slack.by_v) == (0.0, 0.0, 0.0)


def test_the_slope_of_a_motor_on_its_curve_is_stall_over_no_load_speed() -> None:
    """The slope at the effort limit is that of the gains. Strength scales everything."""
    limits = {"no_load_speed": [10.0] * 2, "stall_effort": [8.0] * 2, "strength": [0.5] * 2}
    drive = Drive([9.0] * 2, [100.0] * 2, [1.0] * 2, [6.0] * 2, **limits)
    v = [5.0, 1.0]
    curved, flat = drive_forces(ARM, [0.0] * 2, v, drive)
    assert (curved.force, flat.force) == pytest.approx((0.5 * 4.0, 0.5 * 6.0))
    assert curved.by_v == pytest.approx(0.5 * (0.8 + 4.0 / 895.0))
    assert flat.by_v == pytest.approx(0.5 * 6.0 / 899.0)
    faster, _ = drive_forces(ARM, [0.0] * 2, [v[0] + SMALL, v[1]], drive)
    assert (curved.force - faster.force) / SMALL == pytest.approx(0.5 * 0.8, rel=1e-5)


def negative_values(values: list[float]) -> list[float]:
    return [-x for x in values]


@pytest.mark.parametrize("curved", [False, True])
def test_forces_of_a_drive_are_odd(curved: bool) -> None:
    """Slopes are even: positions, speeds and targets of the other sign turn the force around. This
    holds with a motor's curve in both of its quadrants, too."""
    limits = {"no_load_speed": [10.0] * 2, "stall_effort": [8.0] * 2} if curved else {}
    sizes = []
    for target, v in (
        ([9.0, 0.05], [5.0, 3.0]),
        ([9.0, 0.02], [-5.0, 30.0]),
        ([0.3, 9.0], [12.0, 11.0]),
        ([0.12, -0.19], [0.5, 0.3]),
    ):
        q, gains = [0.1, -0.2], ([100.0] * 2, [1.0] * 2, [6.0] * 2)
        here = drive_forces(ARM, q, v, Drive(target, *gains, **limits))
        turned = Drive(negative_values(target), *gains, **limits)
        there = drive_forces(ARM, negative_values(q), negative_values(v), turned)
        for x, y in zip(here, there, strict=True):
            assert (y.force, y.by_q, y.by_v) == (-x.force, x.by_q, x.by_v)
            sizes.append(abs(x.force))
    assert max(sizes) == pytest.approx(6.0) and min(sizes) < (1e-9 if curved else 1.0)


def test_a_motor_that_brakes_has_its_whole_effort() -> None:
    """Against its torque it is not slowed by its curve. Beyond the no-load speed it has none."""
    limits = {"no_load_speed": [10.0] * 2, "stall_effort": [8.0] * 2}
    drive = Drive([9.0, -9.0], [100.0] * 2, [0.0] * 2, [6.0] * 2, **limits)
    for speed, efforts in ((-5.0, (6.0, -4.0)), (5.0, (4.0, -6.0)), (-10.5, (6.0, 0.0))):
        found = drive_forces(ARM, [0.0] * 2, [speed] * 2, drive)
        assert [x.force for x in found] == pytest.approx(efforts)


@pytest.mark.parametrize(
    ("x", "force", "slope"),
    [(0.0, 0.0, 0.0), (1.01, -2.0, 200.0), (-0.52, 4.0, 200.0), (3.0, -8.0, 200.0)],
)
def test_a_stop_pushes_back_in_proportion_to_the_excess(
    x: float, force: float, slope: float
) -> None:
    """The force grows up to the reach of the stop."""
    (found,) = stop_forces([0.0, x], [Stop(0, 1, -0.5, 1.0, 200.0, 0.04)])
    assert found == (0, pytest.approx(force), slope, 0.0)
    (turned,) = stop_forces([0.0, -x], [Stop(0, 1, -1.0, 0.5, 200.0, 0.04)])
    assert turned == (0, pytest.approx(-force), slope, 0.0)


def test_the_excess_over_a_speed_limit_halves_in_a_step() -> None:
    """v+ = v + h (force - by_v (v+ - v)) / inertia, without other forces."""
    h, inertia, limit = 0.005, 0.3, 10.0
    (found,) = guard_forces([0.0, -14.0], [(1, limit)], {1: inertia}, h)
    after = -14.0 + h * found.force / (inertia + h * found.by_v)
    assert after == pytest.approx(-12.0)
    (calm,) = guard_forces([0.0, 9.0], [(1, limit)], {1: inertia}, h)
    assert (calm.force, calm.by_v) == (0.0, 0.0)

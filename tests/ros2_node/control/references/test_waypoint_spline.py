"""Polynomials through waypoints: they interpolate the given values, and are as smooth as these
allow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import BPoly

from ros2_node.control.references.waypoint_spline import Waypoint, WaypointArrays, WaypointSpline


def sample(spline, times):
    out, rows = np.zeros((3, len(spline.last))), []
    for t in times:
        spline.at(t, out)
        rows.append(out.copy())
    return np.array(rows)


def waypoints(order, count=5, k=3, seed=0):
    """Random waypoints with their first `order` derivatives."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 1.0, count))
    x = rng.normal(size=(count, 3, k))
    return [
        Waypoint(t, each[0], *(each[1:] if order == 2 else [each[1]] * order))
        for t, each in zip(times, x, strict=True)
    ]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_spline_interpolates_positions_and_derivatives(order):
    """SciPy's polynomials of the same positions, velocities and accelerations are equal."""
    given = waypoints(order)
    spline = WaypointSpline(WaypointArrays.of(given))
    times = np.linspace(given[0].time, given[-1].time, 101)[:-1]
    for k in range(3):
        values = [[part[k] for part in w[1:] if len(part)] for w in given]
        oracle = BPoly.from_derivatives([w.time for w in given], values)
        got = sample(spline, times)[:, :, k]
        for derivative in range(3):
            np.testing.assert_allclose(got[:, derivative], oracle(times, derivative), atol=1e-9)


def test_the_lower_order_of_both_ends_counts():
    """The motion between a waypoint with velocities and one without is a line.

    The motion of `joint_trajectory_controller` is the same.
    """
    given = [Waypoint(0.0, [0.0], [3.0], [1.0]), Waypoint(2.0, [1.0]), Waypoint(3.0, [1.0], [0.0])]
    got = sample(WaypointSpline(WaypointArrays.of(given)), [0.0, 1.0, 1.999])
    np.testing.assert_allclose(got[:, :, 0], [[0.0, 0.5, 0.0], [0.5, 0.5, 0.0], [0.9995, 0.5, 0.0]])
    mixed = [Waypoint(0.0, [0.0], [1.0], [5.0]), Waypoint(1.0, [1.0], [1.0])]
    np.testing.assert_allclose(
        sample(WaypointSpline(WaypointArrays.of(mixed)), [0.5])[0, :, 0], [0.5, 1.0, 0.0]
    )


def test_a_spline_is_constant_outside_its_times():
    spline = WaypointSpline(WaypointArrays.of(waypoints(2)))
    before, after = sample(spline, [spline.begin - 1.0, spline.end + 1.0])
    np.testing.assert_array_equal(before, sample(spline, [spline.begin])[0])
    np.testing.assert_allclose(after[0], spline.last, atol=1e-9)


def test_samples_agree_with_the_motion():
    spline = WaypointSpline(WaypointArrays.of(waypoints(2)))
    second = spline.samples()[..., 1]
    times = np.linspace(spline._times[1], spline._times[2], second.shape[1])[:-1]
    np.testing.assert_allclose(second[:, :-1].transpose(1, 0, 2), sample(spline, times), atol=1e-9)


def test_a_slower_motion_scales_times_velocities_and_accelerations():
    """Times after the first point are doubled, velocities halved, and accelerations quartered."""
    first = WaypointArrays.of([Waypoint(1.0, [0.0], [0.3])])
    points = WaypointArrays.of([Waypoint(2.0, [1.0], [0.4], [0.8]), Waypoint(4.0, [3.0])])
    slower = points.after(first, 2.0)
    np.testing.assert_array_equal(slower.times, [1.0, 3.0, 7.0])
    np.testing.assert_array_equal(slower.positions, [[0.0], [1.0], [3.0]])
    np.testing.assert_array_equal(slower.velocities, [[0.3], [0.2], [0.0]])
    np.testing.assert_array_equal(slower.accelerations, [[0.0], [0.2], [0.0]])
    np.testing.assert_array_equal(slower.has_velocities, [True, True, False])
    np.testing.assert_array_equal(slower.has_accelerations, [False, True, False])


def test_angles_of_endless_joints_are_shifted_to_the_nearest_turn():
    """Whole turns, so that the joint is within half a turn of its place at that time. Other joints
    stay."""
    points = [Waypoint(t, [0.5 * t, 0.5 * t]) for t in (0.0, 2.0)]
    turns, start = np.array([True, False]), WaypointArrays.of(points)
    for place in (1.0, 3.5, 3.8, -2.5, -2.8, 20.0, -400.0):
        there = np.full(2, place)
        found = start.nearest_turns(there, 1.0, turns).positions
        shift = found[:, 0] - start.positions[:, 0]
        assert shift[0] == shift[1] and abs(place - (0.5 + shift[0])) <= np.pi
        whole = shift[0] / (2.0 * np.pi)
        assert whole == pytest.approx(round(whole), abs=1e-12)
        np.testing.assert_array_equal(found[:, 1], start.positions[:, 1])


def test_the_points_after_a_time_are_counted():
    spline = WaypointSpline(WaypointArrays.of([Waypoint(t, [0.0]) for t in (1.0, 2.0, 4.0)]))
    assert [spline.points_after(t) for t in (0.5, 1.0, 1.5, 2.0, 3.9, 4.0)] == [3, 2, 2, 1, 1, 0]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_extremes_include_those_between_the_samples(order):
    """The motions exceed their bounds. SciPy's polynomials, sampled 1,001 times in each piece, have
    the same extremes."""
    for seed in range(20):
        given = waypoints(order, seed=seed)
        spline = WaypointSpline(WaypointArrays.of(given))
        zero = np.zeros((3, 3))
        least, most = spline.extremes(zero, zero)
        times = np.concatenate(
            [np.linspace(a.time, b.time - 1e-9, 1001) for a, b in pairwise(given)]
        )
        found = sample(spline, times)
        scale = np.ptp(found, axis=0) + 1e-9
        assert (np.abs(found.max(0) - most) < 3e-4 * scale).all()
        assert (np.abs(found.min(0) - least) < 3e-4 * scale).all()

"""Velocities from positions: exact for exact times, and calm for others."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from fleets import MODEL, NAMES, Q, panda_fleet
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.states.finite_difference import (
    LEAST_INTERVAL,
    FiniteDifference,
    index_of,
    short_way,
)

ALL = slice(None)
MILLISECOND = 1_000_000


def of_one(bound=100.0, turns=False):
    return FiniteDifference(np.array([bound]), np.array([turns]))


def computed_velocities(difference, times, stamps, speed=1.0, cutoff=50.0):
    """The velocities computed for a joint that moves at a constant speed, by the true times [s]."""
    return np.array(
        [
            difference.speed(ALL, np.array([speed * true]), stamp, now, 0.1, cutoff)[0]
            for true, stamp, now in zip(times, stamps, times, strict=True)
        ]
    )


@given(st.floats(-50.0, 50.0), st.floats(1e-3, 0.09), st.floats(0.0, 200.0))
def test_a_constant_speed_is_exact_with_any_filter(speed, interval, cutoff):
    """It is exact from the second position on. The first one gives zero."""
    times = 5.0 + interval * np.arange(5)
    found = computed_velocities(of_one(), times, [0] * 5, speed, cutoff)
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], speed, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("jitter", [0.2, 0.4, 0.8])
def test_jitter_of_the_stamps_does_not_reach_the_velocity(jitter):
    """Samples at 1 kHz and 1 rad/s have stamps that scatter over 0.8 ms. The error is within 0.35
    rad/s; plain differences have errors of several rad/s."""
    rng = np.random.default_rng(0)
    times = 5.0 + 1e-3 * np.arange(3000)
    noise = rng.uniform(-0.5 * jitter, 0.5 * jitter, len(times)) * 1e-3
    stamps = [int((t + x) * 1e9) for t, x in zip(times, noise, strict=True)]
    found = computed_velocities(of_one(), times, stamps)[200:]
    assert np.abs(found - 1.0).max() < 0.35 and abs(found.mean() - 1.0) < 0.05
    plain = 1e-3 / np.diff(times + noise)
    assert jitter < 0.8 or np.abs(plain - 1.0).max() > 2.0


def test_bursts_of_messages_give_the_true_velocity():
    """Every 10 ms ten messages without stamps arrive 20 us apart."""
    difference, found = of_one(), []
    for burst in range(50):
        for k in range(10):
            true, now = 0.01 * burst + 1e-3 * k, 0.01 * burst + 2e-5 * k
            found.append(difference.speed(ALL, np.array([true]), 0, now, 0.1, 50.0)[0])
    np.testing.assert_allclose(found[10:], 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("step", "waits"),
    [(500_000, False), (499_999, True), (0, True), (-1_999_999, True), (-2_000_000, False)],
)
def test_stamps_at_the_bounds_give_velocities_or_wait(step, waits):
    """A stream at 2 kHz gives velocities. Stamps that run back by 2 ms restart the difference. No
    motion is lost from positions that wait."""
    difference, first = of_one(), 10 * MILLISECOND
    difference.speed(ALL, np.array([0.0]), first, 1.0, 0.1, 0.0)
    usable = step == 500_000
    found = difference.speed(ALL, np.array([1e-3]), first + step, 1.1, 0.1, 0.0)
    assert found == pytest.approx(2.0 if usable else 0.0)
    last = first + 4 * MILLISECOND
    way, passed = (5e-3, last - first) if waits else (4e-3, last - first - step)
    found = difference.speed(ALL, np.array([5e-3]), last, 1.2, 0.1, 0.0)
    assert found == pytest.approx(way / (passed * 1e-9))


def test_positions_too_close_in_time_wait_for_the_next():
    """No part of the motion is lost."""
    difference = of_one()
    difference.speed(ALL, np.zeros(1), 0, 0.0, 0.1, 0.0)
    close = 0.5 * LEAST_INTERVAL
    assert difference.speed(ALL, np.array([0.3]), 0, close, 0.1, 0.0) == 0.0
    found = difference.speed(ALL, np.array([0.4]), 0, 0.01, 0.1, 0.0)
    np.testing.assert_allclose(found, 40.0)


def test_velocities_are_limited_to_the_bound():
    found = computed_velocities(of_one(bound=2.0), [0.0, 0.01, 0.02], [0, 0, 0], speed=1e6)
    np.testing.assert_array_equal(found, [0.0, 2.0, 2.0])


def test_the_low_pass_is_of_first_order():
    """A step of the speed gives the share 1 - exp(-2 pi f t)."""
    difference, cutoff = of_one(), 5.0
    computed_velocities(difference, [0.0, 0.01], [0, 0], speed=0.0, cutoff=cutoff)
    found = [
        difference.speed(ALL, np.array([0.01 * k]), 0, 0.01 + 0.01 * k, 0.1, cutoff)[0]
        for k in range(1, 20)
    ]
    expected = 1.0 - np.exp(-2.0 * np.pi * cutoff * 0.01 * np.arange(1, 20))
    np.testing.assert_allclose(found, expected)


def test_old_or_backward_positions_give_zero_velocity():
    """The next difference restarts."""
    difference = of_one()
    stamps = [1000, 1010, 1200, 1210, 1150, 1160]
    found = computed_velocities(
        difference, np.array(stamps) * 1e-3, [x * MILLISECOND for x in stamps]
    )
    np.testing.assert_allclose(found, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    difference.forget()
    assert difference.speed(ALL, np.zeros(1), 0, 1.161, 0.1, 50.0) == 0.0


def test_joints_in_separate_messages_have_separate_times():
    difference = FiniteDifference(np.full(2, 100.0), np.zeros(2, dtype=bool))
    for k in range(3):
        arm = difference.speed(np.array([0]), np.array([0.01 * k]), 0, 0.01 * k, 0.1, 0.0)
        hand = difference.speed(np.array([1]), np.array([0.02 * k]), 0, 0.04 * k + 1, 0.1, 0.0)
    np.testing.assert_allclose([arm, hand], [[1.0], [0.5]])


def test_short_way_wraps_only_continuous_joints():
    turns = np.array([True, False])
    np.testing.assert_allclose(short_way(np.array([6.2, 6.2]), turns), [6.2 - 2 * np.pi, 6.2])


@pytest.mark.parametrize("stamped", [True, False], ids=["jitter", "bursts"])
def test_a_pushed_arm_with_difference_velocities_comes_to_rest(stamped):
    """A panda in computed torque uses velocities by differences and is shaken by 3 N·m for 0.3 s.

    Its states come at 1 kHz, with stamps that scatter over 0.8 ms, or ten at a time without stamps.
    Plain differences would throw it around by 65 rad. It remains within 0.1 rad and comes to rest.
    """
    rng, dt = np.random.default_rng(1), 1e-3
    fleet = panda_fleet(mode="computed_torque", velocity_source="finite_difference", ramp_time=0.0)
    robot, waiting = fleet.robots[0], []
    q, v, a = Q[None].copy(), np.zeros((1, 8)), np.zeros((1, 8))
    held = wd.rnea(MODEL, Q, 0 * Q, 0 * Q)
    torque = held[None].copy()
    accelerate = wd.bind(wd.aba, MODEL, q, v, torque, out=a)
    furthest = 0.0
    for k in range(1200):
        now = 1.0 + dt * k
        waiting.append((array("d", q[0]), int((now + rng.uniform(-4e-4, 4e-4)) * 1e9)))
        if stamped or k % 10 == 9:
            for i, (position, stamp) in enumerate(waiting):
                arrival = now + 2e-5 * i
                assert robot.read(NAMES, position, (), stamp if stamped else 0, arrival)
                robot.enable(arrival, arrival)
                fleet.compute()
                held = robot.command(arrival, arrival)[1].copy()
            waiting.clear()
        push = 3.0 * np.sin(40.0 * now) if k < 300 else 0.0
        torque[0] = held + push * np.array([0, 1, 0, 1, 0, 0, 0, 0])
        accelerate()
        v += dt * a
        q += dt * v
        furthest = max(furthest, np.abs(q[0] - Q).max())
    assert furthest < 0.1 and np.abs(q[0] - Q).max() < 1e-3 and np.abs(v).max() < 1e-2


@pytest.mark.parametrize(
    ("later", "arrival", "speed"),
    [
        (0.4, 0.0, 1.0),
        (0.6, 0.0, 2.0),
        (-1.9, 0.0, 1.0),
        (-2.1, 0.0, 1.0),
        (-2.1, 4.0, -1.05),
        (100.0, 0.0, 2.0),
        (100.1, 0.0, 1.0),
        (100.1, 100.0, 2.002),
        (100.1, 100.1, 0.0),
    ],
)
def test_close_stamps_wait_and_old_positions_restart(later, arrival, speed):
    """Stamps less than 0.5 ms apart, or back by less than 2 ms, wait for the next one. Positions
    older than the timeout give zero. Arrivals count in place of stamps that contradict them."""
    difference = of_one()
    stamps = [1000.0, 1010.0, 1010.0 + later]
    positions = [0.0, 0.01, 0.01 + 2e-3 * later]
    arrivals = [9.0, 9.0, 9.0 + 1e-3 * arrival]
    for p, stamp, now in zip(positions, stamps, arrivals, strict=True):
        found = difference.speed(ALL, np.array([p]), round(1e6 * stamp), now, 0.1, 0.0)
    np.testing.assert_allclose(found, speed, atol=1e-9)


def test_stamps_before_a_clock_jump_are_not_used():
    difference = of_one()
    computed_velocities(difference, [1.0, 1.01], [10**9, 1_010_000_000])
    difference.forget()
    later = difference.speed(ALL, np.array([9.0]), 1_020_000_000, 1.02, 0.1, 50.0)
    assert later == 0.0
    np.testing.assert_allclose(
        difference.speed(ALL, np.array([9.02]), 1_030_000_000, 1.03, 0.1, 50.0), 2.0
    )


def test_all_columns_become_a_slice():
    assert index_of([0, 1, 2], 3) == slice(None)
    for columns in ([0, 1], [1, 0, 2]):
        np.testing.assert_array_equal(index_of(columns, 3), columns)


def test_a_stamp_of_one_nanosecond_is_valid():
    """Only zero means that there is no stamp."""
    difference = of_one()
    difference.speed(ALL, np.zeros(1), 1, 9.0, 0.1, 0.0)
    late = difference.speed(ALL, np.array([0.01]), 10 * MILLISECOND + 1, 9.0, 0.1, 0.0)
    np.testing.assert_allclose(late, 1.0)


def tracked_velocities(stamps, cutoff=0.0, speed=1.0):
    """The velocities computed for a constant speed, from positions every 5 ms with these stamps."""
    times = 5.0 + 5e-3 * np.arange(len(stamps))
    return computed_velocities(of_one(), times, stamps, speed, cutoff)


@pytest.mark.parametrize("step", [-5.0, -0.5, -0.02, 0.5, 5.0])
def test_a_clock_that_is_set_does_not_change_the_velocity(step):
    """The time between arrivals counts where stamps go back, or on by more than the timeout."""
    later = 100.0 + step + 5e-3 * np.arange(20, 60)
    stamps = [round(1e9 * t) for t in [*(100.0 + 5e-3 * np.arange(20)), *later]]
    np.testing.assert_allclose(tracked_velocities(stamps)[1:], 1.0, rtol=1e-6)


@pytest.mark.parametrize("ahead", [5.0, 0.5, 0.05, 0.02, 0.01])
def test_two_clocks_in_turn_give_the_true_velocity(ahead):
    """Two drivers publish the same joint. Stamps that run back count for nothing for a second."""
    stamps = [round(1e9 * (100.0 + 5e-3 * k + ahead * (k % 2))) for k in range(100)]
    np.testing.assert_allclose(tracked_velocities(stamps)[3:], 1.0, rtol=1e-6)


@pytest.mark.parametrize("resolution", [1.0, 1000.0])
def test_stamps_that_stand_still_do_not_stop_the_velocity(resolution):
    """Positions wait at most 20 ms for a stamp that advances. A driver may have stamps of whole
    seconds, or always the same."""
    times = 100.0 + 5e-3 * np.arange(1000)
    stamps = [round(1e9 * resolution * (1.0 + t // resolution)) for t in times]
    np.testing.assert_allclose(tracked_velocities(stamps)[6:], 1.0, rtol=1e-6)


@pytest.mark.parametrize("resolution", [0.002, 0.01, 0.0156])
def test_coarse_stamps_give_the_true_velocity(resolution):
    """Stamps that advance in steps of up to 16 ms count."""
    times = 100.0 + 1e-3 * np.arange(1000)
    stamps = [round(1e9 * resolution * (t // resolution)) for t in times]
    found = computed_velocities(of_one(), times, stamps, 1.0, 20.0)[100:]
    assert np.abs(found - 1.0).max() < 0.1 and abs(found.mean() - 1.0) < 0.03


def test_old_positions_give_no_velocity_whatever_the_stamps_show():
    """Stamps run back after a pause that is longer than the timeout."""
    found = computed_velocities(of_one(), [5.0, 5.01, 5.2], [9 * 10**9, 9_010_000_000, 10**9])
    np.testing.assert_allclose(found, [0.0, 1.0, 0.0])

"""The clock of the watchdog."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.safety.watchdog_clock import WatchdogClock


@given(st.lists(st.tuples(st.floats(0.0, 0.2), st.floats(-50.0, 50.0)), min_size=1, max_size=50))
def test_the_watchdogs_time_never_outruns_the_steady_clock(steps):
    """The time never runs back and never runs faster than the steady clock.

    The simulated clock may jump in any way.
    """
    clock, steady, simulated, last = WatchdogClock(), 100.0, 1000.0, 0.0
    clock.advance(steady, simulated)
    for passed, moved in steps:
        steady, simulated = steady + passed, simulated + moved
        now = clock.advance(steady, simulated)
        assert last <= now <= steady - 100.0 + 1e-9
        last = now


def test_pauses_jumps_and_slow_ticks_of_a_simulated_clock():
    clock = WatchdogClock()
    clock.advance(0.0, 10.0)
    assert clock.advance(60.0, 10.0) == 0.0 and clock.is_paused
    assert clock.advance(60.01, 10.01) == pytest.approx(0.01) and not clock.is_paused
    assert clock.advance(60.02, 500.0) == pytest.approx(0.02) and clock.jumps == 1
    assert clock.advance(60.03, 5.0) == pytest.approx(0.03) and clock.jumps == 2
    for k in range(10):
        clock.advance(60.04 + 0.01 * k, 5.0)
    assert clock.advance(60.13, 5.1) == pytest.approx(0.13), "a clock that ticks at 10 Hz"
    assert WatchdogClock().advance(5.0, None) == 0.0


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=20))
def test_without_a_simulated_clock_the_steady_clock_counts(steps):
    """Time is the time since the first reading, and it is never paused."""
    clock, steady = WatchdogClock(), 3.0
    clock.advance(steady)
    for passed in steps:
        steady += passed
        assert clock.advance(steady) == pytest.approx(steady - 3.0)
    assert not clock.is_paused and clock.jumps == 0


def test_more_than_100_times_real_time_plus_1_s_is_a_jump():
    """The time of the steady clock counts after a jump."""
    for moved, jumps in ((26.0, 0), (26.125, 1), (0.125, 0), (-0.125, 1)):
        clock = WatchdogClock()
        clock.advance(1.0, 50.0)
        assert clock.advance(1.25, 50.0 + moved) == (0.125 if moved == 0.125 else 0.25)
        assert clock.jumps == jumps


def test_a_simulation_is_paused_after_half_a_second():
    clock = WatchdogClock()
    assert not clock.is_paused
    clock.advance(0.0, 10.0)
    for steady, paused in ((0.5, False), (0.5625, True)):
        clock.advance(steady, 10.0)
        assert clock.is_paused == paused
    clock.advance(0.625, None)
    assert not clock.is_paused, "there is no simulated clock any more"


def test_a_steady_clock_that_runs_back_counts_as_no_time():
    clock = WatchdogClock()
    assert [clock.advance(steady) for steady in (5.0, 4.0, 4.5)] == [0.0, 0.0, 0.5]


@pytest.mark.parametrize("ahead", [-40.0, 0.3, 5.0])
@pytest.mark.parametrize("period", [0.01, 0.1, 0.2])
def test_two_simulated_clocks_in_turn_do_not_slow_the_watchdog(ahead, period):
    """A bag and a simulation both publish /clock, and the node reads it at 1 kHz. The states of a
    driver that has ended must grow old."""
    clock = WatchdogClock()
    for k in range(3001):
        ticks = int(1e-3 * k / period)
        now = clock.advance(1e-3 * k, 50.0 + period * ticks + ahead * (ticks % 2))
    assert 2.0 < now <= 3.0 + 1e-9


def test_a_jump_after_a_pause_counts_only_the_last_moment():
    """A simulation that is reset while it is paused must not make its states old."""
    clock = WatchdogClock()
    clock.advance(0.0, 10.0)
    clock.advance(4.999, 10.0)
    assert clock.advance(5.0, 0.5) == pytest.approx(1e-3) and clock.jumps == 1
    clock.advance(9.999, 0.5)
    assert clock.advance(10.0, 0.1) == pytest.approx(2e-3) and clock.jumps == 2

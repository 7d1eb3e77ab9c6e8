"""Bumpless transfer: commands remain continuous when parameters or torques change."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.commands.bumpless_transfer import (
    MOST_FADES,
    STEPS,
    BumplessTransfer,
    Fade,
    Transfer,
)


@given(st.floats(0.01, 10.0), st.floats(0.0, 20.0))
def test_a_fade_is_linear_and_ends(duration, passed):
    fade = Fade(np.array([2.0]), 5.0, duration)
    expected = 2.0 * max(1.0 - passed / duration, 0.0)
    np.testing.assert_allclose(fade.at(5.0 + passed), expected, atol=1e-9)
    assert fade.share_left(4.0) == 1.0 and Fade(np.ones(1), 0.0, 0.0).share_left(0.0) == 0.0


@given(st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(-10.0, 10.0)), max_size=60))
def test_commands_are_continuous_and_end_at_the_wanted_value(changes):
    """A change does not move the command at once.

    Afterwards only fades move it. The number of fades is bounded.
    """
    blend, now, last = BumplessTransfer(), 0.0, np.zeros(1)
    wanted = np.zeros(1)
    for gap, value in changes:
        now += gap
        last = blend.apply(wanted, last, now) if blend.active else wanted
        wanted = np.array([value])
        blend.begin(1.0)
        np.testing.assert_allclose(blend.apply(wanted, last, now), last, atol=1e-9)
        np.testing.assert_allclose(blend.apply(wanted, last, now), last, atol=1e-9)
        assert len(blend._fades) <= STEPS + 1
    np.testing.assert_allclose(blend.apply(wanted, last, now + 1.01), wanted, atol=1e-9)
    assert not blend.active


def test_a_duration_of_zero_is_a_step():
    blend = BumplessTransfer()
    blend.begin(0.0)
    np.testing.assert_array_equal(blend.apply(np.ones(2), np.zeros(2), 0.0), 1.0)


def test_clear_removes_active_and_pending_fades():
    blend = BumplessTransfer()
    blend.add(np.ones(1), 0.0, 1.0)
    blend.begin(1.0)
    blend.clear()
    assert not blend.active and blend.pending is None


def test_fades_of_different_durations_are_bounded():
    """When there would be too many fades, an existing one absorbs the change. The command remains
    continuous."""
    blend, last = BumplessTransfer(), np.zeros(1)
    for k in range(400):
        now, wanted = 0.004 * k, np.array([float(k % 7)])
        blend.begin(0.05 if k % 2 else 10.0)
        np.testing.assert_allclose(blend.apply(wanted, last, now), last, atol=1e-9)
        last = blend.apply(wanted, last, now)
        assert len(blend._fades) <= MOST_FADES
    np.testing.assert_allclose(blend.apply(wanted, last, now + 10.01), wanted, atol=1e-9)


def test_the_youngest_fade_absorbs_changes_beyond_the_bound():
    """Durations that shrink from change to change keep all fades active."""
    blend, now, last, most = BumplessTransfer(), 0.0, np.zeros(1), 0
    for k in range(2 * MOST_FADES):
        wanted = np.array([float(k % 7)])
        duration = 100.0 * 0.93**k
        blend.begin(duration)
        fades, values = list(blend._fades), [fade._value for fade in blend._fades]
        np.testing.assert_allclose(blend.apply(wanted, last, now), last, atol=1e-9)
        most = max(most, len(blend._fades))
        if len(fades) == MOST_FADES:
            changed = [fade for fade, x in zip(fades, values, strict=True) if fade._value is not x]
            left = [fade.share_left(now) for fade in fades]
            assert changed == [fades[int(np.argmax(left))]]
        np.testing.assert_allclose(blend.apply(wanted, last, now), last, atol=1e-9)
        now += 1.01 * duration / STEPS
        last = blend.apply(wanted, last, now)
    assert most == MOST_FADES == 64
    np.testing.assert_allclose(blend.apply(wanted, last, 101.0), wanted, atol=1e-9)


def test_a_change_soon_after_another_one_shares_its_fade():
    """Two changes within a sixteenth of the duration end together.

    A later change has its own fade.
    """
    for passed, fades in ((1.0, 1), (1.0625, 2)):
        blend = BumplessTransfer()
        blend.add(np.ones(1), 0.0, 16.0)
        blend.add(np.ones(1), passed, 16.0)
        assert len(blend._fades) == fades
        np.testing.assert_allclose(
            blend.apply(np.zeros(1), np.zeros(1), passed), 1.0 + 1.0 - passed / 16.0
        )
    assert not Fade(np.ones(1), 0.0, 1.0).absorb(np.ones(1), 0.5)


def test_an_offset_with_zero_duration_vanishes_at_once():
    blend = BumplessTransfer()
    blend.add(np.ones(1), 0.0, 0.0)
    assert not blend.active and not blend._fades


def test_the_longer_duration_of_two_pending_changes_counts():
    blend = BumplessTransfer()
    for duration, pending in ((0.25, 0.25), (0.125, 0.25), (0.5, 0.5)):
        blend.begin(duration)
        assert blend.pending == Transfer(pending) and blend.active

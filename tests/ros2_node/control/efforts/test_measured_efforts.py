"""Measured efforts by joint, and the time between two states."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, Q, panda_settings

from ros2_node.control.efforts.measured_efforts import EFFORT_BOUND, LONGEST, Efforts
from ros2_node.control.states.joint_states import JointStates
from ros2_node.control.states.state import State

MS = 1_000_000


@pytest.fixture
def both():
    counts = Counter()
    row = State.of_robots(MODEL, 1).row(0)
    settings = panda_settings(effort_source="message")
    states = JointStates(MODEL, settings, row, counts)
    return states, Efforts(MODEL.nv, states, counts), counts


def test_efforts_are_assigned_by_joint_name(both):
    states, efforts, _ = both
    states.read(NAMES[::-1], Q[::-1], [0.0] * N, 1, 0.0)
    efforts.read(np.arange(N))
    np.testing.assert_array_equal(efforts.tau, np.arange(N)[::-1])
    assert efforts.known.all()


def test_a_nan_effort_or_wrong_length_is_unknown(both):
    """NaN makes one joint unknown, a wrong length the whole message."""
    states, efforts, counts = both
    states.read(NAMES, Q, [0.0] * N, 1, 0.0)
    efforts.read(np.ones(N))
    efforts.read([*[1.0] * (N - 1), np.nan])
    assert counts["effort_nonfinite"] == 1
    assert list(np.flatnonzero(~efforts.known)) == [N - 1] and efforts.tau[-1] == 0.0
    efforts.read(())
    assert counts["effort_missing"] == 1 and not efforts.known.any()
    efforts.read(np.ones(N))
    efforts.read([1.0])
    assert counts["effort_wrong_length"] == 1 and not efforts.known.any()


def test_an_absurdly_large_effort_is_unknown(both):
    """It is finite, but the observer would keep it for ever."""
    states, efforts, counts = both
    states.read(NAMES, Q, [0.0] * N, 1, 0.0)
    efforts.read([*[1.0] * (N - 2), EFFORT_BOUND, -1.01 * EFFORT_BOUND])
    assert list(np.flatnonzero(~efforts.known)) == [N - 1] and efforts.tau[-1] == 0.0
    assert counts["effort_nonfinite"] == 1


def test_a_gripper_without_efforts_does_not_affect_the_arm(both):
    """One of the two publishers sends no efforts."""
    states, efforts, _ = both
    states.read(NAMES[:7], Q[:7], [0.0] * 7, 1, 0.0)
    efforts.read(np.ones(7))
    states.read(NAMES[7:], Q[7:], [0.0], 2, 0.0)
    efforts.read(())
    assert efforts.known[:7].all() and not efforts.known[7]


def test_commands_replace_efforts_while_they_are_sent(both):
    """The efforts are unknown without a command."""
    _, efforts, _ = both
    columns = np.arange(7)
    efforts.command(columns, np.ones(7))
    assert efforts.known.sum() == 7 and efforts.tau[0] == 1.0
    efforts.command(columns, None)
    assert not efforts.known.any()


def test_time_between_states_follows_stamps_or_arrivals(both):
    """Stamps count if there are any. A pause, a jump back and the first state give zero. The same
    stamp gives None."""
    _, efforts, counts = both
    assert efforts.time_since_last(5 * MS, 10.0) == 0.0 and not counts
    assert efforts.time_since_last(6 * MS, 99.0) == pytest.approx(1e-3)
    assert efforts.time_since_last(6 * MS, 99.1) is None
    assert efforts.time_since_last(4 * MS, 99.2) == 0.0 and counts["effort_time_jump"] == 1
    late = 4 * MS + round(2e9 * LONGEST)
    assert efforts.time_since_last(late, 99.3) == 0.0 and counts["effort_gap"] == 1
    assert efforts.time_since_last(0, 99.31) == pytest.approx(0.01)
    assert efforts.time_since_last(0, 99.33) == pytest.approx(0.02)
    efforts.forget()
    assert efforts.time_since_last(7 * MS, 99.34) == 0.0 and counts["effort_gap"] == 1


def test_older_stamps_of_another_publisher_are_no_jump(both):
    """A gripper state that was measured before the arm's and arrives after it gives None.

    If the arm's own stamps go back, that is a jump, and so is a gripper state a tenth of a second
    behind.
    """
    states, efforts, counts = both
    arm, gripper = (NAMES[:7], Q[:7], [0.0] * 7), (NAMES[7:], Q[7:], [0.0])

    def read_message(message, stamp):
        states.read(*message, stamp, 0.0)
        return efforts.time_since_last(stamp, 0.0)

    assert read_message(arm, 1000 * MS) == 0.0
    assert read_message(gripper, 998 * MS) is None
    assert read_message(arm, 1001 * MS) == pytest.approx(1e-3) and not counts["effort_time_jump"]
    assert read_message(arm, 999 * MS) == 0.0 and counts["effort_time_jump"] == 1
    assert read_message(gripper, 800 * MS) == 0.0 and counts["effort_time_jump"] == 2


def test_a_pause_of_more_than_a_tenth_of_a_second_is_a_gap(both):
    """This holds for stamps and for arrivals. Gaps are counted; the first state is none."""
    _, efforts, counts = both
    for stamp, now, dt in ((1000, 0.0, 0.0), (1100, 0.0, 0.1), (1201, 0.0, 0.0)):
        assert efforts.time_since_last(stamp * MS, now) == dt
    assert counts == {"effort_gap": 1}
    for now, dt in ((0.5, 0.0), (0.59375, 0.09375), (0.75, 0.0)):
        assert efforts.time_since_last(0, now) == dt
    assert counts == {"effort_gap": 3}


def test_stamps_of_another_publisher_may_be_0_1_s_behind(both):
    states, efforts, counts = both
    for behind, answer in ((99, None), (100, 0.0)):
        efforts.forget()
        states.read(NAMES[:7], Q[:7], [0.0] * 7, 1000 * MS, 0.0)
        assert efforts.time_since_last(1000 * MS, 0.0) == 0.0
        states.read(NAMES[7:], Q[7:], [0.0], (1000 - behind) * MS, 0.0)
        assert efforts.time_since_last((1000 - behind) * MS, 0.0) == answer
    assert counts["effort_time_jump"] == 1


def test_a_message_with_only_nan_efforts_is_not_counted(both):
    """A driver without efforts may fill its array with NaN. A message with some numbers lacks the
    others."""
    states, efforts, counts = both
    states.read(NAMES, Q, [0.0] * N, 1, 0.0)
    efforts.read(np.full(N, np.nan))
    assert not counts and not efforts.known.any()
    states.read([*NAMES, "tool"], [*Q, 0.0], [0.0] * (N + 1), 2, 0.0)
    efforts.read([*np.full(N, np.nan), 1.0])
    assert counts["effort_nonfinite"] == 1


def test_a_stamp_of_one_nanosecond_is_valid(both):
    """Only zero means that there is no stamp."""
    _, efforts, _ = both
    assert efforts.time_since_last(1, 10.0) == 0.0
    assert efforts.time_since_last(5 * MS + 1, 99.0) == 0.005
    efforts.forget()
    efforts.time_since_last(2, 10.0)
    assert efforts.time_since_last(1, 10.0625) == 0.0, "it has gone back"

"""Efforts of messages by joint, and the time between two states."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, Q, panda_settings

from ros2_node.control.efforts import LONGEST, Efforts
from ros2_node.control.joint_states import JointStates
from ros2_node.control.state import State

MS = 1_000_000


@pytest.fixture
def both():
    counts = Counter()
    row = State.of_robots(MODEL, 1).row(0)
    settings = panda_settings(effort_source="message")
    states = JointStates(MODEL, settings, row, counts)
    return states, Efforts(MODEL.nv, states, counts), counts


def test_joints_are_found_by_name_whatever_their_order(both):
    states, efforts, _ = both
    states.read(NAMES[::-1], Q[::-1], [0.0] * N, 1, 0.0)
    assert efforts.read(np.arange(N)), "they were not known before"
    np.testing.assert_array_equal(efforts.tau, np.arange(N)[::-1])
    assert efforts.known.all() and not efforts.read(np.arange(N))


def test_what_is_no_number_is_unknown(both):
    """One joint, or a whole message; the change is told, for the observer begins anew then."""
    states, efforts, counts = both
    states.read(NAMES, Q, [0.0] * N, 1, 0.0)
    efforts.read(np.ones(N))
    assert efforts.read([*[1.0] * (N - 1), np.nan]) and counts["effort_nonfinite"] == 1
    assert list(np.flatnonzero(~efforts.known)) == [N - 1] and efforts.tau[-1] == 0.0
    assert efforts.read(()) and counts["effort_missing"] == 1 and not efforts.known.any()
    assert not efforts.read([1.0]) and counts["effort_wrong_length"] == 1


def test_a_gripper_without_effort_does_not_blind_the_arm(both):
    """Two publishers, of which one has none."""
    states, efforts, _ = both
    states.read(NAMES[:7], Q[:7], [0.0] * 7, 1, 0.0)
    efforts.read(np.ones(7))
    states.read(NAMES[7:], Q[7:], [0.0], 2, 0.0)
    assert not efforts.read(()) and efforts.known[:7].all() and not efforts.known[7]


def test_commands_take_the_place_of_efforts(both):
    """While some are sent."""
    _, efforts, _ = both
    columns = np.arange(7)
    assert efforts.command(columns, np.ones(7)) and efforts.known.sum() == 7
    assert not efforts.command(columns, 2 * np.ones(7)) and efforts.tau[0] == 2.0
    assert efforts.command(columns, None) and not efforts.known.any()


def test_time_by_stamps_and_by_arrivals(both):
    """Stamps count where there are any; a pause, a jump back and the first state are a beginning; the
    same stamp is no time at all."""
    _, efforts, counts = both
    assert efforts.passed(5 * MS, 10.0) == 0.0 and not counts
    assert efforts.passed(6 * MS, 99.0) == pytest.approx(1e-3)
    assert efforts.passed(6 * MS, 99.1) is None
    assert efforts.passed(4 * MS, 99.2) == 0.0 and counts["effort_time_jump"] == 1
    late = 4 * MS + round(2e9 * LONGEST)
    assert efforts.passed(late, 99.3) == 0.0 and counts["effort_gap"] == 1
    assert efforts.passed(0, 99.31) == pytest.approx(0.01)
    assert efforts.passed(0, 99.33) == pytest.approx(0.02)
    efforts.forget()
    assert efforts.passed(7 * MS, 99.34) == 0.0 and counts["effort_gap"] == 1

"""The external wrench, which is compensated while it is fresh."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, panda_settings

from ros2_node.control.states.external_wrench import ExternalWrench
from ros2_node.control.states.state import State

HAND = MODEL.link_index("panda_hand")


@pytest.fixture
def state():
    return State.of_robots(MODEL, 2).row(1)


@pytest.fixture
def wrench(state):
    return ExternalWrench(MODEL, state, panda_settings(frame_prefix="left/"), Counter())


def test_the_wrench_is_only_in_the_row_of_its_link(wrench, state):
    """The link is named with or without the frame prefix. A wrench on another link replaces it."""
    for name, link in (("panda_hand", HAND), ("left/panda_link3", MODEL.link_index("panda_link3"))):
        assert wrench.read(name, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0.0) is None
        np.testing.assert_array_equal(state.wrench[link], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        assert np.flatnonzero(state.wrench.any(axis=1)).tolist() == [link]


def test_an_expired_wrench_is_removed(wrench, state):
    wrench.read("panda_hand", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
    wrench.refresh(1.1, 0.2)
    assert state.wrench.any() and wrench.active
    wrench.refresh(1.3, 0.2)
    assert not state.wrench.any() and not wrench.active


def test_a_bad_wrench_is_counted_and_leaves_the_previous_one(wrench, state):
    wrench.read("panda_hand", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)
    before = state.wrench.copy()
    assert wrench.read("nose", (0, 0, 0), (0, 0, 0), 0.0) == "wrench_unknown_link"
    for bad in (np.nan, np.inf, 1e5):
        assert wrench.read("panda_hand", (0, 0, bad), (0, 0, 0), 0.0) == "wrench_nonfinite"
    np.testing.assert_array_equal(state.wrench, before)
    assert wrench._counts == {"wrench_unknown_link": 1, "wrench_nonfinite": 3}


def test_refresh_reports_that_a_wrench_came_or_expired(wrench):
    """It reports nothing while the wrench is refreshed on its link. One as old as the timeout still
    acts."""

    def read(link, now):
        assert wrench.read(link, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), now) is None

    assert not wrench.refresh(0.0, 0.25) and not wrench.active
    read("panda_hand", 1.0)
    assert wrench.active and wrench.refresh(1.0, 0.25) and not wrench.refresh(1.0, 0.25)
    read("panda_hand", 1.5)
    assert not wrench.refresh(1.75, 0.25) and wrench.active
    read("panda_link3", 1.75)
    assert wrench.refresh(1.75, 0.25) and wrench.refresh(2.125, 0.25)
    assert not wrench.active and not wrench.refresh(2.125, 0.25)


def test_ten_thousand_is_the_largest_wrench(wrench, state):
    for size, reason in ((1e4, None), (-1e4, None), (1.0001e4, "wrench_nonfinite")):
        assert wrench.read("panda_hand", (0.0, 0.0, 0.0), (0.0, size, 0.0), 0.0) == reason
    assert state.wrench[HAND, 4] == -1e4


def test_clear_without_a_wrench_changes_no_row(wrench, state):
    """Rows of others stay as they are."""
    state.wrench[HAND, 1] = 7.0
    wrench.clear()
    assert state.wrench[HAND, 1] == 7.0

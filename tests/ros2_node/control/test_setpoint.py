"""The point of ~/reference: what is used, what is refused, what stays."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.setpoint import Setpoint


@pytest.fixture
def setpoint():
    return Setpoint(MODEL, NAMES, Counter())


@given(st.permutations(range(N)), st.integers(1, N))
def test_each_number_reaches_the_row_of_its_joint(order, number):
    """In any order, of any of the joints; the others keep their positions and get no velocity
    and no acceleration."""
    setpoint = Setpoint(MODEL, NAMES, Counter())
    before, chosen = setpoint.q.copy(), list(order[:number])
    x = np.arange(1.0, number + 1.0)
    assert setpoint.read([NAMES[i] for i in chosen], (x, 2 * x, 3 * x), 1.0) is None
    rest = [i for i in range(N) if i not in chosen]
    for row, value in ((setpoint.q, x), (setpoint.v, 2 * x), (setpoint.a, 3 * x)):
        np.testing.assert_array_equal(row[chosen], value)
    np.testing.assert_array_equal(setpoint.q[rest], before[rest])
    assert not setpoint.v[rest].any() and not setpoint.a[rest].any()
    assert setpoint.arrived == 1.0


@pytest.mark.parametrize(
    "names, point, reason",
    [
        ([], ((), (), ()), "reference_wrong_length"),
        (NAMES, ((0.0,), (), ()), "reference_wrong_length"),
        ([NAMES[0]] * 2, ((0.0, 0.0), (), ()), "reference_duplicate_name"),
        (["nose"], ((0.0,), (), ()), "reference_unknown_joint"),
        ([NAMES[0]], ((np.nan,), (), ()), "reference_nonfinite"),
        ([NAMES[0]], ((), (), (np.inf,)), "reference_nonfinite"),
    ],
)
def test_a_bad_reference_is_refused_and_counted(setpoint, names, point, reason):
    before = setpoint.q.copy()
    assert setpoint.read(names, point, 0.0) == reason
    assert setpoint._counts == {reason: 1} and not setpoint.placed
    np.testing.assert_array_equal(setpoint.q, before)


def test_there_is_a_position_to_track_once_one_was_said(setpoint):
    """Accelerations alone place nothing; a position does, and so does `stay`."""
    setpoint.read(NAMES[:1], ((), (), (1.0,)), 0.0)
    assert not setpoint.placed
    setpoint.read(NAMES[:1], ((0.5,), (), ()), 0.0)
    assert setpoint.placed
    other = Setpoint(MODEL, NAMES, Counter())
    other.stay(np.full(N, 0.3))
    assert other.placed and (other.q == 0.3).all() and other.arrived == -np.inf


def test_rest_keeps_the_position_only(setpoint):
    setpoint.read(NAMES, (np.ones(N), np.ones(N), np.ones(N)), 0.0)
    setpoint.rest()
    assert (setpoint.q == 1.0).all() and not setpoint.v.any() and not setpoint.a.any()

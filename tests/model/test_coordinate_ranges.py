"""Ranges of q: every column is covered once, limits are the model's, and missing limits have
defaults."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import Robot, by_name

from warpdyn.model.builder import ModelBuilder
from warpdyn.model.coordinate_ranges import (
    Range,
    continue_angles,
    coordinate_ranges,
    orientation_columns,
)

LIMIT = st.floats(-1e3, 1e3)


def test_every_column_belongs_to_a_range_or_a_quaternion(robot: Robot) -> None:
    """Each column occurs once, in order. Limits are those of the model, which has none for
    quaternions."""
    model = robot.model
    ranges, turns = list(coordinate_ranges(model)), orientation_columns(model)
    columns = [each.column for each in ranges]
    turned = [c for _, turn in turns for c in range(turn.start, turn.stop)]
    assert columns == sorted(columns) and sorted([*columns, *turned]) == list(range(model.nq))
    assert [each.lower for each in ranges] == model.position_lower[columns].tolist()
    assert [each.upper for each in ranges] == model.position_upper[columns].tolist()
    assert np.isinf(model.position_lower[turned]).all()


def test_positions_of_a_free_joint_have_axes() -> None:
    """x, y and z of a free base have axes. A ball joint has no positions."""
    model = by_name("balls_wxyz").model
    assert [each.axis for each in coordinate_ranges(model)][:3] == [0, 1, 2]
    place, turn = orientation_columns(model)[0]
    assert (place, turn) == (slice(0, 3), slice(3, 7))
    place, turn = orientation_columns(model)[1]
    assert place.start == place.stop == turn.start and turn.stop == turn.start + 4


@given(LIMIT, LIMIT, LIMIT, st.floats(0, 10), st.booleans(), st.booleans())
def test_missing_limits_get_default_values(
    lower: float, size: float, low: float, width: float, below: bool, above: bool
) -> None:
    """A limit of the model is kept. The other end is `low` or `high`, and the default range is
    shifted if the limit is outside it."""
    upper, high = lower + abs(size), low + width
    each = Range(0, True, lower if below else -math.inf, upper if above else math.inf)
    least, most = each.within(low, high)
    assert least <= most or (below and above)
    assert (least == lower) if below else True
    assert (most == upper) if above else True
    if not below and not above:
        assert (least, most) == (low, high)
    assert each.has_limits == (below and above)


@given(LIMIT, LIMIT, LIMIT)
def test_the_middle_is_within_the_limits(lower: float, upper: float, neutral: float) -> None:
    """It is half way between both limits. With one limit it is the point nearest to neutral."""
    assume(lower <= upper)
    assert lower <= Range(0, True, lower, upper).middle(neutral) <= upper
    assert Range(0, True, lower, math.inf).middle(neutral) == max(lower, neutral)
    assert Range(0, True, -math.inf, math.inf).middle(neutral) == neutral


@pytest.mark.parametrize(("angle", "reach"), [(True, math.pi), (False, 1.0)])
def test_reach_is_half_a_turn_or_a_metre(angle: bool, reach: float) -> None:
    """This is the reach of a coordinate without limits."""
    assert Range(0, angle, -math.inf, math.inf).reach == reach


@pytest.mark.parametrize(
    ("lower", "upper", "within", "middle"),
    [
        (-3.0, 5.0, (-3.0, 5.0), 1.0),
        (-math.inf, math.inf, (-1.0, 2.0), 0.5),
        (0.0, math.inf, (0.0, 2.0), 0.5),
        (0.75, math.inf, (0.75, 2.0), 0.75),
        (2.0, math.inf, (2.0, 5.0), 2.0),
        (4.0, math.inf, (4.0, 7.0), 4.0),
        (-math.inf, 1.0, (-1.0, 1.0), 0.5),
        (-math.inf, -1.0, (-4.0, -1.0), -1.0),
        (-math.inf, -2.0, (-5.0, -2.0), -2.0),
    ],
)
def test_limits_restrict_or_shift_the_default_range(
    lower: float, upper: float, within: tuple[float, float], middle: float
) -> None:
    """A limit at or beyond an end shifts the range as a whole."""
    each = Range(0, False, lower, upper)
    assert each.within(-1.0, 2.0) == within and each.middle(0.5) == middle
    assert each.has_limits == math.isfinite(upper - lower)
    assert each.reach == 1.0 and Range(0, True, lower, upper).reach == math.pi


def test_angles_without_limits_wrap_around() -> None:
    """They wrap from -pi to pi and from 0 to 2 pi. Lengths, angles with a limit, and ranges of more
    than a turn do not."""
    builder = ModelBuilder("arms").add_link("base")
    for name, kind, limits in (
        ("wheel", "continuous", {}),
        ("hinge", "revolute", {}),
        ("limited", "revolute", {"upper": 9.0}),
        ("slide", "prismatic", {}),
        ("whole", "continuous", {}),
    ):
        builder.add_link(name, mass=1.0).add_joint(f"{name}_joint", kind, "base", name, **limits)
    angles = np.linspace(3.0, 15.0, 61)
    wrapped = (angles + np.pi) % (2.0 * np.pi) - np.pi
    whole = 4.0 * np.arange(61.0)
    q = np.stack([wrapped, angles % (2.0 * np.pi), wrapped, wrapped, whole], 1)
    model, given_q = builder.build(), q.copy()
    found = continue_angles(model, q)
    np.testing.assert_allclose(found[:, :2], np.stack([angles, angles], 1), atol=1e-12)
    assert np.array_equal(found[:, 2:], q[:, 2:]) and np.array_equal(q, given_q)
    single = q.astype(np.float32)
    assert continue_angles(model, single).dtype == np.float64
    assert continue_angles(model, single[:1]).dtype == np.float32

"""Contacts of feet: a sequence of steps, and single values."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("warpdyn.rl")
from warpdyn.rl import terms

FORCES = np.array([[0.0, 0.0, 50.0], [30.0, 0.0, 2.0], [0.0, 0.0, 0.5]])
VELOCITIES = np.array([[0.3, 0.4, 0.0], [1.0, 0.0, -2.0], [0.0, 0.0, 1.0]])


def test_touching_compares_the_vertical_force_with_a_threshold() -> None:
    assert terms.touching(FORCES).tolist() == [1.0, 1.0, 0.0]
    assert terms.touching(FORCES, 10.0).tolist() == [1.0, 0.0, 0.0]
    assert terms.touching(FORCES, 2.0).tolist() == [1.0, 0.0, 0.0]  # more than the threshold


def test_times_in_the_air_and_on_the_ground_are_counted() -> None:
    """One point is in the air for three steps of 0.1 s, then on the ground."""
    air, ground, landed = np.zeros(1), np.zeros(1), []
    for touch in ([0.0], [0.0], [0.0], [1.0], [1.0]):
        landed.append(terms.landing_reward(air, np.array(touch), 0.2))
        air = terms.air_times(air, np.array(touch), 0.1)
        ground = terms.contact_times(ground, np.array(touch), 0.1)
    assert landed == [0.0, 0.0, 0.0, pytest.approx(0.1), 0.0]
    assert air.tolist() == [0.0] and ground.tolist() == pytest.approx([0.2])
    assert terms.landing_reward(np.array([9.0]), np.ones(1), 0.2) == 0.5


def test_slip_and_landing_speed_use_the_velocities_of_feet() -> None:
    touch = terms.touching(FORCES)
    assert terms.slip(VELOCITIES, touch) == pytest.approx(0.25 + 1.0)
    assert terms.landing_speed(VELOCITIES, touch, np.array([1.0, 0.0, 0.0])) == 4.0
    assert terms.landing_speed(VELOCITIES, touch, touch) == 0.0
    heights = np.array([0.0, 0.1, 0.3])
    found = terms.foot_clearance(heights, VELOCITIES, 0.1)
    assert found == pytest.approx(0.01 * 0.5, abs=1e-6)


def test_stumbles_and_excess_forces_are_measured() -> None:
    assert terms.stumble(FORCES) == 1.0 and terms.stumble(FORCES, 20.0) == 0.0
    sideways = np.array([[0.0, -30.0, -2.0], [3.0, 4.0, 1.3], [3.0, 4.0, 1.2], [0.0, 0.0, 0.0]])
    assert terms.stumble(sideways) == 2.0
    assert terms.force_excess(FORCES, 40.0) == pytest.approx(10.0)


def test_the_contact_history_remembers_recent_steps() -> None:
    past = np.zeros((3, 2))
    for touch in ([1.0, 0.0], [0.0, 0.0], [0.0, 0.0]):
        past = terms.shift_history(past, np.array(touch))
    assert past.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert terms.touched_lately(past).tolist() == [1.0, 0.0]
    assert terms.touched_lately(terms.shift_history(past, np.zeros(2))).tolist() == [0.0, 0.0]
    assert terms.touched_lately(terms.shift_history(past, np.array([0.0, 1.0]))).tolist() == [0, 1]


def test_feet_that_are_too_near_have_a_cost() -> None:
    places = np.array([[0.0, 0.0], [0.3, 0.4], [5.0, 0.0]])
    assert terms.feet_too_near(places, 0.6) == pytest.approx(0.1)
    assert terms.feet_too_near(places + 7.0, 0.6) == pytest.approx(0.1)


def test_points_without_force_speed_or_distance_have_finite_terms() -> None:
    """Their roots have finite derivatives, too."""
    none = np.zeros((2, 3))
    with np.errstate(invalid="raise"):
        assert terms.stumble(none) == terms.force_excess(none, 1.0) == 0.0
        assert terms.foot_clearance(np.ones(2), none, 0.0) == pytest.approx(0.0, abs=1e-5)
        assert terms.feet_too_near(none, 0.5) == pytest.approx(0.5, abs=1e-5)

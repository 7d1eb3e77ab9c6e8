"""Coefficients of torsional and rolling friction: contacts with moments, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.moment_numbers import moment_arrays, moment_counts

QUADRUPED = wd.load_robot("quadruped")
FEET = wd.ContactPoints(QUADRUPED).only("*_foot")


@pytest.mark.parametrize(
    ("torsional", "rolling", "counts"),
    [
        (None, None, ()),
        (0, 0.0, ()),
        ((0.0, 0.0), None, ()),
        (0.1, None, (1, 1)),
        (None, 0.1, (3, 3)),
        ((0.0, 0.1), 0.0, (0, 1)),
        ([0.2, 0.0], (0.0, 0.1), (1, 3)),
        (np.zeros(2), None, (1, 1)),
        (0.1, np.zeros((4, 2)), (3, 3)),
    ],
)
def test_contacts_with_coefficients_have_friction_moments(
    torsional: Any, rolling: Any, counts: tuple[int, ...]
) -> None:
    """Zero means no moment. An array may change at each launch, so its contacts have moments."""
    assert moment_counts(torsional, rolling, 2) == counts
    arrays = moment_arrays("pair_", torsional, rolling, 2)
    names = ["pair_torsional_friction"] * bool(counts) + ["pair_rolling_friction"] * (3 in counts)
    assert list(arrays) == names and all(shape == (2,) for _, shape in arrays.values())


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        (-0.1, "torsional_friction must be at least 0, got -0.1"),
        ((0.1, -0.1), "torsional_friction must be at least 0"),
        ((0.1, 0.1, 0.1), "has 3 numbers, and there are 2 contacts"),
        (np.array([0.1, np.nan]), "torsional_friction must be at least 0"),
        (np.inf, "torsional_friction must be finite, got inf"),
        ({"foot": 0.1}, "must be a number or an array, got a mapping"),
        ("0.1", "must be a number or an array, got a string"),
        ([[0.1], [0.1]], r"must be a number or an array of 2 numbers, got \[\[0.1\], \[0.1\]\]"),
        (["0.1", 0.1], "must be a number or an array of 2 numbers"),
    ],
)
def test_invalid_coefficients_are_refused(numbers: Any, error: str) -> None:
    with pytest.raises((ValueError, TypeError), match=error):
        moment_arrays("", numbers, None, 2)


def test_impulses_have_six_entries_only_with_moments() -> None:
    """The width holds for a step and for a simulation. An array of the other width is refused."""
    q = np.tile(QUADRUPED.configurations["home"], (2, 1))
    v = np.zeros((2, QUADRUPED.nv))
    grounds = {3: wd.Ground(), 6: wd.Ground(torsional_friction=(0.0, 0.0, 0.0, 0.01))}
    for width, ground in grounds.items():
        after = wd.step(QUADRUPED, q, v, v, points=FEET, ground=ground)
        assert after.impulses.shape == (2, 4, width) and after.forces.shape == (2, 4, 3)
        sim = wd.Simulation(QUADRUPED, 2, points=FEET, ground=ground)
        sim.step()
        assert sim.impulses.shape == (2, 4, width)
        sim.restore(sim.state())
    with pytest.raises(ValueError, match=r"impulses"):
        wd.step(QUADRUPED, q, v, v, points=FEET, ground=grounds[6], impulses=np.zeros((2, 4, 3)))


def test_points_with_a_coefficient_of_zero_have_no_moment() -> None:
    """Other points of the tuple have moments."""
    ground = wd.Ground(torsional_friction=(0.0, 0.02, 0.0, 0.02))
    sim = wd.Simulation(QUADRUPED, 1, points=FEET, ground=ground, control=wd.PD(60.0, 2.0))
    sim.v[:, 5] = 3.0
    sim.step()
    assert not sim.impulses[0, ::2, 3:].any()
    normal = sim.impulses[0, 1::2, 2]
    assert (abs(sim.impulses[0, 1::2, 5]) <= 0.02 * normal * (1 + 1e-5)).all()

"""Distances of every pair of shapes, compared with coal and Qhull."""

from __future__ import annotations

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algorithms.collision.contact import ShapeAt
from warpdyn.algorithms.collision.distance import distance
from warpdyn.algorithms.collision.narrow_phase import NARROW_PHASES, contacts

ERROR = 1e-6
"""Largest error of a distance of shapes of 0.1 m in float64 [m]."""


def scenes(pair: tuple[str, str], count: int) -> list[tuple[ShapeAt, ShapeAt]]:
    draw = np.random.default_rng([7, *map(ord, "".join(pair))])
    return [(at.random_shape(pair[0], draw), at.random_shape(pair[1], draw)) for _ in range(count)]


@pytest.mark.parametrize("pair", list(NARROW_PHASES), ids="-".join)
def test_the_distance_is_that_of_coal_and_qhull(pair: tuple[str, str]) -> None:
    """Apart and overlapping, in both orders. Deeply overlapping meshes may have a longer way out."""
    hulls = "mesh" in pair and "plane" not in pair
    for a, b in scenes(pair, 20 if hulls else 200):
        wanted = at.distance(a, b)
        if hulls and wanted < -0.01:
            assert distance(a, b) <= wanted + ERROR
        else:
            assert distance(a, b) == pytest.approx(wanted, abs=ERROR)
            assert distance(b, a) == pytest.approx(wanted, abs=ERROR)


def test_boxes_that_are_apart_have_their_distance_and_not_the_gap_of_a_contact() -> None:
    """Two corners face each other: the gap is along an axis of a box, the distance along the diagonal."""
    a = at.shape("box", (0.1, 0.2, 0.3))
    b = at.shape("box", (0.1, 0.1, 0.1), (0.5, 0.6, 0.7))
    assert distance(a, b) == pytest.approx(0.3 * np.sqrt(3), abs=1e-12)
    assert at.gaps(contacts(a, b)).min() == pytest.approx(0.3)


def test_a_box_within_a_box_has_the_shortest_way_out() -> None:
    a, b = at.shape("box", (0.3, 0.4, 0.5)), at.shape("box", (0.1, 0.1, 0.1), (0.1, 0.0, 0.0))
    assert distance(a, b) == pytest.approx(-0.3, abs=1e-12)

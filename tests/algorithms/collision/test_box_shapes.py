"""A box with a sphere and with a plane: inside, on faces, at corners."""

from __future__ import annotations

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algebra.rotations import Vector
from warpdyn.algorithms.collision.box_shapes import beyond_box, distance_from_box
from warpdyn.algorithms.collision.narrow_phase import contacts

HALF = (0.1, 0.2, 0.3)

PLANE = at.shape("plane", ())


def test_outside_a_box_the_distance_is_to_the_nearest_point() -> None:
    distance, n = distance_from_box(Vector(0.4, 0.6, 0.1), HALF)
    assert distance == pytest.approx(0.5) and [*n] == pytest.approx([0.6, 0.8, 0.0])
    square, distance, _ = beyond_box(Vector(0.4, 0.6, 0.1), HALF)
    assert (square, distance) == pytest.approx((0.25, 0.5))
    assert beyond_box(Vector(0.05, 0.1, -0.2), HALF)[0] == 0.0


def test_inside_a_box_the_depth_is_to_the_nearest_face() -> None:
    """The normal is that of the nearest face. Of equally near faces it is the first, also at the
    centre.
    """
    for x, depth, n in (
        ((0.09, 0.0, 0.0), 0.01, (1, 0, 0)),
        ((0.0, -0.19, 0.0), 0.01, (0, -1, 0)),
        ((0.0, 0.0, 0.29), 0.01, (0, 0, 1)),
        ((0.0, 0.0, 0.0), 0.1, (1, 0, 0)),
    ):
        distance, found = distance_from_box(Vector(*x), HALF)
        assert distance == pytest.approx(-depth) and tuple(found) == n


def test_the_distance_is_continuous_through_the_surface() -> None:
    """The distance does not jump along lines through faces, edges and corners."""
    for way in ((1, 0, 0), (1, 2, 0), (1, 2, 3), (0.2, 1, 0.1)):
        line = np.linspace(0.9, 1.1, 2001)[:, None] * np.array(way) * 0.1
        found = np.array([distance_from_box(Vector(*x), HALF)[0] for x in line.tolist()])
        assert np.abs(np.diff(found)).max() < 1e-4 * np.linalg.norm(way) * 0.2


def test_a_box_has_four_contacts_with_a_plane() -> None:
    """The contacts are at the corners of the lowest face. One of them is the lowest of all eight
    corners.
    """
    draw = np.random.default_rng(0)
    for _ in range(50):
        box = at.random_shape("box", draw)
        found = contacts(PLANE, box)
        corners = at.corners_of(box)
        assert at.gaps(found).min() == pytest.approx(corners[:, 2].min())
        for c in found:
            corner = at.array(c.position + c.normal * (0.5 * c.gap))  # type: ignore[operator]
            assert np.abs(corners - corner).sum(1).min() < 1e-12
            assert [*c.normal] == [0.0, 0.0, 1.0]
        assert len({tuple(np.round(at.array(c.position), 9)) for c in found}) == 4


def test_contacts_of_corners_keep_their_order() -> None:
    """Whichever corner of the lowest face is the lowest."""
    flat = at.shape("box", (0.1, 0.1, 0.1), (0.0, 0.0, 0.1))
    tilts = [at.rotation_of((0.01 * x, 0.01 * y, 0.0)) for x, y in ((1, 2), (-2, 1), (-1, -2))]
    wanted = [c.feature for c in contacts(PLANE, flat)]
    assert len(set(wanted)) == 4
    for R in tilts:
        found = contacts(PLANE, at.shape("box", (0.1, 0.1, 0.1), (0.0, 0.0, 0.1), R))
        assert [c.feature for c in found] == wanted
        for c, before in zip(found, contacts(PLANE, flat), strict=True):
            assert np.abs(at.array(c.position) - at.array(before.position)).max() < 0.01

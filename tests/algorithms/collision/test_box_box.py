"""Boxes that lie on each other, cross with edges, and touch with corners."""

from __future__ import annotations

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algorithms.collision.box_box import face_separation
from warpdyn.algorithms.collision.contact import FAR
from warpdyn.algorithms.collision.narrow_phase import contacts

CUBE = at.shape("box", (0.1, 0.1, 0.1))

TIE = 1.1e-6
"""Error of the depth of boxes that lie almost flat: edges that are nearly parallel are left out [m]."""


def above(height: float, angles: tuple[float, float, float], half: float = 0.1) -> at.ShapeAt:
    return at.shape("box", (half,) * 3, (0.0, 0.0, height), at.rotation_of(angles))


def positions(found: list) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([at.array(c.position) for c in found])


def test_a_cube_on_a_cube_touches_at_four_corners() -> None:
    found = contacts(CUBE, above(0.199, (0.0, 0.0, 0.0)))
    assert at.gaps(found) == pytest.approx(-0.001)
    assert np.abs(positions(found)[:, :2]) == pytest.approx(0.1)
    assert len(np.unique(np.round(positions(found), 6), axis=0)) == 4
    for c in found:
        assert [*c.normal] == pytest.approx([0.0, 0.0, 1.0])


def test_contacts_keep_their_positions_in_small_motions() -> None:
    """Rotated, tilted and shifted a little, each contact keeps its position and its feature."""
    for turn in (0.0, 0.5, 0.78):
        before = contacts(CUBE, above(0.199, (0.0, 0.0, turn)))
        draw = np.random.default_rng(0)
        for _ in range(10):
            x, y, z = (1e-6 * draw.normal(size=3)).tolist()
            found = contacts(CUBE, above(0.199, (x, y, turn + z)))
            assert np.abs(positions(found) - positions(before)).max() < 1e-4
            assert [c.feature for c in found] == [c.feature for c in before]


def test_a_small_box_touches_with_its_own_corners() -> None:
    small = above(0.119, (0.0, 0.0, 0.5), 0.02)
    found = contacts(CUBE, small)
    corners = at.corners_of(small)
    for x in positions(found):
        assert np.abs(corners[:, :2] - x[:2]).max(1).min() < 1e-12


def test_crossed_edges_have_one_contact() -> None:
    """Its normal is orthogonal to both edges."""
    lower = at.shape("box", (0.3, 0.1, 0.1), (0.0, 0.0, 0.0), at.rotation_of((np.pi / 4, 0.0, 0.0)))
    R = at.rotation_of((0.0, np.pi / 4, 0.0))
    upper = at.shape("box", (0.1, 0.3, 0.1), (0.0, 0.0, 0.2 * np.sqrt(2) - 0.003), R)
    found = contacts(lower, upper)
    assert found[0].gap == pytest.approx(-0.003)
    assert [*found[0].normal] == pytest.approx([0.0, 0.0, 1.0])
    assert [*found[0].position] == pytest.approx([0.0, 0.0, 0.1 * np.sqrt(2) - 0.0015])
    assert [c.gap for c in found[1:]] == [FAR] * 3


def test_the_depth_of_nearly_flat_boxes_equals_coals() -> None:
    """The upper box is tilted by about 1e-5 to 0.3 rad."""
    draw = np.random.default_rng(1)
    for tilt in np.geomspace(1e-5, 0.3, 200):
        half = tuple(draw.uniform(0.03, 0.2, 3).tolist())
        x, y = (tilt * draw.normal(size=2)).tolist()
        shift = (draw.uniform(-0.1, 0.1, 2)).tolist()
        R = at.rotation_of((x, y, draw.uniform(-3, 3)))
        upper = at.shape("box", half, (*shift, 0.1 + half[2] - 0.002), R)
        wanted = at.distance(CUBE, upper)
        if wanted < 0:
            assert at.gaps(contacts(CUBE, upper)).min() == pytest.approx(wanted, abs=TIE)


def test_coincident_boxes_have_a_finite_depth() -> None:
    found = contacts(CUBE, CUBE)
    assert at.gaps(found).min() == pytest.approx(-0.2)
    assert at.touching_error(contacts, CUBE, CUBE) < 1e-9


def test_boxes_that_are_apart_have_a_positive_gap() -> None:
    """It is at most the distance, and equal to it above a face."""
    assert at.gaps(contacts(CUBE, above(0.5, (0.0, 0.0, 0.3)))).min() == pytest.approx(0.3)
    corner = at.shape("box", (0.1, 0.1, 0.1), (0.3, 0.3, 0.3))
    gap = at.gaps(contacts(CUBE, corner)).min()
    assert gap == pytest.approx(0.1) and gap < at.distance(CUBE, corner)


def test_the_separation_along_faces_is_at_most_the_distance() -> None:
    """The separation is the distance above a face, and not above 0 where boxes overlap."""
    draw, apart, inside = np.random.default_rng(2), 0, 0
    for _ in range(200):
        half = tuple(draw.uniform(0.03, 0.2, 3).tolist())
        R = at.rotation_of(tuple(draw.uniform(-3, 3, 3).tolist()))
        other = at.shape("box", half, tuple(draw.uniform(-0.3, 0.3, 3).tolist()), R)
        separation, wanted = face_separation(CUBE, other), at.distance(CUBE, other)
        assert separation <= max(wanted, 0.0) + TIE
        assert face_separation(other, CUBE) == pytest.approx(separation, abs=1e-12)
        apart += separation > 0.02
        inside += wanted < 0
    assert apart > 50 and inside > 50
    assert face_separation(CUBE, above(0.5, (0.0, 0.0, 0.3))) == pytest.approx(0.3)

"""A face of a box clipped to another: which face, and the points of the polygon."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algebra.rotations import Vector
from warpdyn.algorithms.collision.clipped_face import (
    Face,
    choose_face,
    face_contacts,
    face_of,
)
from warpdyn.algorithms.collision.contact import FAR

AXES = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))


def test_face_of_returns_the_face_of_an_axis() -> None:
    """The first axis with a zero, on the side of the sign. Its own half length is first."""
    face = face_of(AXES, (1.0, 2.0, 3.0), (0.5, 0.0, 0.0), (1.0, -1.0, 1.0))
    assert [*face.normal] == [0.0, -1.0, 0.0] and face.number == 1.0
    assert [*face.x] == [0.0, 0.0, 1.0] and [*face.y] == [1.0, 0.0, 0.0]
    assert face.half == (2.0, 3.0, 1.0)


def test_choose_face_chooses_all_numbers_of_one_face() -> None:
    one = face_of(AXES, (1.0, 2.0, 3.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    two = face_of(AXES, (1.0, 2.0, 3.0), (1.0, 1.0, 0.0), (1.0, 1.0, -1.0))
    for x, wanted in ((0.0, one), (2.0, two)):
        found = choose_face(x, 1.0, one, two)
        assert [*found.normal] == [*wanted.normal] and found.half == wanted.half


def clip(turn: float, half: float, shift: tuple[float, float]) -> np.ndarray:
    """Positions of the contacts of a square of half length 1 with one above it."""
    reference = Face(AXES[2], AXES[0], AXES[1], (1.0, 1.0, 1.0), 2.0)
    c, s = np.cos(turn), np.sin(turn)
    x, y = Vector(c, s, 0.0), Vector(-s, c, 0.0)
    incident = Face(Vector(0.0, 0.0, -1.0), x, y, (1.0, half, half), 2.0)
    between = Vector(*shift, 2.0)
    found = face_contacts(reference, incident, Vector(0.0, 0.0, 0.0), between, 0.0, reference)
    assert at.gaps(found) == pytest.approx(0.0)
    return np.array([at.array(c.position) for c in found])


def test_contacts_are_corners_of_the_common_polygon() -> None:
    """A square lies inside the other, around it, or over one of its corners."""
    assert np.abs(clip(0.0, 0.5, (0.2, 0.1))[:, :2] - [0.2, 0.1]) == pytest.approx(0.5)
    assert np.abs(clip(0.3, 5.0, (0.2, 0.1))[:, :2]) == pytest.approx(1.0)
    quarter = clip(0.0, 1.0, (0.5, 0.5))
    assert sorted(map(tuple, np.round(quarter[:, :2], 4).tolist())) == [
        (-0.5, -0.5),
        (-0.5, 1.0),
        (1.0, -0.5),
        (1.0, 1.0),
    ]


def test_contacts_of_an_octagon_are_spread() -> None:
    """Four of the eight corners, a quarter turn from each other."""
    x = clip(np.pi / 4 + 0.05, 1.0, (0.0, 0.0))[:, :2]
    angles = np.sort(np.arctan2(x[:, 1], x[:, 0]))
    assert np.diff(angles) == pytest.approx(np.pi / 2, abs=1e-6)


@pytest.mark.parametrize("shift", [(9.0, -9.0), (-9.0, 0.5), (0.5, 9.0)])
@pytest.mark.parametrize("leans", [*product((-0.3, 0.3), repeat=2)])
def test_disjoint_faces_have_one_contact_at_the_lowest_corner(
    shift: tuple[float, float], leans: tuple[float, float]
) -> None:
    """The corner is moved onto the reference face, whose half lengths differ, and half way to the
    incident plane there.
    """
    reference, sizes = Face(AXES[2], AXES[0], AXES[1], (1.0, 2.0, 3.0), 2.0), np.array([2.0, 3.0])
    x, y = np.array([1.0, 0.0, leans[0]]), np.array([0.0, 1.0, leans[1]])
    x /= np.linalg.norm(x)
    y -= x * (x @ y)
    y /= np.linalg.norm(y)
    down, between = -np.cross(x, y), np.array([*shift, 3.0])
    incident = Face(Vector(*down), Vector(*x), Vector(*y), (0.5, 0.2, 0.4), 2.0)
    found = face_contacts(
        reference, incident, Vector(0.0, 0.0, 0.0), Vector(*between), 0.7, reference
    )
    assert at.gaps(found) == pytest.approx([0.7, FAR, FAR, FAR])
    middle = between + 0.5 * down
    corners = [middle + s * 0.2 * x + t * 0.4 * y for s, t in product((-1, 1), repeat=2)]
    place = np.clip(min(corners, key=lambda corner: corner[2])[:2], -sizes, sizes)
    height = middle[2] - 1.0 - (place - middle[:2]) @ down[:2] / down[2]
    assert at.array(found[0].position) == pytest.approx([*place, 1.0 + 0.5 * height])

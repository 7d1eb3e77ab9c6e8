"""A capsule on, along, across and inside a box."""

from __future__ import annotations

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algebra.rotations import Vector
from warpdyn.algorithms.collision.capsule_box import Segment, closest_to_box
from warpdyn.algorithms.collision.narrow_phase import contacts

BOX = at.shape("box", (0.1, 0.1, 0.1))

QUARTER = np.pi / 2


def capsule(p: tuple[float, ...], angles: tuple[float, float, float]) -> at.ShapeAt:
    return at.shape("capsule", (0.05, 0.2), p, at.rotation_of(angles))


def test_no_other_point_of_the_axis_is_closer_to_the_box() -> None:
    """Compared with samples of the axis."""
    draw = np.random.default_rng(0)
    half = (0.1, 0.2, 0.3)
    for _ in range(100):
        p, u, length = draw.normal(size=3) * 0.4, draw.normal(size=3), draw.uniform(0, 0.5)
        u = [(1, 0, 0), (0, 0.6, 0.8), tuple(u / np.linalg.norm(u))][int(draw.integers(3))]
        axis = Segment(Vector(*p), Vector(*u), length)
        s = closest_to_box(axis, half)
        line = p + np.linspace(-length, length, 401)[:, None] * np.array(u)
        beyond = np.linalg.norm(line - np.clip(line, [-x for x in half], half), axis=1)
        x = at.array(axis.at(s))
        own = np.linalg.norm(x - np.clip(x, [-h for h in half], half))
        assert abs(s) <= length and own <= beyond.min() + 1e-12  # type: ignore[arg-type]


def test_a_capsule_on_a_face_has_contacts_at_both_ends_of_the_overlap() -> None:
    for tilt in (0.0, 1e-6, 1e-3):
        found = contacts(capsule((0.0, 0.0, 0.149), (0.0, QUARTER + tilt, 0.0)), BOX)
        assert at.gaps(found) == pytest.approx(-0.001, abs=1.1e-4)
        assert sorted(c.position.x for c in found) == pytest.approx([-0.1, 0.1], abs=1e-4)  # type: ignore[type-var]
        for c in found:
            assert [*c.normal] == pytest.approx([0.0, 0.0, -1.0], abs=2e-3)


def test_a_capsule_along_an_edge_has_two_contacts() -> None:
    found = contacts(capsule((0.13, 0.0, 0.13), (QUARTER, 0.0, 0.0)), BOX)
    assert at.gaps(found) == pytest.approx(0.03 * np.sqrt(2) - 0.05)
    assert sorted(c.position.y for c in found) == pytest.approx([-0.1, 0.1])  # type: ignore[type-var]


def test_a_capsule_along_an_edge_touches_at_both_ends() -> None:
    """Up to rounding its axis is over the edge, inside or outside of the face."""
    for beyond in (-0.02, -1e-8, -1e-17, 0.0, 1e-17, 1e-8, 1e-3, 0.02):
        for turn in (0.0, 1e-9, -1e-9):
            found = contacts(capsule((0.1 + beyond, 0.0, 0.145), (QUARTER, turn, 0.0)), BOX)
            gap = np.hypot(max(beyond, 0.0), 0.045) - 0.05
            assert at.gaps(found) == pytest.approx([gap] * 2, abs=1e-8)
            assert sorted(c.position.y for c in found) == pytest.approx([-0.1, 0.1], abs=1e-6)  # type: ignore[type-var]


def test_a_capsule_across_an_edge_has_one_contact() -> None:
    """It is the contact of the nearer end. The other one is away from the box."""
    found = contacts(capsule((0.13, 0.0, 0.13), (0.0, -np.pi / 4, 0.0)), BOX)
    assert at.gaps(found).min() == pytest.approx(0.03 * np.sqrt(2) - 0.05)
    assert at.gaps(found).max() > 0.05


def test_contacts_keep_positions_and_features_in_small_motions() -> None:
    draw = np.random.default_rng(0)
    before = contacts(capsule((0.0, 0.0, 0.149), (0.0, QUARTER, 0.0)), BOX)
    for _ in range(20):
        x, y, z = (1e-4 * draw.normal(size=3)).tolist()
        found = contacts(capsule((0.0, 0.0, 0.149), (x, QUARTER + y, z)), BOX)
        for one, two in zip(before, found, strict=True):
            assert one.feature == two.feature
            assert np.abs(at.array(one.position) - at.array(two.position)).max() < 1e-3


def test_an_axis_in_the_box_along_a_face_has_the_depth_of_its_ends() -> None:
    """Each end is a sphere below the face."""
    for side in (1.0, -1.0):
        other = capsule((0.01, 0.02, 0.09 * side), (0.0, QUARTER, 0.0))
        found = contacts(other, BOX)
        assert at.gaps(found) == pytest.approx([-0.06, -0.06])
        assert sorted(c.position.x for c in found) == pytest.approx([-0.1, 0.1])  # type: ignore[type-var]
        for c in found:
            assert [*c.normal] == pytest.approx([0.0, 0.0, -side])
            assert (c.position.y, c.position.z) == pytest.approx((0.02, 0.07 * side))


def test_an_axis_inside_the_box_has_the_shortest_depth() -> None:
    """The shortest way out of the box goes through a face, or across an edge."""
    for p, angles, depth in (
        ((0.0, 0.0, 0.09), (0.0, QUARTER, 0.0), 0.06),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.15),
        ((0.09, 0.0, 0.09), (0.0, np.pi / 4, 0.0), None),
        ((0.095, 0.095, 0.0), (1.0, -1.0, 0.3), None),
    ):
        other = capsule(p, angles)
        gap = at.gaps(contacts(other, BOX)).min()
        assert gap == pytest.approx(at.distance(other, BOX), abs=1e-6)
        assert depth is None or gap == pytest.approx(-depth)
        assert at.touching_error(contacts, other, BOX) < 1e-6

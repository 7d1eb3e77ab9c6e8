"""Spheres and capsules in special positions: on each other, parallel, crossed."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algebra.rotations import Vector
from warpdyn.algorithms.collision.contact import FAR
from warpdyn.algorithms.collision.narrow_phase import contacts
from warpdyn.algorithms.collision.round_shapes import closest_on_segments

UPRIGHT = at.shape("capsule", (0.05, 0.2))


def test_parallel_capsules_have_contacts_at_both_ends_of_the_overlap() -> None:
    """Nearly parallel capsules have both contacts, too, so that one can rest on another."""
    for angles in ((0.0, 0.0, 0.3), (2e-4, 0.0, 0.0), (1e-4, 2e-5, 0.1)):
        other = at.shape("capsule", (0.05, 0.2), (0.09, 0.0, 0.1), at.rotation_of(angles))
        first, second = contacts(UPRIGHT, other)
        assert (first.gap, second.gap) == pytest.approx((-0.01, -0.01), abs=5e-5)
        assert (first.position.z, second.position.z) == pytest.approx((-0.1, 0.2), abs=1e-4)
        assert (first.feature, second.feature) == (0.0, 1.0)


def test_contacts_keep_positions_and_features_in_small_motions() -> None:
    draw = np.random.default_rng(0)
    other = at.shape("capsule", (0.05, 0.2), (0.09, 0.0, 0.1))
    before = contacts(UPRIGHT, other)
    for _ in range(20):
        R = at.rotation_of(tuple((1e-4 * draw.normal(size=3)).tolist()))
        found = contacts(UPRIGHT, at.shape("capsule", (0.05, 0.2), (0.09, 0.0, 0.1), R))
        for one, two in zip(before, found, strict=True):
            assert one.feature == two.feature
            assert np.abs(at.array(one.position) - at.array(two.position)).max() < 1e-3


def test_crossed_capsules_have_one_contact() -> None:
    other = at.shape("capsule", (0.05, 0.2), (0.09, 0.0, 0.1), at.rotation_of((1.5, 0.0, 0.0)))
    first, second = contacts(UPRIGHT, other)
    assert first.gap == pytest.approx(-0.01) and second.gap == FAR
    assert [*first.position] == pytest.approx([0.045, 0.0, 0.1])


def test_intersecting_axes_separate_across_both() -> None:
    """Parallel or not. The depth is the sum of both radii."""
    for angles in ((0.0, 0.0, 0.0), (1e-9, 0.0, 0.0), (0.7, 0.4, 0.0)):
        other = at.shape("capsule", (0.04, 0.2), R=at.rotation_of(angles))
        first, _ = contacts(UPRIGHT, other)
        assert first.gap == pytest.approx(-0.09)
        for s in (UPRIGHT, other):
            assert first.normal.dot(s.axes[2]) == pytest.approx(0.0, abs=1e-9)
        assert at.touching_error(contacts, UPRIGHT, other) < 1e-9


def test_capsules_end_to_end_have_one_contact() -> None:
    other = at.shape("capsule", (0.05, 0.2), (0.0, 0.0, 0.49))
    first, second = contacts(UPRIGHT, other)
    assert first.gap == pytest.approx(-0.01) and second.gap == FAR
    assert [*first.normal] == pytest.approx([0.0, 0.0, 1.0])


def test_a_sphere_on_the_axis_of_a_capsule_separates_across_it() -> None:
    ball = at.shape("sphere", (0.03,), (0.0, 0.0, 0.1))
    (c,) = contacts(ball, UPRIGHT)
    assert c.gap == pytest.approx(-0.08) and c.normal.z == 0.0


def test_no_other_points_of_two_segments_are_closer() -> None:
    """Compared with samples of both segments."""
    draw = np.random.default_rng(0)
    steps = np.linspace(-1, 1, 101)
    for _ in range(50):
        d, (u, w), (h, k) = draw.normal(size=3), draw.normal(size=(2, 3)), draw.uniform(0, 2, 2)
        u, w = u / np.linalg.norm(u), w / np.linalg.norm(w)
        s, t = closest_on_segments(Vector(*d), Vector(*u), h, Vector(*w), k)
        assert abs(s) <= h and abs(t) <= k
        others = (d + k * steps[:, None, None] * w) - h * steps[None, :, None] * u
        least = np.linalg.norm(others, axis=-1).min()
        assert np.linalg.norm(d + t * w - s * u) <= least + 1e-12


def test_gaps_of_a_tilted_capsule_to_a_plane_differ_by_its_tilt() -> None:
    plane = at.shape("plane", ())
    leaning = at.shape("capsule", (0.05, 0.2), (0.0, 0.0, 0.2), at.rotation_of((0.5, 0.0, 0.0)))
    low, high = contacts(plane, leaning)
    assert low.gap == pytest.approx(0.15 - 0.2 * math.cos(0.5))
    assert high.gap == pytest.approx(0.15 + 0.2 * math.cos(0.5))

"""Selections and unit vectors used by the narrow phases."""

from __future__ import annotations

import pytest
import shapes_at as at

from warpdyn.algebra.rotations import Vector
from warpdyn.algorithms.collision.contact import (
    FAR,
    NONE,
    UPWARDS,
    between_points,
    choose_contact,
    clamp,
    direction,
    if_exists,
    inverse,
    points_of,
    side,
)


def test_clamp_side_and_inverse_equal_their_definitions() -> None:
    assert [clamp(x, 2.0) for x in (-3.0, 1.0, 5.0)] == [-2.0, 1.0, 2.0]
    assert [side(x) for x in (-0.1, 0.0, 3.0)] == [-1.0, 1.0, 1.0]
    assert [inverse(x, 0.5) for x in (4.0, 0.1, 0.0, -0.1, -4.0)] == [0.25, 2.0, 2.0, -2.0, -0.25]


def test_direction_returns_length_and_unit_vector() -> None:
    """A vector of length zero gets the default direction."""
    length, unit = direction(Vector(0.0, 3.0, 4.0))
    assert length == pytest.approx(5.0) and [*unit] == pytest.approx([0.0, 0.6, 0.8])
    length, unit = direction(Vector(0.0, 0.0, 0.0), Vector(1.0, 0.0, 0.0))
    assert length == 0.0 and [*unit] == [1.0, 0.0, 0.0]


def test_the_contact_of_two_spheres_is_midway_between_surfaces() -> None:
    """Its position is the midpoint of the surfaces."""
    c = between_points(Vector(0.0, 0.0, 0.0), 1.0, Vector(4.0, 0.0, 0.0), 2.0)
    assert c.gap == pytest.approx(1.0) and [*c.position] == pytest.approx([1.5, 0.0, 0.0])
    assert [*c.normal] == [1.0, 0.0, 0.0] and [*c.in_other_order().normal] == [-1.0, 0.0, 0.0]
    p = Vector(1.0, 2.0, 3.0)
    assert [*between_points(p, 1.0, p, 2.0).normal] == [*UPWARDS]


def test_choose_contact_chooses_all_numbers_of_one_contact() -> None:
    p, q = Vector(0.0, 0.0, 0.0), Vector(4.0, 0.0, 0.0)
    one, two = between_points(p, 1.0, q, 2.0), between_points(q, 1.0, p, 1.0)
    assert choose_contact(0.0, 1.0, one, two).gap == one.gap
    assert [*choose_contact(1.0, 1.0, one, two).normal] == [*two.normal]
    assert if_exists(1.0, one).gap == one.gap
    missing = if_exists(0.0, one)
    assert (missing.gap, missing.feature) == (FAR, NONE) and missing.position is one.position


def test_the_axes_of_a_shape_are_in_the_world_frame() -> None:
    R = at.rotation_of((0.3, -0.2, 0.9))
    a = at.shape("box", (1.0, 1.0, 1.0), (1.0, 2.0, 3.0), R)
    assert [*a.centre] == [1.0, 2.0, 3.0]
    assert [*a.axes[2]] == pytest.approx([*R.to_parent(Vector(0.0, 0.0, 1.0))])


def test_shapes_without_a_narrow_phase_are_refused() -> None:
    """The message names the pairs that have one. The order of a pair does not matter."""
    assert points_of("sphere", "box") == points_of("box", "sphere") > 0
    with pytest.raises(
        ValueError, match=r"no narrow phase for box and cloud\. These pairs.*sphere"
    ):
        points_of("box", "cloud")

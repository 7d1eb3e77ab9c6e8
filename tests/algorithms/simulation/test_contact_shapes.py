"""Shapes that may touch each other: their placements, and the number of contacts of a pair."""

from __future__ import annotations

import numpy as np

from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape


def test_the_rotation_of_a_shape_is_given_by_rows() -> None:
    """A quarter turn about z moves x to y."""
    turned = ContactShape(
        "link", "box", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    )
    placement = turned.placement
    point = placement.point_to_parent(type(placement.p)(1.0, 0.0, 0.0))
    np.testing.assert_allclose([*point], [0.1, 1.2, 0.3])


def test_the_number_of_contacts_is_that_of_the_narrow_phase() -> None:
    """The order of the two kinds does not matter."""
    ball, box = ContactShape("a", "sphere", (1.0,)), ContactShape("b", "box", (1.0, 1.0, 1.0))
    assert ContactPair(ball, box).contacts == ContactPair(box, ball).contacts == 1
    assert ContactPair(GROUND, box).contacts == 4

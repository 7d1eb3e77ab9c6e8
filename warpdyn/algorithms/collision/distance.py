"""Distance of two shapes."""

from __future__ import annotations

from functools import reduce

from ...algebra.scalar import Scalar, minimum, select_less
from .contact import ShapeAt
from .mesh_contacts import convex_distance
from .narrow_phase import contacts

AS_FAR = 1e-7
"""Difference up to which the distance of boxes and their gap count as equal [m]."""


def distance(a: ShapeAt, b: ShapeAt) -> Scalar:
    """Distance of the surfaces of two shapes, negative where they overlap [m]."""
    kinds = (a.kind, b.kind)
    if "mesh" in kinds and "plane" not in kinds:
        return convex_distance(a, b) if a.kind == "mesh" else convex_distance(b, a)
    gap = reduce(minimum, (each.gap for each in contacts(a, b)))
    if kinds == ("box", "box"):
        # The gap of boxes that are apart is along one of 15 axes, and at most their distance. Where
        # faces touch, both are equal. Then the derivative is that of the nearest points, and not
        # that of the gap, which is at the middle of a face where its sides are parallel to axes.
        nearest = convex_distance(a, b)
        return select_less(nearest + AS_FAR, gap, gap, nearest)
    return gap

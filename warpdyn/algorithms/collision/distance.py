"""Distance of two shapes."""

from __future__ import annotations

from functools import reduce

from ...algebra.scalar import Scalar, maximum, minimum
from .contact import ShapeAt
from .mesh_contacts import convex_distance
from .narrow_phase import contacts


def distance(a: ShapeAt, b: ShapeAt) -> Scalar:
    """Distance of the surfaces of two shapes, negative where they overlap [m]."""
    kinds = (a.kind, b.kind)
    if "mesh" in kinds and "plane" not in kinds:
        return convex_distance(a, b) if a.kind == "mesh" else convex_distance(b, a)
    gap = reduce(minimum, (each.gap for each in contacts(a, b)))
    if kinds == ("box", "box"):
        # The gap of boxes that are apart is along one of 15 axes, and at most their distance.
        return maximum(gap, convex_distance(a, b))
    return gap

"""Distance of two shapes."""

from __future__ import annotations

from functools import reduce

from ...algebra.scalar import Scalar, minimum, select_less
from .contact import ShapeAt
from .convex_gap import Separation
from .mesh_contacts import convex_distance, separation_of
from .narrow_phase import contacts

AS_FAR = 1e-7
"""Difference up to which the distance of boxes and their gap count as equal [m]."""


def is_searched(*kinds: str) -> bool:
    """True if the nearest points of two shapes of these kinds are found by a search."""
    return ("mesh" in kinds and "plane" not in kinds) or kinds == ("box", "box")


def distance(a: ShapeAt, b: ShapeAt) -> Scalar:
    """Distance of the surfaces of two shapes, negative where they overlap [m]."""
    if is_searched(a.kind, b.kind):
        return distance_of_searched(a, b, search(a, b))
    return _least_gap(a, b)


def search(a: ShapeAt, b: ShapeAt) -> Separation:
    """The separation of two shapes, found by a search. No derivative of a distance goes through it."""
    return separation_of(*_mesh_first(a, b))


def distance_of_searched(a: ShapeAt, b: ShapeAt, found: Separation) -> Scalar:
    """Distance of the surfaces of two shapes from their separation [m]."""
    nearest = convex_distance(*_mesh_first(a, b), found)
    if "mesh" in (a.kind, b.kind):
        return nearest
    # The gap of boxes that are apart is along one of 15 axes, and at most their distance. Where
    # faces touch, both are equal. Then the derivative is that of the nearest points, and not that
    # of the gap, which is at the middle of a face where its sides are parallel to axes.
    gap = _least_gap(a, b)
    return select_less(nearest + AS_FAR, gap, gap, nearest)


def _least_gap(a: ShapeAt, b: ShapeAt) -> Scalar:
    return reduce(minimum, (each.gap for each in contacts(a, b)))


def _mesh_first(a: ShapeAt, b: ShapeAt) -> tuple[ShapeAt, ShapeAt]:
    return (b, a) if b.kind == "mesh" != a.kind else (a, b)

"""Distance of two shapes."""

from __future__ import annotations

from functools import reduce

from ...algebra.rotations import ZERO
from ...algebra.scalar import Scalar, maximum, minimum
from ...algebra.spatial import Vector
from .contact import ShapeAt, direction, side
from .convex_gap import Core, convex_separation
from .mesh_contacts import mesh_distance
from .narrow_phase import contacts


def distance(a: ShapeAt, b: ShapeAt) -> Scalar:
    """Distance of the surfaces of two shapes, negative where they overlap [m]."""
    kinds = (a.kind, b.kind)
    if "mesh" in kinds and "plane" not in kinds:
        return mesh_distance(a, b) if a.kind == "mesh" else mesh_distance(b, a)
    gap = reduce(minimum, (each.gap for each in contacts(a, b)))
    if kinds == ("box", "box"):
        # The gap of boxes that are apart is along one of 15 axes, and at most their distance.
        return maximum(gap, _separation_of_boxes(a, b))
    return gap


def _separation_of_boxes(a: ShapeAt, b: ShapeAt) -> Scalar:
    """The distance of two boxes that are apart; at most the negative depth where they overlap."""
    between = b.centre - a.centre
    _, towards = direction(between)
    normals = [axis * side(axis.dot(between)) for axis in (*a.axes, *b.axes)]
    cores = Core(ZERO, _half_edges(a)), Core(between, _half_edges(b))
    return convex_separation(*cores, [towards, *normals]).separation


def _half_edges(box: ShapeAt) -> tuple[Vector, ...]:
    return tuple(axis * half for axis, half in zip(box.axes, box.size, strict=True))

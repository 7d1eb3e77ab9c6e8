"""The shapes on a side of a group as rows of an array: where they are, and how far they can move in a
step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar, maximum, sqrt
from ....algebra.spatial import Placement, Vector
from ....model.tree import WORLD, Tree
from ..contact_shapes import ContactShape, placement_in_body
from .numbered_bodies import entries_of, placement_of, twist_about_origin
from .pair_groups import GroupSide

LEAST_LENGTH = 1e-10
"""Length below which all vectors count as equally long [m, m/s, rad/s]. The root of 0 has no slope, and
derivatives of shapes at rest would not be finite."""

PLACED = 12
"""Entries of a placement in a row."""


class ShapeRow(NamedTuple):
    """A shape: its placement, how far its points can move in a step [m], its bounding radius [m],
    the number of the body that carries it, and its sizes [m]."""

    placement: Placement
    reach: Scalar
    radius: Scalar
    number: Scalar
    size: Sequence[Scalar]

    @property
    def numbers(self) -> list[Scalar]:
        """All numbers, as a row of an array."""
        placed = entries_of(self.placement)
        return [*placed, self.reach, self.radius, self.number, *self.size]

    @classmethod
    def of(cls, row: Sequence[Scalar]) -> ShapeRow:
        """The shape with these numbers."""
        reach, radius, number, *size = row[PLACED:]
        return cls(placement_of(row), reach, radius, number, size)


def moving_shapes(
    tree: Tree,
    X: dict[int, Placement],
    side: GroupSide,
    v: Sequence[Scalar],
    dt: float,
    carriers: Sequence[int] = (),
    read_inside: bool = False,
) -> RowsByNumber:
    """The shapes of a side in the world, each a `ShapeRow`.

    `X`: placements of bodies in the world; `v`: the velocity in the step; `carriers`: bodies in the
    order of their numbers. Other bodies have the number -1. `read_inside`: read placements from memory
    (`RowsByNumber`).
    """
    rows = []
    for shape, body in zip(side.shapes, side.bodies, strict=True):
        placement, radius = placement_in_body(tree, shape), bounding_radius(shape)
        speed: Scalar = 0.0
        if body != WORLD:
            placement = X[body].compose(placement).as_matrix()
            motion = twist_about_origin(tree, X, body, v)
            linear = motion.linear + motion.angular.cross(placement.p)
            speed = length(linear) + length(motion.angular) * radius
        number = float(carriers.index(body)) if body in carriers else -1.0
        rows.append(ShapeRow(placement, speed * dt, radius, number, shape.size).numbers)
    return RowsByNumber(rows, PLACED * read_inside)


def bounding_radius(shape: ContactShape) -> float:
    """Radius of the sphere about a shape's origin that contains it [m]; 0 for a plane, which no
    sphere contains."""
    if shape.kind == "mesh":
        return max(math.hypot(*vertex) for vertex in shape.vertices)
    return math.hypot(*shape.size) if shape.kind == "box" else sum(shape.size)


def length(u: Vector) -> Scalar:
    """The length of a vector, and of the shortest ones LEAST_LENGTH."""
    return sqrt(maximum(u.dot(u), LEAST_LENGTH * LEAST_LENGTH))

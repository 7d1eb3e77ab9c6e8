"""Shapes that may touch each other, in pairs."""

from __future__ import annotations

from typing import NamedTuple

from ...algebra.rotations import Rotation
from ...algebra.spatial import Placement, Vector
from ...model.tree import WORLD, Tree
from ..collision.contact import points_of

Three = tuple[float, float, float]


class ContactShape(NamedTuple):
    """A shape that may touch others: its link, or None for the world, its kind and sizes as `ShapeAt` has them [m], its
    position [m] and rotation (rows) in the link's frame, and the vertices of a mesh in its own
    axes."""

    link: str | None
    kind: str
    size: tuple[float, ...]
    position: Three = (0.0, 0.0, 0.0)
    rotation: tuple[Three, Three, Three] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    vertices: tuple[Three, ...] = ()

    @property
    def placement(self) -> Placement:
        """Its placement in the link's frame."""
        return Placement(Rotation([Vector(*row) for row in self.rotation]), Vector(*self.position))


def body_of(tree: Tree, shape: ContactShape) -> int:
    """The body that carries a shape."""
    return WORLD if shape.link is None else tree.frames[shape.link].body


def placement_in_body(tree: Tree, shape: ContactShape) -> Placement:
    """The placement of a shape in the body that carries it."""
    if shape.link is None:
        return shape.placement
    return tree.frames[shape.link].placement.compose(shape.placement)


GROUND = ContactShape(None, "plane", ())
"""The plane z = 0 of the world."""


class ContactPair(NamedTuple):
    """Two shapes that may touch each other. Normals point from the first to the second."""

    first: ContactShape
    second: ContactShape

    @property
    def contacts(self) -> int:
        """The number of its contacts."""
        return points_of(self.first.kind, self.second.kind)

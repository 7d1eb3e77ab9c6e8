"""Contact positions of pairs of shapes and their gaps."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.scalar import Scalar
from ...algebra.spatial import Placement
from ...model.tree import WORLD, Tree
from ..collision.contact import ShapeAt
from ..collision.narrow_phase import contacts
from ..frames import body_placements
from .contact_shapes import ContactPair, ContactShape, body_of, placement_in_body


def pair_gaps(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Positions of all contacts of the pairs in the world [m], 3 each, and their gaps [m]."""
    placed = shapes_in_world(tree, q, pairs)
    found = [each for a, b in pairs for each in contacts(placed[a], placed[b])]
    return [list(each.position) for each in found], [each.gap for each in found]


def shapes_in_world(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]
) -> dict[ContactShape, ShapeAt]:
    """The shapes of pairs at their placements in the world."""
    shapes = dict.fromkeys(shape for pair in pairs for shape in pair)
    X = body_placements(tree, q, sorted({body_of(tree, shape) for shape in shapes} - {WORLD}))
    return {shape: _in_world(tree, X, shape) for shape in shapes}


def _in_world(tree: Tree, X: dict[int, Placement], shape: ContactShape) -> ShapeAt:
    """A shape at its placement in the world."""
    body, placement = body_of(tree, shape), placement_in_body(tree, shape)
    if body != WORLD:
        placement = X[body].compose(placement)
    return ShapeAt(shape.kind, shape.size, placement.as_matrix(), shape.vertices)

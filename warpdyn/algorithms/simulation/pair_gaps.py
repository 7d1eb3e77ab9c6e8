"""Contact positions of pairs of shapes, their gaps, and distances of the shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algebra.scalar import Scalar
from ...algebra.spatial import Placement
from ...model.tree import WORLD, Tree
from ..collision.contact import ShapeAt
from ..collision.distance import distance
from ..collision.narrow_phase import contacts
from ..frames import body_placements
from .contact_shapes import ContactPair, ContactShape, body_of, placement_in_body


def pair_gaps(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Positions of all contacts of the pairs in the world [m], 3 each, and their gaps [m]."""
    found = [each for pair in _in_the_world(tree, q, pairs) for each in contacts(*pair)]
    return [list(each.position) for each in found], [each.gap for each in found]


def pair_distances(tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]) -> list[Scalar]:
    """Distances of the surfaces of pairs of shapes, negative where they overlap [m]."""
    return [distance(*pair) for pair in _in_the_world(tree, q, pairs)]


def _in_the_world(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]
) -> Iterator[tuple[ShapeAt, ShapeAt]]:
    """The two shapes of each pair at their placements in the world."""
    bodies = {body_of(tree, shape) for pair in pairs for shape in pair} - {WORLD}
    X = body_placements(tree, q, sorted(bodies))
    for first, second in pairs:
        yield _in_world(tree, X, first), _in_world(tree, X, second)


def _in_world(tree: Tree, X: dict[int, Placement], shape: ContactShape) -> ShapeAt:
    """A shape at its placement in the world."""
    body, placement = body_of(tree, shape), placement_in_body(tree, shape)
    if body != WORLD:
        placement = X[body].compose(placement)
    return ShapeAt(shape.kind, shape.size, placement.as_matrix(), shape.vertices)

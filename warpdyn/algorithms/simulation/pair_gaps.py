"""Where the shapes of pairs are next to each other, and how far apart."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.scalar import Scalar
from ...algebra.spatial import HERE, Placement
from ...model.tree import WORLD, Tree
from ..collision.contact import ShapeAt
from ..collision.narrow_phase import contacts
from ..frames import body_placements
from .contact_shapes import ContactPair, ContactShape


def pair_gaps(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Positions of all contacts of the pairs in the world [m], 3 each, and their gaps [m]."""
    links = {shape.link for pair in pairs for shape in pair if shape.link is not None}
    X = body_placements(tree, q, sorted({tree.frames[link].body for link in links} - {WORLD}))
    found = [
        each for pair in pairs for each in contacts(*(_in_world(tree, X, shape) for shape in pair))
    ]
    return [list(each.position) for each in found], [each.gap for each in found]


def _in_world(tree: Tree, X: dict[int, Placement], shape: ContactShape) -> ShapeAt:
    """A shape at its placement in the world."""
    placement = shape.placement
    if shape.link is not None:
        frame = tree.frames[shape.link]
        carrier = HERE if frame.body == WORLD else X[frame.body]
        placement = carrier.compose(frame.placement).compose(placement)
    return ShapeAt(shape.kind, shape.size, placement.as_matrix(), shape.vertices)

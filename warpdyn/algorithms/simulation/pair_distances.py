"""Distances of pairs of shapes."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.constant_values import as_constants, with_slope_of
from ...algebra.row_arrays import RowArray, loop
from ...algebra.rows_by_number import RowsByNumber
from ...algebra.scalar import Scalar
from ...model.tree import Tree
from ..collision.contact import ShapeAt
from ..collision.convex_gap import Separation
from ..collision.distance import distance, distance_of_searched, is_searched, search
from .contact_shapes import ContactPair, ContactShape
from .pair_gaps import shapes_in_world
from .pair_slots.numbered_bodies import entries_of, placement_of

VERTICES = 8
"""Meshes share a loop if their numbers of vertices are equal when rounded up to a multiple of
this."""

SEPARATION = 25
"""Numbers of a `Separation`."""

ShapesAt = tuple[ShapeAt, ShapeAt]


def pair_distances(tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]) -> list[Scalar]:
    """Distances of the surfaces of pairs of shapes, negative where they overlap [m]."""
    placed = shapes_in_world(tree, q, pairs)
    groups: dict[tuple, list[int]] = {}
    for n, pair in enumerate(pairs):
        groups.setdefault(tuple(_kind(shape) for shape in pair), []).append(n)
    found: dict[int, Scalar] = {}
    for ((first, _), (second, _)), numbers in groups.items():
        of_group = [(placed[pairs[n].first], placed[pairs[n].second]) for n in numbers]
        if len(numbers) > 1 and is_searched(first, second):
            found |= zip(numbers, _distances_in_loop(of_group), strict=True)
        else:
            found |= zip(numbers, (distance(*pair) for pair in of_group), strict=True)
    return [found[n] for n in range(len(pairs))]


def _kind(shape: ContactShape) -> tuple[str, int]:
    """The kind of a shape and its rounded number of vertices."""
    return shape.kind, -(-len(shape.vertices) // VERTICES)


def _distances_in_loop(pairs: Sequence[ShapesAt]) -> list[Scalar]:
    """Distances of pairs of the same kinds by a loop: the program has one search, of many statements,
    for all of them. Derivatives do not go through the searches, and so not through the loop."""
    sides = [list({id(pair[k]): pair[k] for pair in pairs}.values()) for k in (0, 1)]
    first, second = (_ShapesByNumber(side) for side in sides)
    places = [{id(shape): float(n) for n, shape in enumerate(side)} for side in sides]
    members = RowsByNumber([[places[0][id(a)], places[1][id(b)]] for a, b in pairs])
    values, separations = (RowArray.without_values(len(pairs), n) for n in (1, SEPARATION))

    def step(k: Scalar, _: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        a, b = members[k]
        shapes = first[a], second[b]
        found = search(*shapes)
        arrays[0][k], arrays[1][k] = [distance_of_searched(*shapes, found)], found.numbers
        return []

    loop(
        len(pairs), step, [], [values, separations, *first.arrays, *second.arrays, *members.arrays]
    )
    distances = []
    for pair, (value,), numbers in zip(pairs, values, separations, strict=True):
        slope = distance_of_searched(*pair, Separation.of_numbers(as_constants(numbers)))
        distances.append(with_slope_of(slope, value))
    return distances


class _ShapesByNumber:
    """Shapes of one kind, read by number. Of fewer vertices than others have, the last is repeated."""

    def __init__(self, shapes: Sequence[ShapeAt]):
        self.kind, self.sizes = shapes[0].kind, len(shapes[0].size)
        self.placements = RowsByNumber([entries_of(shape.placement) for shape in shapes])
        most = max(len(shape.vertices) for shape in shapes)
        self.numbers = RowsByNumber([[*x.size, *_coordinates(x.vertices, most)] for x in shapes])

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop must have."""
        return [*self.placements.arrays, *self.numbers.arrays]

    def __getitem__(self, number: Scalar) -> ShapeAt:
        numbers = self.numbers[number]
        x = iter(numbers[self.sizes :])
        vertices = tuple(zip(x, x, x, strict=True))
        placement = placement_of(self.placements[number])
        return ShapeAt(self.kind, tuple(numbers[: self.sizes]), placement, vertices)


def _coordinates(vertices: Sequence[Sequence[Scalar]], count: int) -> list[Scalar]:
    """The coordinates of `count` vertices."""
    return [x for k in range(count) for x in vertices[min(k, len(vertices) - 1)]]

"""Contacts between the bodies of a world, and the rows of their relative velocities.

A pair is two shapes on two bodies. Its contacts come from `algorithms/collision`. The velocity of a
contact is that of the second body less that of the first one, at the contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...algebra.rotations import Rotation, axes_about
from ...algebra.scalar import Scalar, absolute, is_number, select_less
from ...algebra.spatial import Placement, Vector
from ...model.tree import WORLD, Tree
from ..collision.contact import Contact, ShapeAt
from ..collision.narrow_phase import contacts, points_of
from ..frames import body_placements
from .contact_rows import PointContact

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


@dataclass(frozen=True)
class PairContacts:
    """The contacts of a pair at a configuration, and their features, which pass impulses on to the
    contacts of the next step."""

    points: list[PointContact]
    features: list[Scalar]


def pair_rows(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair], first: int
) -> tuple[list[PairContacts], list[list[Scalar]]]:
    """The contacts of each pair, and the rows J of their velocities, whose first number is
    `first`."""
    bodies = {_body(tree, shape) for pair in pairs for shape in pair} - {WORLD}
    X = body_placements(tree, q, sorted(bodies))
    found: list[PairContacts] = []
    rows: list[list[Scalar]] = []
    for pair in pairs:
        touching = contacts(*(_in_world(tree, X, shape) for shape in pair))
        between = [_body(tree, shape) for shape in pair]
        points, more = _rows_of_pair(tree, X, between, touching, first + len(rows))
        found.append(PairContacts(points, [each.feature for each in touching]))
        rows += more
    return found, rows


def pair_gaps(
    tree: Tree, q: Sequence[Scalar], pairs: Sequence[ContactPair]
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Positions of all contacts of the pairs in the world [m], 3 each, and their gaps [m]."""
    bodies = {_body(tree, shape) for pair in pairs for shape in pair} - {WORLD}
    X = body_placements(tree, q, sorted(bodies))
    found = [
        each for pair in pairs for each in contacts(*(_in_world(tree, X, shape) for shape in pair))
    ]
    return [list(each.position) for each in found], [each.gap for each in found]


def _body(tree: Tree, shape: ContactShape) -> int:
    """The body that carries a shape."""
    return WORLD if shape.link is None else tree.frames[shape.link].body


def _in_world(tree: Tree, X: dict[int, Placement], shape: ContactShape) -> ShapeAt:
    """A shape at its placement in the world."""
    if shape.link is None:
        return ShapeAt(shape.kind, shape.size, shape.placement, shape.vertices)
    frame = tree.frames[shape.link]
    placement = X[frame.body].compose(frame.placement).compose(shape.placement).as_matrix()
    return ShapeAt(shape.kind, shape.size, placement, shape.vertices)


def _rows_of_pair(
    tree: Tree,
    X: dict[int, Placement],
    between: Sequence[int],
    touching: Sequence[Contact],
    first: int,
) -> tuple[list[PointContact], list[list[Scalar]]]:
    """Contacts with three rows each, in the contact's axes. Six rows of the bodies' relative twist
    for all contacts would be shorter from five contacts on, and no pair has five."""
    points = []
    rows: list[list[Scalar]] = []
    for each in touching:
        axes = axes_about(each.normal)
        points.append(PointContact(each.gap, first + len(rows), None, axes))
        rows += _relative_rows(tree, X, between, each.position, axes)
    return points, rows


def _relative_rows(
    tree: Tree,
    X: dict[int, Placement],
    between: Sequence[int],
    at: Vector,
    axes: Rotation,
) -> list[list[Scalar]]:
    """Rows of the velocity of the second body less that of the first one, at a point of the world,
    in the contact's axes. Joints that carry both bodies move neither against the other."""
    paths = [tree.path(body) if body != WORLD else [] for body in between]
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(3)]
    for path, other, sign in ((paths[1], paths[0], 1.0), (paths[0], paths[1], -1.0)):
        for i in path:
            if i in other:
                continue
            here = Placement(X[i].R, X[i].p - at)
            for k, S in tree.bodies[i].subspace:
                velocity = axes.to_child(here.motion_to_parent(S).linear)
                for row, x in zip(rows, velocity, strict=True):
                    row[k] = row[k] + x * sign
    return rows


def passed_on(
    pairs: Sequence[PairContacts], features: Sequence[Scalar], impulses: Sequence[Scalar]
) -> list[Scalar]:
    """The impulses with which the sweeps of a step begin, 3 for each contact, in the world's axes.

    `features`, `impulses`: those of the last step. A contact begins with the impulse of the contact
    of the same pair that had its feature, or with zero if none had it.
    """
    started: list[Scalar] = []
    first = 0
    for pair in pairs:
        mine = range(first, first + len(pair.features))
        first += len(pair.features)
        for k, feature in zip(mine, pair.features, strict=True):
            # A contact whose feature is known before the program runs keeps its place.
            others = [k] if is_number(feature) else mine
            total: list[Scalar] = [0.0, 0.0, 0.0]
            for n in others:
                same = absolute(features[n] - feature)
                was = impulses[3 * n : 3 * n + 3]
                if not is_number(feature):
                    was = [select_less(same, 0.5, x, 0.0) for x in was]
                total = [x + dx for x, dx in zip(total, was, strict=True)]
            started += total
    return started

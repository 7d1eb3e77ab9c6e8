"""Points on the ground in slots: each is a pair of the ground and a sphere, and only those that are
near the ground are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....algebra.row_arrays import RowArray
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar, sqrt
from ....algebra.spatial import Placement, Vector
from ....model.tree import Tree
from ...collision.contact import UPWARDS, Contact
from ..contact_rows import ContactPoint
from ..contact_shapes import GROUND, ContactPair, ContactShape, placement_in_body
from ..uneven_ground import Terrain
from .numbered_bodies import entries_of, placement_of, twist_about_origin
from .pair_groups import GroupSide

MARGIN = 0.002
"""Height above the ground below which a point is near in any case [m]: impulses of other contacts
may bring it down within the step."""

REACHES = 2.0
"""Height above the ground below which a moving point is near, as a multiple of its path in the
step."""


def point_pairs(points: Sequence[ContactPoint]) -> list[ContactPair]:
    """The pairs of the ground and each point."""
    return [
        ContactPair(GROUND, ContactShape(point.link, "sphere", (point.radius,), point.centre))
        for point in points
    ]


class PlacedPoints:
    """Points of a side of a group, read by number; their rows do not depend on the configuration.
    `of_body`: further numbers of each body."""

    def __init__(
        self,
        tree: Tree,
        side: GroupSide,
        X: dict[int, Placement],
        of_body: Callable[[int], Sequence[Scalar]],
    ):
        bodies = list(dict.fromkeys(side.bodies))
        rows = []
        for shape, body in zip(side.shapes, side.bodies, strict=True):
            centre = placement_in_body(tree, shape).p
            rows.append([float(bodies.index(body)), *centre, *shape.size])
        self.points = RowsByNumber(rows)
        self.bodies = RowsByNumber([[*entries_of(X[b]), *of_body(b)] for b in bodies])

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop must have."""
        return [*self.points.arrays, *self.bodies.arrays]

    def __getitem__(self, number: Scalar) -> PlacedPoint:
        """The point of a number."""
        body, *centre, radius = self.points[number]
        row = self.bodies[body]
        return PlacedPoint(placement_of(row).point_to_parent(Vector(*centre)), radius, row[12:])


class PlacedPoint(NamedTuple):
    """A point at a configuration: its centre in the world and its radius [m], and the further numbers
    of its body."""

    centre: Vector
    radius: Scalar
    of_body: Sequence[Scalar]


def moving_points(
    tree: Tree, X: dict[int, Placement], side: GroupSide, v: Sequence[Scalar]
) -> PlacedPoints:
    """The points of a side with the twists of their bodies about the world's origin. `X`: placements
    of bodies in the world; `v`: the velocity in the step."""

    def twist(body: int) -> list[Scalar]:
        motion = twist_about_origin(tree, X, body, v)
        return [*motion.linear, *motion.angular]

    return PlacedPoints(tree, side, X, twist)


def ground_contact(
    centre: Vector, radius: Scalar, terrain: Terrain | None
) -> tuple[Contact, Scalar]:
    """The contact of a point where its sphere is lowest above the ground, as `contact_rows` has it,
    and the ground's factor on the friction coefficient."""
    height, normal, share = _above(centre, terrain)
    return Contact(height - radius, centre - normal * radius, normal, 0.0), share


def above_reach(point: PlacedPoint, dt: float, terrain: Terrain | None) -> Scalar:
    """A number that is above 0 only if a moving point stays above the ground in a step of `dt`
    seconds."""
    linear, angular = Vector(*point.of_body[:3]), Vector(*point.of_body[3:])
    speed = linear + angular.cross(point.centre)
    way = sqrt(speed.dot(speed)) * dt
    height, _, _ = _above(point.centre, terrain)
    return height - point.radius - (way * REACHES + MARGIN)


def _above(centre: Vector, terrain: Terrain | None) -> tuple[Scalar, Vector, Scalar]:
    """Height of a point above the ground along the normal, the normal, and the friction factor."""
    if terrain is None:
        return centre.z, UPWARDS, 1.0
    patch = terrain.below(centre.x, centre.y)
    normal = patch.axes().matrix.T.rows[2]
    return (centre.z - patch.height) * normal.z, normal, patch.friction

"""Points on the ground in slots: each is a pair of the ground and a sphere, and only those that are
near the ground are computed."""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.scalar import Scalar
from ....algebra.spatial import Vector
from ...collision.contact import UPWARDS, Contact, ShapeAt
from ..contact_rows import ContactPoint
from ..contact_shapes import GROUND, ContactPair, ContactShape
from ..uneven_ground import Terrain

MARGIN = 0.002
"""Height above the ground below which a point is near in any case [m]: impulses of other contacts
may bring it down within the step."""

REACHES = 2.0
"""Height above the ground below which a moving point is near, in parts of its way in the step."""


def point_pairs(points: Sequence[ContactPoint]) -> list[ContactPair]:
    """The pairs of the ground and each point."""
    return [
        ContactPair(GROUND, ContactShape(point.link, "sphere", (point.radius,), point.centre))
        for point in points
    ]


def ground_contact(sphere: ShapeAt, terrain: Terrain | None) -> tuple[Contact, Scalar]:
    """The contact of a point where its sphere is lowest above the ground, as `contact_rows` has it,
    and the ground's factor on the friction coefficient."""
    centre, (radius,) = sphere.centre, sphere.size
    height, normal, share = _above(centre, terrain)
    return Contact(height - radius, centre - normal * radius, normal, 0.0), share


def above_reach(centre: Vector, way: Scalar, radius: Scalar, terrain: Terrain | None) -> Scalar:
    """A number above 0 only for a point that stays off the ground in the step. `way`: how far it
    moves [m]."""
    height, _, _ = _above(centre, terrain)
    return height - radius - (way * REACHES + MARGIN)


def _above(centre: Vector, terrain: Terrain | None) -> tuple[Scalar, Vector, Scalar]:
    """Height of a point above the ground along the normal, the normal, and the friction factor."""
    if terrain is None:
        return centre.z, UPWARDS, 1.0
    patch = terrain.below(centre.x, centre.y)
    normal = patch.axes().matrix.T.rows[2]
    return (centre.z - patch.height) * normal.z, normal, patch.friction

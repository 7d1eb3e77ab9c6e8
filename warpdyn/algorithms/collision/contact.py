"""A shape in the world, and a contact between two shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.constant_values import as_constants
from ...algebra.rotations import as_matrix
from ...algebra.scalar import Scalar, maximum, minimum, rsqrt, select_less
from ...algebra.spatial import Placement, Vector

FAR = 1e3
"""Gap of a contact that does not exist, for example the second contact of two crossed capsules
[m]."""

NONE = -1.0
"""Feature of a contact that does not exist."""

UPWARDS = Vector(0.0, 0.0, 1.0)
"""Normal where two shapes define none, such as two spheres with one centre."""

COINCIDENT = 1e-20
"""Squared distance of two points below which they define no direction [m^2]."""

POINTS = {
    ("sphere", "sphere"): 1,
    ("plane", "sphere"): 1,
    ("plane", "capsule"): 2,
    ("sphere", "capsule"): 1,
    ("capsule", "capsule"): 2,
    ("sphere", "box"): 1,
    ("plane", "box"): 4,
    ("capsule", "box"): 2,
    ("box", "box"): 4,
    ("plane", "mesh"): 4,
    ("mesh", "sphere"): 1,
    ("mesh", "capsule"): 2,
    ("mesh", "box"): 4,
    ("mesh", "mesh"): 4,
}
"""The number of contacts of two kinds of shapes."""


@dataclass(frozen=True)
class Contact:
    """A point where two shapes touch, or would touch first.

    `gap`: distance of the two surfaces along the normal, negative inside [m]. `position`: the
    midpoint between the two surfaces, in world axes [m]. `normal`: unit vector from the first shape
    to the second, in world axes. `feature`: the number of the corner, edge or clipped point that
    touches. It is the same from step to step while the same features touch.
    """

    gap: Scalar
    position: Vector
    normal: Vector
    feature: Scalar

    def in_other_order(self) -> Contact:
        """The same contact with the shapes in the other order."""
        return Contact(self.gap, self.position, -self.normal, self.feature)


@dataclass(frozen=True)
class ShapeAt:
    """A shape at a placement in the world.

    `kind` and `size` [m]: "sphere": (radius,). "capsule": (radius, half length along z, without the
    caps). "box": half lengths (x, y, z). "plane": (), the half space below z = 0 of its own frame.
    "mesh": (), the convex hull of `vertices`. Numbers of the size and of the placement may be
    symbols.
    """

    kind: str
    size: tuple[Scalar, ...]
    placement: Placement
    vertices: tuple[tuple[Scalar, Scalar, Scalar], ...] = ()

    @property
    def centre(self) -> Vector:
        """The origin of the shape's frame in the world."""
        return self.placement.p

    @property
    def axes(self) -> tuple[Vector, Vector, Vector]:
        """The axes of the shape's frame in the world."""
        return as_matrix(self.placement.R).matrix.T.rows


def clamp(x: Scalar, bound: Scalar) -> Scalar:
    """x clamped to [-bound, bound]."""
    return maximum(minimum(x, bound), -bound)


def choose(x: Scalar, y: Scalar, if_less: Vector, otherwise: Vector) -> Vector:
    """`select_less` of vectors."""
    pairs = zip(if_less, otherwise, strict=True)
    return Vector(*(select_less(x, y, u, w) for u, w in pairs))


def constant(x: Vector) -> Vector:
    """The same vector without derivatives."""
    return Vector(*as_constants([*x]))


def side(x: Scalar) -> Scalar:
    """-1 if x < 0, else 1: a sign that is never zero."""
    return select_less(x, 0.0, -1.0, 1.0)


def inverse(x: Scalar, least: float) -> Scalar:
    """1 / x, or 1 / least with the sign of x where |x| < least."""
    return 1.0 / select_less(x, 0.0, minimum(x, -least), maximum(x, least))


def direction(d: Vector, otherwise: Vector = UPWARDS) -> tuple[Scalar, Vector]:
    """Length of a vector, and the unit vector along it. `otherwise` where it has no length."""
    square = d.dot(d)
    reciprocal = rsqrt(maximum(square, COINCIDENT))
    return square * reciprocal, choose(COINCIDENT, square, d * reciprocal, otherwise)


def between_points(
    p: Vector,
    r_p: Scalar,
    q: Vector,
    r_q: Scalar,
    otherwise: Vector = UPWARDS,
    feature: Scalar = 0.0,
) -> Contact:
    """The contact of two spheres of radii r_p and r_q about p and q, the normal from p to q:
    `otherwise` if p is q."""
    distance, normal = direction(q - p, otherwise)
    gap = distance - (r_p + r_q)
    return Contact(gap, p + normal * (r_p + 0.5 * gap), normal, feature)


def if_exists(exists: Scalar, contact: Contact) -> Contact:
    """The contact if `exists` is 1. If it is 0, one that is far away and has no feature."""
    gap, feature = (
        select_less(0.5, exists, x, y) for x, y in ((contact.gap, FAR), (contact.feature, NONE))
    )
    return Contact(gap, contact.position, contact.normal, feature)


def choose_contact(x: Scalar, y: Scalar, if_less: Contact, otherwise: Contact) -> Contact:
    """`select_less` of contacts."""
    return Contact(
        select_less(x, y, if_less.gap, otherwise.gap),
        choose(x, y, if_less.position, otherwise.position),
        choose(x, y, if_less.normal, otherwise.normal),
        select_less(x, y, if_less.feature, otherwise.feature),
    )


def dot(coefficients: Sequence[Scalar], vectors: Sequence[Vector]) -> Vector:
    """The sum of vectors with coefficients."""
    total = vectors[0] * coefficients[0]
    for c, u in zip(coefficients[1:], vectors[1:], strict=True):
        total = total + u * c
    return total


def pair_of_kinds(kind_a: str, kind_b: str) -> tuple[tuple[str, str], bool]:
    """Two kinds of shapes in the order of `POINTS`, and true if that is the other order."""
    if (kind_a, kind_b) in POINTS:
        return (kind_a, kind_b), False
    if (kind_b, kind_a) in POINTS:
        return (kind_b, kind_a), True
    pairs = ", ".join(f"{first} and {second}" for first, second in POINTS)
    raise ValueError(
        f"there is no narrow phase for {kind_a} and {kind_b}. These pairs have one: {pairs}."
    )


def points_of(kind_a: str, kind_b: str) -> int:
    """The number of contacts of two kinds of shapes."""
    kinds, _ = pair_of_kinds(kind_a, kind_b)
    return POINTS[kinds]

"""Contacts of a box with a sphere and with a plane."""

from __future__ import annotations

from ...algebra.scalar import Scalar, absolute, maximum, minimum, rsqrt, select_less
from ...algebra.spatial import Vector
from .clipped_face import face_of
from .contact import Contact, ShapeAt, choose, clamp, side

ON_THE_SURFACE = 1e-13
"""Squared distance from a box below which a point counts as inside [m^2]."""


def sphere_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contact of a sphere and a box."""
    x = b.placement.R.to_child(a.centre - b.centre)
    distance, outwards = distance_from_box(x, b.size)
    normal = -b.placement.R.to_parent(outwards)
    gap = distance - a.size[0]
    return [Contact(gap, a.centre + normal * (a.size[0] + 0.5 * gap), normal, 0.0)]


def distance_from_box(x: Vector, half: tuple[Scalar, ...]) -> tuple[Scalar, Vector]:
    """Distance of a point from a box, and the direction from the box to it, in the box's axes.

    Inside, the distance is negative: that of the nearest face.
    """
    square, distance, direction = beyond_box(x, half)
    depth_x, depth_y, depth_z = (h - absolute(p) for p, h in zip(x, half, strict=True))
    least = minimum(depth_x, minimum(depth_y, depth_z))
    # The first of equally near faces.
    along_z = Vector(0.0, 0.0, side(x.z))
    along_yz = choose(least, depth_y, along_z, Vector(0.0, side(x.y), 0.0))
    inside = choose(least, depth_x, along_yz, Vector(side(x.x), 0.0, 0.0))
    return (
        select_less(ON_THE_SURFACE, square, distance, -least),
        choose(ON_THE_SURFACE, square, direction, inside),
    )


def beyond_box(x: Vector, half: tuple[Scalar, ...]) -> tuple[Scalar, Scalar, Vector]:
    """Squared distance of a point outside a box, the distance, and the direction from the box to
    it. Inside the box the square is zero, and the direction is not a unit vector."""
    beyond = Vector(*(p - clamp(p, h) for p, h in zip(x, half, strict=True)))
    square = beyond.dot(beyond)
    reciprocal = rsqrt(maximum(square, ON_THE_SURFACE))
    return square, square * reciprocal, beyond * reciprocal


def plane_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of a plane and the four corners of the lowest face of a box.

    Among them is the lowest corner. They are always in the same order, so that the sweeps of a
    resting box do not change from step to step.
    """
    up = a.axes[2]
    rises = [up.dot(axis) * half for axis, half in zip(b.axes, b.size, strict=True)]
    shares = [absolute(rise) for rise in rises]
    largest = maximum(shares[0], maximum(shares[1], shares[2]))
    down = [-rise for rise in rises]
    face = face_of(b.axes, b.size, [largest - share for share in shares], down)
    middle = b.centre + face.normal * face.half[0]
    x, y = face.x * face.half[1], face.y * face.half[2]
    found = []
    for k, (sign_x, sign_y) in enumerate(((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))):
        corner = middle + x * sign_x + y * sign_y
        gap = up.dot(corner - a.centre)
        found.append(Contact(gap, corner - up * (0.5 * gap), up, 4.0 * face.number + k))
    return found

"""Contacts of spheres and capsules with each other and with planes.

A capsule is a sphere of its radius about each point of a segment. The contact of two such shapes is
that of the spheres about the closest points of the segments.
"""

from __future__ import annotations

from ...algebra.rotations import axes_about
from ...algebra.scalar import Scalar, absolute, maximum, minimum, rsqrt, select_less
from ...algebra.spatial import Vector
from .contact import Contact, ShapeAt, between_points, choose, choose_contact, clamp, if_exists

NEARLY_CLOSEST = 5e-7
"""The closest points of two axes are not a contact if an end of the overlap is as close up to this
[m]."""

CROSSED = 0.03
"""Squared sine of the angle of two capsules, 10 degrees, above which they touch in one point."""

CUTTING = 1e-12
"""Squared sine of the angle of two capsules below which no direction is across both."""

ONE_POINT = 1e-6
"""Length of an overlap below which two shapes touch in one point [m]."""

PARALLEL = 1e-20
"""The least squared sine of an angle that is divided by."""


def sphere_sphere(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contact of two spheres."""
    return [between_points(a.centre, a.size[0], b.centre, b.size[0])]


def plane_sphere(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contact of a plane and a sphere."""
    return [_below(a, b.centre, b.size[0], 0.0)]


def plane_capsule(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of a plane and the two ends of a capsule."""
    radius, half = b.size
    along = b.axes[2] * half
    return [_below(a, b.centre - along, radius, 0.0), _below(a, b.centre + along, radius, 1.0)]


def sphere_capsule(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contact of a sphere and a capsule."""
    radius, half = b.size
    axis = b.axes[2]
    nearest = b.centre + axis * clamp(axis.dot(a.centre - b.centre), half)
    return [between_points(a.centre, a.size[0], nearest, radius, across(axis))]


def capsule_capsule(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Two contacts of two capsules, at the ends of their overlap or at the closest points of their
    axes.

    Nearly parallel capsules touch at both ends, so that one can rest on the other. Crossed capsules
    have one contact.
    """
    (r_a, h_a), (r_b, h_b) = a.size, b.size
    u, w, d = a.axes[2], b.axes[2], b.centre - a.centre
    cosine, crossed = u.dot(w), u.cross(w)
    square = crossed.dot(crossed)
    # The shortest way out of axes that cut each other is across both.
    out = choose(CUTTING, square, crossed * rsqrt(maximum(square, CUTTING)), across(u))

    def at(s: Scalar, feature: float) -> Contact:
        t = clamp(s * cosine - d.dot(w), h_b)
        return between_points(a.centre + u * s, r_a, b.centre + w * t, r_b, out, feature)

    # The capsules overlap along a's axis where the projection of b's axis does.
    middle, reach = d.dot(u), h_b * absolute(cosine)
    low = clamp(maximum(middle - reach, -h_a), h_a)
    high = clamp(minimum(middle + reach, h_a), h_a)
    s, t = closest_on_segments(d, u, h_a, w, h_b)
    closest = between_points(a.centre + u * s, r_a, b.centre + w * t, r_b, out, 2.0)
    first, last = at(low, 0.0), at(high, 1.0)
    steep = select_less(square, CROSSED, 0.0, 1.0)
    only = select_less(ONE_POINT, high - low, steep, 1.0)
    return ends_or_closest(first, last, closest, only, s - low, high - s)


def ends_or_closest(
    first: Contact,
    last: Contact,
    closest: Contact,
    only: Scalar,
    from_first: Scalar,
    to_last: Scalar,
) -> list[Contact]:
    """Contacts at the two ends of an overlap, each in its place. The closest points take the place
    of the nearer end if they are closer than both ends, and are the only contact if `only` is 1.

    `from_first`, `to_last`: distances of the closest points from the ends.
    """
    # Without a margin, points that are anywhere between two equally close ends would count.
    limit = minimum(first.gap, last.gap) - NEARLY_CLOSEST
    closer = select_less(closest.gap, limit, 1.0, 0.0)
    at_first = maximum(select_less(from_first, to_last, closer, 0.0), only)
    at_last = select_less(from_first, to_last, 0.0, closer)
    return [
        choose_contact(0.5, at_first, closest, first),
        if_exists(1.0 - only, choose_contact(0.5, at_last, closest, last)),
    ]


def across(u: Vector) -> Vector:
    """A unit vector orthogonal to the unit vector u."""
    return axes_about(u).matrix.T.rows[0]


def closest_on_segments(
    d: Vector, u: Vector, h_u: Scalar, w: Vector, h_w: Scalar
) -> tuple[Scalar, Scalar]:
    """Coordinates along unit axes u and w of the closest points of two segments of half lengths h_u
    and h_w, the centre of the second at d from that of the first.

    Ericson, Real-Time Collision Detection (2005), section 5.1.9. The quotient is in cross products,
    which keep their digits when the segments are nearly parallel.
    """
    crossed, cosine = u.cross(w), u.dot(w)
    s = d.cross(w).dot(crossed) / maximum(crossed.dot(crossed), PARALLEL)
    s = clamp(s, h_u)
    t = clamp(s * cosine - d.dot(w), h_w)
    s = clamp(t * cosine + d.dot(u), h_u)
    return s, t


def _below(plane: ShapeAt, p: Vector, radius: Scalar, feature: float) -> Contact:
    """The contact of a plane and a sphere about p."""
    normal = plane.axes[2]
    gap = normal.dot(p - plane.centre) - radius
    return Contact(gap, p - normal * (radius + 0.5 * gap), normal, feature)

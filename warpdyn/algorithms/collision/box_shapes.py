"""Contacts of a box with a sphere and with a plane."""

from __future__ import annotations

from ...algebra.scalar import Scalar, absolute, maximum, minimum, rsqrt, select_less
from ...algebra.spatial import Vector
from .contact import Contact, ShapeAt, choose, clamp, dot, side

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
    it. Inside the box the square is zero, and the direction is no unit vector."""
    beyond = Vector(*(p - clamp(p, h) for p, h in zip(x, half, strict=True)))
    square = beyond.dot(beyond)
    reciprocal = rsqrt(maximum(square, ON_THE_SURFACE))
    return square, square * reciprocal, beyond * reciprocal


def plane_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of a plane and the four lowest corners of a box.

    The lowest corner is on the lower side of each axis. A move to the other end of an edge raises
    it by twice the edge's share of the height. The next corners are therefore beyond the two edges
    with the smaller shares, and the fourth is beyond both of these or beyond the third edge.
    """
    up = a.axes[2]
    edges = [axis * half for axis, half in zip(b.axes, b.size, strict=True)]
    rises = [up.dot(edge) for edge in edges]
    # From the lowest corner, each edge leads upwards.
    upwards = [edge * side(rise) for edge, rise in zip(edges, rises, strict=True)]
    x, y, z = (absolute(rise) for rise in rises)
    lowest = b.centre - dot((1.0, 1.0, 1.0), upwards)
    height = up.dot(b.centre - a.centre) - (x + y + z)
    number = sum(
        (
            select_less(rise, 0.0, bit, 0.0)
            for bit, rise in zip((1.0, 2.0, 4.0), rises, strict=True)
        ),
        0.0,
    )
    # A step along an edge: rise, vector, change of the corner's number.
    steps = [
        (2.0 * share, edge * 2.0, select_less(rise, 0.0, -bit, bit))
        for share, edge, rise, bit in zip((x, y, z), upwards, rises, (1.0, 2.0, 4.0), strict=True)
    ]
    first, second, steepest = _steepest_last(steps, x, y, z)
    both = tuple(p + q for p, q in zip(first, second, strict=True))
    fourth = _choose_step(steepest[0], both[0], steepest, both)
    none = (0.0, Vector(0.0, 0.0, 0.0), 0.0)
    found = []
    for rise, move, change in (none, first, second, fourth):
        gap = height + rise
        found.append(Contact(gap, lowest + move - up * (0.5 * gap), up, number + change))
    return found


def _steepest_last(steps: list, x: Scalar, y: Scalar, z: Scalar) -> tuple:
    """Three steps of shares x, y, z, the one with the largest share last."""
    along_x, along_y, along_z = steps
    larger = maximum(x, y)
    # z is exchanged with the larger of x and y where that is larger.
    first = _choose_step(z, larger, _choose_step(y, x, along_z, along_x), along_x)
    second = _choose_step(z, larger, _choose_step(y, x, along_y, along_z), along_y)
    last = _choose_step(z, larger, _choose_step(y, x, along_x, along_y), along_z)
    return first, second, last


def _choose_step(x: Scalar, y: Scalar, if_less: tuple, otherwise: tuple) -> tuple:
    """`select_less` of steps along edges."""
    return (
        select_less(x, y, if_less[0], otherwise[0]),
        choose(x, y, if_less[1], otherwise[1]),
        select_less(x, y, if_less[2], otherwise[2]),
    )

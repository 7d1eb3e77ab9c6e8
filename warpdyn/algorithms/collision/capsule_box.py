"""Contacts of a capsule and a box."""

from __future__ import annotations

from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, rsqrt, select_less
from ...algebra.spatial import Vector
from .box_shapes import ON_THE_SURFACE, beyond_box
from .contact import Contact, ShapeAt, choose, clamp, dot, inverse, side
from .round_shapes import ONE_POINT, closest_on_segments, ends_or_closest

LEAST_SLOPE = 1e-6
"""Component of a capsule's axis along an axis of the box below which it is along the two faces
there. float32 has a round-off of 6e-8 in it."""

NOWHERE = 1e9
"""Coordinate at which a segment along a plane meets the plane, behind or ahead [m]."""

FLAT = 1e-12
"""The least difference of two slopes that is divided by [m]."""

PARALLEL = 1e-12
"""Squared sine of the angle of the capsule and an edge below which they have no common normal."""

ACROSS = 0.5
"""Component of the normal along an axis of the box below which it counts as across the axis."""

UNIT = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))


class Segment(NamedTuple):
    """The axis of a capsule in the axes of a box: centre, unit vector, half length."""

    centre: Vector
    along: Vector
    half: Scalar

    def at(self, s: Scalar) -> Vector:
        """The point at the coordinate s."""
        return self.centre + self.along * s


class WayOut(NamedTuple):
    """The shortest way of an axis out of a box: separation, outward normal, coordinate of the
    point of the axis that is deepest."""

    separation: Scalar
    normal: Vector
    s: Scalar


def capsule_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Two contacts of a capsule and a box, at the ends of the overlap of the capsule's axis or at
    its closest point.

    A capsule that lies on a face touches it at both ends of the overlap.
    """
    (radius, length), half = a.size, b.size
    R = b.placement.R
    axis = Segment(R.to_child(a.centre - b.centre), R.to_child(a.axes[2]), length)
    s, out = closest_to_box(axis, half), _way_out(axis, half)
    square, distance, outwards = beyond_box(axis.at(s), half)
    # An axis that cuts the box touches where it is deepest.
    s = select_less(ON_THE_SURFACE, square, s, out.s)
    gap = select_less(ON_THE_SURFACE, square, distance, out.separation) - radius
    normal = choose(ON_THE_SURFACE, square, outwards, out.normal)
    closest = _of_surface(axis.at(s), radius, gap, normal, 2.0)
    low, high = _overlap(axis, half, normal)

    def contact(s: Scalar, feature: float) -> Contact:
        x = axis.at(s)
        square, distance, direction = beyond_box(x, half)
        depth = out.normal.dot(x) - _reach(half, out.normal)
        gap = select_less(ON_THE_SURFACE, square, distance, depth) - radius
        normal = choose(ON_THE_SURFACE, square, direction, out.normal)
        return _of_surface(x, radius, gap, normal, feature)

    first, last = contact(low, 0.0), contact(high, 1.0)
    only = select_less(ONE_POINT, high - low, 0.0, 1.0)
    found = ends_or_closest(first, last, closest, only, s - low, high - s)
    return [_in_world(c, b) for c in found]


def _of_surface(x: Vector, radius: Scalar, gap: Scalar, normal: Vector, feature: float) -> Contact:
    """The contact of a sphere about x, the normal from the box to it."""
    return Contact(gap, x - normal * (radius + 0.5 * gap), normal, feature)


def _reach(half: tuple[Scalar, ...], n: Vector) -> Scalar:
    """How far a box reaches along n from its centre."""
    return sum(absolute(x) * h for x, h in zip(n, half, strict=True))


def _in_world(c: Contact, box: ShapeAt) -> Contact:
    """A contact in the axes of the box with the outward normal, in the world with the opposite
    one."""
    position = box.placement.point_to_parent(c.position)
    return Contact(c.gap, position, -box.placement.R.to_parent(c.normal), c.feature)


def closest_to_box(axis: Segment, half: tuple[Scalar, ...]) -> Scalar:
    """Coordinate of a point of the segment with the least distance from a box.

    Half the squared distance is convex along the segment. Its slope grows along straight lines
    between the coordinates where the segment crosses the planes of the faces. Between the last of
    these with a slope of at most zero and the first with a slope of at least zero, it is zero.
    """
    low, high = -axis.half, axis.half
    at_low, at_high = _slope(axis, half, low), _slope(axis, half, high)
    ends = ((low, at_low), (high, at_high))
    crossings = [s for pair in _crossings(axis, half) for s in pair]
    inner = [clamp(s, axis.half) for s in crossings]
    for s, slope in (*((s, _slope(axis, half, s)) for s in inner), *ends):
        # Negative slopes come first along the segment.
        before = select_less(0.0, slope, low, maximum(low, s))
        after = select_less(slope, 0.0, high, minimum(high, s))
        at_low = select_less(low, before, slope, at_low)
        at_high = select_less(after, high, slope, at_high)
        low, high = before, after
    # The slope has no zero where the closest point is an end. The share is then 0 or 1, with no
    # derivative: a quotient by FLAT would have one of any size.
    share = minimum(maximum(-at_low / maximum(at_high - at_low, FLAT), 0.0), 1.0)
    return low + share * (high - low)


def _slope(axis: Segment, half: tuple[Scalar, ...], s: Scalar) -> Scalar:
    """Derivative of half the squared distance from the box by s."""
    beyond = [x - clamp(x, h) for x, h in zip(axis.at(s), half, strict=True)]
    return axis.along.dot(Vector(*beyond))


def _crossings(axis: Segment, half: tuple[Scalar, ...]) -> list[tuple[Scalar, Scalar]]:
    """For each axis of the box, the coordinates where the segment's line enters and leaves the
    space between its two faces. A line that is parallel to these faces crosses neither of them, so
    both coordinates are far away: a capsule parallel to an edge touches it along its length."""
    found = []
    for x, slope, h in zip(axis.centre, axis.along, half, strict=True):
        reciprocal, steepness = inverse(slope, LEAST_SLOPE), absolute(slope)
        s, t = (-h - x) * reciprocal, (h - x) * reciprocal
        enters, leaves = minimum(s, t), maximum(s, t)
        found.append(
            (
                select_less(steepness, LEAST_SLOPE, -NOWHERE, enters),
                select_less(steepness, LEAST_SLOPE, NOWHERE, leaves),
            )
        )
    return found


def _overlap(axis: Segment, half: tuple[Scalar, ...], n: Vector) -> tuple[Scalar, Scalar]:
    """The part of the segment over the face or along the edge that has the normal n: between the
    two faces of each axis across the normal."""
    low, high = -axis.half, axis.half
    for x, (enters, leaves) in zip(n, _crossings(axis, half), strict=True):
        low = select_less(absolute(x), ACROSS, maximum(low, enters), low)
        high = select_less(absolute(x), ACROSS, minimum(high, leaves), high)
    return clamp(low, axis.half), clamp(high, axis.half)


def _way_out(axis: Segment, half: tuple[Scalar, ...]) -> WayOut:
    """The axis of least overlap of a segment and a box: the normals of the faces, and those of the
    segment and an edge."""
    best = WayOut(-1e9, UNIT[0], 0.0)
    for k in range(3):
        x, slope = [*axis.centre][k], [*axis.along][k]
        sign = side(x)
        separation = absolute(x) - half[k] - axis.half * absolute(slope)
        deepest = -axis.half * side(slope * sign)
        best = _farther(best, WayOut(separation, UNIT[k] * sign, deepest))
    for k in range(3):
        across = UNIT[k].cross(axis.along)
        square = across.dot(across)
        reciprocal = rsqrt(maximum(square, PARALLEL))
        normal = across * (reciprocal * side(across.dot(axis.centre)))
        reaches = [side(n) * h for n, h in zip(normal, half, strict=True)]
        reaches[k] = 0.0
        edge = dot(reaches, UNIT)
        separation = normal.dot(axis.centre - edge)
        _, s = closest_on_segments(axis.centre - edge, UNIT[k], half[k], axis.along, axis.half)
        separation = select_less(PARALLEL, square, separation, -1e9)
        best = _farther(best, WayOut(separation, normal, s))
    return best


def _farther(a: WayOut, b: WayOut) -> WayOut:
    """The way out with the larger separation, which is the shorter one."""
    return WayOut(
        maximum(a.separation, b.separation),
        choose(a.separation, b.separation, b.normal, a.normal),
        select_less(a.separation, b.separation, b.s, a.s),
    )

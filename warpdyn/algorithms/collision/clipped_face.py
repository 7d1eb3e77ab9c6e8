"""Contacts of two faces of boxes: the incident face is clipped to the reference face, and four points of
the polygon are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, select_less
from ...algebra.spatial import Vector
from .contact import Contact, clamp, if_exists, inverse, side

ROOM = 1.00001
"""Factor on the reference face for clipping: corners of equal faces that lie on each other are
inside."""

LEAST_SLOPE = 1e-9
"""The least component of a unit vector that is divided by."""

TIE = 2e-6
"""Slope along the reference face by which one of equally deep points is the first."""

SAME_POINT = 1e-6
"""Share of a length or area below which a further point of the polygon is no point of its own."""

NOT_INSIDE = -1e6
"""The score of a point that is not on the polygon."""


class Face(NamedTuple):
    """A face of a box: outward normal, two axes along it, half lengths along the three, and the
    number of the axis."""

    normal: Vector
    x: Vector
    y: Vector
    half: tuple[Scalar, Scalar, Scalar]
    number: Scalar


class FacePoint(NamedTuple):
    """A point on the reference face: coordinates [m], 1 if it is on the polygon else 0, number."""

    x: Scalar
    y: Scalar
    inside: Scalar
    number: Scalar


class _IncidentPlane(NamedTuple):
    """The incident face over the reference face: its middle, and its height and slopes."""

    x: Scalar
    y: Scalar
    z: Scalar
    by_x: Scalar
    by_y: Scalar

    def height(self, x: Scalar, y: Scalar) -> Scalar:
        return self.z + (x - self.x) * self.by_x + (y - self.y) * self.by_y


def face_of(
    axes: Sequence[Vector],
    half: Sequence[Scalar],
    behind: Sequence[Scalar],
    towards: Sequence[Scalar],
) -> Face:
    """The face of a box on the first axis whose number in `behind` is zero, on the side of the sign
    in `towards`."""

    def pick(values: Sequence[Scalar]) -> Scalar:
        rest = select_less(0.0, behind[1], values[2], values[1])
        return select_less(0.0, behind[0], rest, values[0])

    def pick_vector(values: Sequence[Vector]) -> Vector:
        return Vector(*(pick(entries) for entries in zip(*values, strict=True)))

    def turned(values: Sequence, k: int) -> list:
        return [*values[k:], *values[:k]]

    return Face(
        pick_vector(axes) * side(pick(towards)),
        pick_vector(turned(axes, 1)),
        pick_vector(turned(axes, 2)),
        (pick(half), pick(turned(half, 1)), pick(turned(half, 2))),
        pick((0.0, 1.0, 2.0)),
    )


def face_contacts(
    reference: Face,
    incident: Face,
    centre: Vector,
    between: Vector,
    separation: Scalar,
    number: Scalar,
) -> list[Contact]:
    """Four contacts of two faces, the normal that of the reference.

    `centre`: of the reference box. `between`: from it to the centre of the other box. `separation`:
    of the boxes along the normal. `number`: added to the number of a point of the polygon.
    """
    n, e, g = reference.normal, reference.x, reference.y
    middle = between + incident.normal * incident.half[0]
    u, w = (Vector(axis.dot(e), axis.dot(g), axis.dot(n)) for axis in (incident.x, incident.y))
    x, y, z = middle.dot(e), middle.dot(g), middle.dot(n) - reference.half[0]
    # The incident face is the one most against the normal, so that this determinant is at least
    # 1 / sqrt(3).
    reciprocal = inverse(u.x * w.y - w.x * u.y, 0.1)
    by_x, by_y = (u.z * w.y - w.z * u.y) * reciprocal, (u.x * w.z - w.x * u.z) * reciprocal
    plane = _IncidentPlane(x, y, z, by_x, by_y)
    points = _clipped_edges(reference, incident, plane, u, w)
    points += _corners_inside(reference, incident, plane, u, w, reciprocal)
    chosen = _four_points(points, plane, _deepest_corner(reference, incident, plane, u, w))
    contacts = []
    for point in chosen:
        height = plane.height(point.x, point.y)
        at = centre + n * (reference.half[0] + 0.5 * height) + e * point.x + g * point.y
        contact = Contact(height, at, n, number + point.number)
        contacts.append(if_exists(point.inside, contact))
    # The height of the deepest point is the separation. Boxes that are apart need not have such a
    # point on the polygon, nor a polygon.
    first = chosen[0]
    contacts[0] = Contact(separation, contacts[0].position, n, number + first.number)
    return contacts


def _clipped_edges(
    reference: Face, incident: Face, plane: _IncidentPlane, u: Vector, w: Vector
) -> list[FacePoint]:
    """Ends of the four edges of the incident face inside the reference face.

    Liang and Barsky, A new concept and method for line clipping, ACM Transactions on Graphics 3
    (1984). The edges go round, and the end of one is the start of the next: an end counts if it is
    not a corner.
    """
    half_x, half_y = reference.half[1] * ROOM, reference.half[2] * ROOM
    _, h_u, h_w = incident.half
    points: list[FacePoint] = []
    for k, (along, across, h_along, h_across) in enumerate(
        ((u, -w, h_u, h_w), (w, u, h_w, h_u), (-u, w, h_u, h_w), (-w, -u, h_w, h_u))
    ):
        x, y = plane.x + across.x * h_across, plane.y + across.y * h_across
        low_x, high_x = _inside(x, along.x, half_x)
        low_y, high_y = _inside(y, along.y, half_y)
        low = maximum(-h_along, maximum(low_x, low_y))
        high = minimum(h_along, minimum(high_x, high_y))
        there = select_less(high, low, 0.0, 1.0)
        ends = select_less(high, h_along, there, 0.0)
        points += [
            FacePoint(x + along.x * low, y + along.y * low, there, 2.0 * k),
            FacePoint(x + along.x * high, y + along.y * high, ends, 2.0 * k + 1.0),
        ]
    return points


def _inside(x: Scalar, slope: Scalar, half: Scalar) -> tuple[Scalar, Scalar]:
    """Interval of s in which |x + slope s| <= half."""
    reciprocal = inverse(slope, LEAST_SLOPE)
    s, t = (-half - x) * reciprocal, (half - x) * reciprocal
    return minimum(s, t), maximum(s, t)


def _corners_inside(
    reference: Face, incident: Face, plane: _IncidentPlane, u: Vector, w: Vector, reciprocal: Scalar
) -> list[FacePoint]:
    """Corners of the reference face inside the incident face."""
    _, h_x, h_y = reference.half
    _, h_u, h_w = incident.half
    points = []
    for k, (sign_x, sign_y) in enumerate(((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))):
        x, y = h_x * sign_x, h_y * sign_y
        along_u = absolute(((x - plane.x) * w.y - (y - plane.y) * w.x) * reciprocal)
        along_w = absolute(((y - plane.y) * u.x - (x - plane.x) * u.y) * reciprocal)
        inside = select_less(along_u * ROOM, h_u, select_less(along_w * ROOM, h_w, 1.0, 0.0), 0.0)
        points.append(FacePoint(x, y, inside, 8.0 + k))
    return points


def _deepest_corner(
    reference: Face, incident: Face, plane: _IncidentPlane, u: Vector, w: Vector
) -> FacePoint:
    """The lowest corner of the incident face, moved to the reference face, in case of no polygon."""
    _, h_u, h_w = incident.half
    s, t = -side(u.z) * h_u, -side(w.z) * h_w
    x, y = plane.x + u.x * s + w.x * t, plane.y + u.y * s + w.y * t
    return FacePoint(clamp(x, reference.half[1]), clamp(y, reference.half[2]), 0.0, 12.0)


def _four_points(
    points: list[FacePoint], plane: _IncidentPlane, otherwise: FacePoint
) -> list[FacePoint]:
    """The deepest point of a polygon, the one farthest from it, and the two farthest from the line
    through these on its two sides."""

    def depth(p: FacePoint) -> Scalar:
        return p.x * (TIE - plane.by_x) + p.y * (0.9 * TIE - plane.by_y)

    first = _highest(points, depth, otherwise)

    def square_from_first(p: FacePoint) -> Scalar:
        return _square(p.x - first.x, p.y - first.y)

    second = _highest(points, square_from_first, first)
    a, b = second.x - first.x, second.y - first.y
    length = _square(a, b)

    def area(p: FacePoint) -> Scalar:
        return a * (p.y - first.y) - b * (p.x - first.x)

    third = _highest(points, area, first)
    fourth = _highest(points, lambda p: -area(p), first)
    least = SAME_POINT * length
    return [
        first,
        _if_positive(second, length - SAME_POINT * SAME_POINT),
        _if_positive(third, area(third) - least),
        _if_positive(fourth, -area(fourth) - least),
    ]


def _highest(points: list[FacePoint], score, otherwise: FacePoint) -> FacePoint:
    """The point on the polygon with the highest score, the first of equal ones."""
    best, highest = otherwise, NOT_INSIDE
    for p in points:
        value = select_less(0.5, p.inside, score(p), NOT_INSIDE)
        best = FacePoint(*(select_less(highest, value, x, y) for x, y in zip(p, best, strict=True)))
        highest = maximum(highest, value)
    return best


def _if_positive(point: FacePoint, x: Scalar) -> FacePoint:
    """The point, which is on the polygon only if x > 0."""
    return FacePoint(point.x, point.y, select_less(0.0, x, point.inside, 0.0), point.number)


def _square(x: Scalar, y: Scalar) -> Scalar:
    return x * x + y * y

"""Contacts of two faces of boxes: the incident face is clipped to the reference face, and four points of
the polygon are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, select_less
from ...algebra.spatial import Vector
from .contact import Contact, clamp, if_exists, inverse, side
from .four_points import Candidate, four_points

ROOM = 1.00001
"""Factor on the reference face for clipping: corners of equal faces that lie on each other are
inside."""

LEAST_SLOPE = 1e-9
"""The least component of a unit vector that is divided by."""


class Face(NamedTuple):
    """A face of a box: outward normal, two axes along it, half lengths along the three, and the
    number of the axis."""

    normal: Vector
    x: Vector
    y: Vector
    half: tuple[Scalar, Scalar, Scalar]
    number: Scalar


class _Incident(NamedTuple):
    """The incident face over the reference face, in the axes of the latter: its middle, the axes u
    and w along it, their half lengths, and the reciprocal of the determinant of u and w in the
    plane."""

    middle: Vector
    u: Vector
    w: Vector
    half_u: Scalar
    half_w: Scalar
    reciprocal: Scalar

    def along(self, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        """Coordinates along u and w of the face's point over (x, y)."""
        x, y = x - self.middle.x, y - self.middle.y
        u, w = self.u, self.w
        return (x * w.y - y * w.x) * self.reciprocal, (y * u.x - x * u.y) * self.reciprocal

    def height(self, x: Scalar, y: Scalar) -> Scalar:
        """Height of the face's point over (x, y)."""
        s, t = self.along(x, y)
        return self.middle.z + s * self.u.z + t * self.w.z


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
    face = _over(reference, incident, between)
    points = [*_clipped_edges(reference, face), *_corners_inside(reference, face)]
    contacts = []
    for point in four_points(points, _lowest_corner(reference, face)):
        up = n * (reference.half[0] + 0.5 * point.height)
        at = centre + up + e * point.x + g * point.y
        contact = Contact(point.height, at, n, number + point.number)
        contacts.append(if_exists(point.exists, contact) if contacts else contact)
    # The height of the deepest point is the separation. Boxes that are apart need not have such a
    # point on the polygon, nor a polygon.
    return [replace(contacts[0], gap=separation), *contacts[1:]]


def _over(reference: Face, incident: Face, between: Vector) -> _Incident:
    """The incident face in the axes of the reference face."""
    n, e, g = reference.normal, reference.x, reference.y
    middle = between + incident.normal * incident.half[0]
    u, w = (Vector(axis.dot(e), axis.dot(g), axis.dot(n)) for axis in (incident.x, incident.y))
    over = Vector(middle.dot(e), middle.dot(g), middle.dot(n) - reference.half[0])
    # The incident face is the one most against the normal, so that this determinant is at least
    # 1 / sqrt(3).
    reciprocal = inverse(u.x * w.y - w.x * u.y, 0.1)
    return _Incident(over, u, w, incident.half[1], incident.half[2], reciprocal)


def _clipped_edges(reference: Face, face: _Incident) -> list[Candidate]:
    """Ends of the four edges of the incident face inside the reference face.

    Liang and Barsky, A new concept and method for line clipping, ACM Transactions on Graphics 3
    (1984). The edges go round, and the end of one is the start of the next: an end counts if it is
    not a corner.
    """
    half_x, half_y = reference.half[1] * ROOM, reference.half[2] * ROOM
    u, w = face.u * face.half_u, face.w * face.half_w
    # The middle of an edge from the middle of the face, the direction, and the half length.
    edges = (
        (-w, face.u, face.half_u),
        (u, face.w, face.half_w),
        (w, -face.u, face.half_u),
        (-u, -face.w, face.half_w),
    )
    points: list[Candidate] = []
    for k, (across, along, half) in enumerate(edges):
        middle = face.middle + across
        low_x, high_x = _inside(middle.x, along.x, half_x)
        low_y, high_y = _inside(middle.y, along.y, half_y)
        low = maximum(-half, maximum(low_x, low_y))
        high = minimum(half, minimum(high_x, high_y))
        cut = select_less(high, low, 0.0, 1.0)
        start, end = middle + along * low, middle + along * high
        points.append(Candidate(*start, cut, 2.0 * k))
        points.append(Candidate(*end, select_less(high, half, cut, 0.0), 2.0 * k + 1.0))
    return points


def _inside(x: Scalar, slope: Scalar, half: Scalar) -> tuple[Scalar, Scalar]:
    """Interval of s in which |x + slope s| <= half."""
    reciprocal = inverse(slope, LEAST_SLOPE)
    s, t = (-half - x) * reciprocal, (half - x) * reciprocal
    return minimum(s, t), maximum(s, t)


def _corners_inside(reference: Face, face: _Incident) -> list[Candidate]:
    """Corners of the reference face inside the incident face."""
    _, half_x, half_y = reference.half
    points = []
    for k, (sign_x, sign_y) in enumerate(((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))):
        x, y = half_x * sign_x, half_y * sign_y
        s, t = (absolute(c) * ROOM for c in face.along(x, y))
        inside = select_less(s, face.half_u, select_less(t, face.half_w, 1.0, 0.0), 0.0)
        points.append(Candidate(x, y, face.height(x, y), inside, 8.0 + k))
    return points


def _lowest_corner(reference: Face, face: _Incident) -> Candidate:
    """The lowest corner of the incident face, moved to the reference face, in case of no
    polygon."""
    s, t = -side(face.u.z) * face.half_u, -side(face.w.z) * face.half_w
    x, y, height = face.middle + face.u * s + face.w * t
    x, y = clamp(x, reference.half[1]), clamp(y, reference.half[2])
    return Candidate(x, y, height, 0.0, 12.0)

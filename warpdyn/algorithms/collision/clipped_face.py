"""Contacts of two faces of boxes: the incident face is clipped to the reference face, and four points of
the polygon are chosen, those that are farthest in four directions of the first box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, select_less
from ...algebra.spatial import Vector
from .contact import FAR, Contact, choose, clamp, inverse, side

ROOM = 1.00001
"""Factor on the reference face for clipping: corners of equal faces that lie on each other are
inside."""

LEAST_SLOPE = 1e-9
"""The least component of a unit vector that is divided by."""

DIRECTIONS = ((1.0, 0.9), (-0.9, 1.0), (-1.0, -0.9), (0.9, -1.0))
"""Directions along a face of the first box in which the four points are the farthest ones. They are
neither along the edges nor along the diagonals of a square, so that corners of aligned boxes do not
tie. They depend on the first box only, so that each contact keeps its place from step to step."""

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
    """A point on the reference face: coordinates [m], and 1 if it is on the polygon, else 0."""

    x: Scalar
    y: Scalar
    inside: Scalar


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

    def from_axis(values: Sequence, k: int) -> list:
        return [*values[k:], *values[:k]]

    return Face(
        pick_vector(axes) * side(pick(towards)),
        pick_vector(from_axis(axes, 1)),
        pick_vector(from_axis(axes, 2)),
        (pick(half), pick(from_axis(half, 1)), pick(from_axis(half, 2))),
        pick((0.0, 1.0, 2.0)),
    )


def choose_face(x: Scalar, y: Scalar, if_less: Face, otherwise: Face) -> Face:
    """`select_less` of faces."""
    pairs = zip(if_less.half, otherwise.half, strict=True)
    half_normal, half_x, half_y = (select_less(x, y, u, w) for u, w in pairs)
    return Face(
        choose(x, y, if_less.normal, otherwise.normal),
        choose(x, y, if_less.x, otherwise.x),
        choose(x, y, if_less.y, otherwise.y),
        (half_normal, half_x, half_y),
        select_less(x, y, if_less.number, otherwise.number),
    )


def face_contacts(
    reference: Face,
    incident: Face,
    centre: Vector,
    between: Vector,
    separation: Scalar,
    first: Face,
) -> list[Contact]:
    """Four contacts of two faces, the normal that of the reference.

    `centre`: of the reference box. `between`: from it to the centre of the other box. `separation`:
    of the boxes along the normal. `first`: the face of the first box, the reference or the incident
    one.
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
    alone = _deepest_corner(reference, incident, plane, u, w)
    along = [Vector(first.x.dot(axis), first.y.dot(axis), 0.0) for axis in (e, g)]
    chosen = [_farthest(points, along, direction, alone) for direction in DIRECTIONS]
    heights = [plane.height(point.x, point.y) for point in chosen]
    # The deepest point of the polygon is as deep as the separation. If it is none of the four, all
    # of them are moved down to it. Boxes that are apart need not have a polygon.
    deeper = separation - minimum(*(minimum(*pair) for pair in (heights[:2], heights[2:])))
    contacts = []
    for k, (point, height) in enumerate(zip(chosen, heights, strict=True)):
        otherwise = separation if k == 0 else FAR
        gap = select_less(0.5, point.inside, height + deeper, otherwise)
        at = centre + n * (reference.half[0] + 0.5 * height) + e * point.x + g * point.y
        contacts.append(Contact(gap, at, n, 4.0 * first.number + k))
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
    by_u, by_w = ([inverse(slope, LEAST_SLOPE) for slope in (e.x, e.y)] for e in (u, w))
    points: list[FacePoint] = []
    for along, across, reciprocals, h_along, h_across in (
        (u, -w, by_u, h_u, h_w),
        (w, u, by_w, h_w, h_u),
        (-u, w, [-r for r in by_u], h_u, h_w),
        (-w, -u, [-r for r in by_w], h_w, h_u),
    ):
        x, y = plane.x + across.x * h_across, plane.y + across.y * h_across
        low_x, high_x = _inside(x, reciprocals[0], half_x)
        low_y, high_y = _inside(y, reciprocals[1], half_y)
        low = maximum(-h_along, maximum(low_x, low_y))
        high = minimum(h_along, minimum(high_x, high_y))
        there = select_less(high, low, 0.0, 1.0)
        ends = select_less(high, h_along, there, 0.0)
        points += [
            FacePoint(x + along.x * low, y + along.y * low, there),
            FacePoint(x + along.x * high, y + along.y * high, ends),
        ]
    return points


def _inside(x: Scalar, reciprocal: Scalar, half: Scalar) -> tuple[Scalar, Scalar]:
    """Interval of s in which |x + s / reciprocal| <= half."""
    s, t = (-half - x) * reciprocal, (half - x) * reciprocal
    return minimum(s, t), maximum(s, t)


def _corners_inside(
    reference: Face, incident: Face, plane: _IncidentPlane, u: Vector, w: Vector, reciprocal: Scalar
) -> list[FacePoint]:
    """Corners of the reference face inside the incident face."""
    _, h_x, h_y = reference.half
    _, h_u, h_w = incident.half
    points = []
    for sign_x, sign_y in ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)):
        x, y = h_x * sign_x, h_y * sign_y
        along_u = absolute(((x - plane.x) * w.y - (y - plane.y) * w.x) * reciprocal)
        along_w = absolute(((y - plane.y) * u.x - (x - plane.x) * u.y) * reciprocal)
        inside = select_less(along_u * ROOM, h_u, select_less(along_w * ROOM, h_w, 1.0, 0.0), 0.0)
        points.append(FacePoint(x, y, inside))
    return points


def _deepest_corner(
    reference: Face, incident: Face, plane: _IncidentPlane, u: Vector, w: Vector
) -> FacePoint:
    """The lowest corner of the incident face, moved to the reference face, for use without a
    polygon."""
    _, h_u, h_w = incident.half
    s, t = -side(u.z) * h_u, -side(w.z) * h_w
    x, y = plane.x + u.x * s + w.x * t, plane.y + u.y * s + w.y * t
    return FacePoint(clamp(x, reference.half[1]), clamp(y, reference.half[2]), 0.0)


def _farthest(
    points: list[FacePoint],
    along: list[Vector],
    direction: tuple[float, float],
    otherwise: FacePoint,
) -> FacePoint:
    """The point on the polygon that is farthest in a direction of the first box, the first of equal
    ones. `along`: the reference face's axes in those of the first box's face."""
    by_x, by_y = (axis.x * direction[0] + axis.y * direction[1] for axis in along)
    x, y = otherwise.x, otherwise.y
    highest: Scalar = NOT_INSIDE
    for p in points:
        value = select_less(0.5, p.inside, p.x * by_x + p.y * by_y, NOT_INSIDE)
        x, y = select_less(highest, value, p.x, x), select_less(highest, value, p.y, y)
        highest = maximum(highest, value)
    return FacePoint(x, y, select_less(NOT_INSIDE, highest, 1.0, otherwise.inside))

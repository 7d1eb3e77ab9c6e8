"""The common part of two polygons of four corners that face each other along a normal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, minimum, select_less
from .contact import inverse
from .point_choice import Candidate, choose_candidate, farthest_points

PENALTY = 5.0
"""Weight of heights against distances across in the choice of the corners. A side with a slope
above the reciprocal does not face the other shape."""

ON_EDGE = 1e-6
"""Distance from an edge at which a point is on it [m]."""

LEAST_SLOPE = 1e-12
"""The least change along an edge that is divided by [m^2]."""

LEAST_WIDTH = 1e-3
"""Width of a triangle, as a share of its length, below which it has no slope across."""

END = 1e9
"""Coordinate along an edge beyond its ends."""


class FacingPolygon(NamedTuple):
    """Four corners counterclockwise, and their surface: two triangles with a common side, from the
    first corner to the third."""

    corners: tuple[Candidate, ...]
    x: Scalar
    y: Scalar
    rise: Scalar
    left: Scalar
    right: Scalar

    def height(self, x: Scalar, y: Scalar) -> Scalar:
        """Height of the surface over a point."""
        first = self.corners[0]
        across = self.x * (y - first.y) - self.y * (x - first.x)
        slope = select_less(0.0, across, self.left, self.right)
        return first.height + self.along(x, y) * self.rise + across * slope

    def along(self, x: Scalar, y: Scalar) -> Scalar:
        """Coordinate along the common side: 0 at its start, 1 at its end."""
        first = self.corners[0]
        return self.x * (x - first.x) + self.y * (y - first.y)

    def has_a_length(self) -> Scalar:
        """1, or 0 if all corners are one point."""
        return select_less(0.5, self.along(self.corners[2].x, self.corners[2].y), 1.0, 0.0)

    def limits(self) -> tuple[Scalar, Scalar]:
        """The least and the largest coordinate along the common side. They are the ends of a polygon
        without an area."""
        low: Scalar = 0.0
        high: Scalar = 1.0
        for corner in self.corners[1::2]:
            s = self.along(corner.x, corner.y)
            low, high = minimum(low, s), maximum(high, s)
        room = ON_EDGE * (absolute(self.x) + absolute(self.y))
        return low - room, high + room


def facing_polygon(points: Sequence[Candidate]) -> FacingPolygon:
    """The polygon of four points with small heights."""
    chosen = farthest_points(points, penalty=PENALTY)
    # The common side is the first diagonal. Only if that one is much shorter, and may have no
    # length, it is the second one.
    lengths = [(q.x - p.x) * (q.x - p.x) + (q.y - p.y) * (q.y - p.y) for p, q in _diagonals(chosen)]
    corners = first, right, third, left = [
        choose_candidate(4.0 * lengths[0], lengths[1], q, p)
        for p, q in zip(chosen, (*chosen[1:], chosen[0]), strict=True)
    ]
    # A vector along the common side, divided by its squared length.
    a, b = third.x - first.x, third.y - first.y
    reciprocal = 1.0 / maximum(a * a + b * b, LEAST_SLOPE)
    x, y, rise = a * reciprocal, b * reciprocal, third.height - first.height

    def slope(p: Candidate) -> Scalar:
        u, w = p.x - first.x, p.y - first.y
        above = p.height - first.height - (x * u + y * w) * rise
        width = x * w - y * u
        found = above * inverse(width, LEAST_WIDTH)
        return select_less(absolute(width), LEAST_WIDTH, 0.0, found)

    return FacingPolygon(tuple(corners), x, y, rise, slope(left), slope(right))


def _diagonals(corners: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    first, second, third, fourth = corners
    return [(first, third), (second, fourth)]


def common_points(a: FacingPolygon, b: FacingPolygon) -> list[Candidate]:
    """Ends of the edges of b inside a, and corners of a inside b, with the distance of the two
    surfaces. The heights of each are away from the other: along the normal in b, against it in a.

    Cyrus and Beck, Generalized two- and three-dimensional clipping, Computers and Graphics 3
    (1978).
    """
    points: list[Candidate] = []
    inside = a.has_a_length()
    for k, (p, q) in enumerate(_sides(b)):
        low, high = _interval_inside(p, q, a)
        cut = select_less(high, low, 0.0, inside)
        ends = select_less(high, 1.0, cut, 0.0)
        for s, exists, number in ((low, cut, 2.0 * k), (high, ends, 2.0 * k + 1.0)):
            x, y = p.x + (q.x - p.x) * s, p.y + (q.y - p.y) * s
            height = p.height + (q.height - p.height) * s + a.height(x, y)
            points.append(Candidate(x, y, height, exists, number))
    for k, corner in enumerate(a.corners):
        height = b.height(corner.x, corner.y) + corner.height
        points.append(corner._replace(height=height, exists=_inside(corner, b), number=8.0 + k))
    return points


def _sides(polygon: FacingPolygon) -> list[tuple[Candidate, Candidate]]:
    """Pairs of neighbouring corners."""
    corners = polygon.corners
    return list(zip(corners, (*corners[1:], corners[0]), strict=True))


def _beyond(p: Candidate, q: Candidate, r: Candidate) -> Scalar:
    """Twice the area of the triangle p, q, r: positive if r is on the inner side of the edge."""
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)


def _on_edge(p: Candidate, q: Candidate) -> Scalar:
    """Twice the area of a triangle whose corner is on an edge."""
    return ON_EDGE * (absolute(q.x - p.x) + absolute(q.y - p.y))


def _interval_inside(p: Candidate, q: Candidate, polygon: FacingPolygon) -> tuple[Scalar, Scalar]:
    """The part of an edge inside a polygon: coordinates 0 at p to 1 at q."""
    low: Scalar = 0.0
    high: Scalar = 1.0
    start, end = polygon.limits()
    from_p, from_q = (polygon.along(corner.x, corner.y) for corner in (p, q))
    inside = [(from_p - start, from_q - start), (end - from_p, end - from_q)]
    for r, s in _sides(polygon):
        room = _on_edge(r, s)
        inside.append((_beyond(r, s, p) + room, _beyond(r, s, q) + room))
    for at_p, at_q in inside:
        slope = at_q - at_p
        cut = -at_p * inverse(slope, LEAST_SLOPE)
        low = maximum(low, select_less(slope, 0.0, -END, cut))
        high = minimum(high, select_less(slope, 0.0, cut, END))
    return low, high


def _inside(r: Candidate, polygon: FacingPolygon) -> Scalar:
    """1 if a point is inside a polygon, 0 if it is outside or on an edge."""
    inside = polygon.has_a_length()
    for p, q in _sides(polygon):
        inside = select_less(_beyond(p, q, r), _on_edge(p, q), 0.0, inside)
    return inside

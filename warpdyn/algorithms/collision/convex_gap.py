"""Distance or depth of two convex shapes that are given by their farthest points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ...algebra.constant_values import as_constants, with_slope_of
from ...algebra.scalar import Scalar, maximum, minimum, repeat, rsqrt, select_less
from ...algebra.spatial import Vector
from .contact import choose, constant, direction, dot, side

ITERATIONS = 16
"""Number of farthest points that are added to the triangle."""

MARGIN = 0.001
"""Distance beyond the surface of the point whose nearest point is sought where shapes overlap
[m]."""

TINY = 1e-18
"""The least squared length that is divided by [m^2]."""

SMALLEST = 1e-24
"""The least square of twice a triangle's area whose root is divided by [m^4]."""

FLAT = 1e-10
"""Squared sine of an angle of a triangle below which it counts as an edge."""

NO_CANDIDATE = 1e9
"""Squared distance of a point outside its triangle."""


@dataclass(frozen=True)
class Core:
    """A convex shape without its rounding: every point centre + s_1 edge_1 + ... + corner with
    |s_i| <= 1 and a point of the hull of the corners."""

    centre: Vector
    edges: tuple[Vector, ...] = ()
    corners: tuple[Vector, ...] = ()

    def farthest(self, u: Vector) -> Vector:
        """The point that is farthest along u."""
        x = self.centre
        for edge in self.edges:
            x = x + edge * side(edge.dot(u))
        if not self.corners:
            return x
        best = self.corners[0]
        most = best.dot(u)
        for corner in self.corners[1:]:
            along = corner.dot(u)
            best = choose(most, along, corner, best)
            most = maximum(most, along)
        return x + best

    @property
    def middle(self) -> Vector:
        """A point inside the shape: the mean of its corners."""
        if not self.corners:
            return self.centre
        share = 1.0 / len(self.corners)
        return self.centre + dot([share] * len(self.corners), self.corners)

    def points(self) -> list[Vector]:
        """All points that may be the farthest along a direction."""
        points = [self.centre + corner for corner in self.corners] or [self.centre]
        for edge in self.edges:
            points = [x + edge * sign for x in points for sign in (-1.0, 1.0)]
        return points


class Corner(NamedTuple):
    """A corner of the difference of two shapes, and the point of the first shape that it is from."""

    x: Vector
    of_first: Vector


class Nearest(NamedTuple):
    """A point of a tetrahedron's surface: its squared distance from the origin, its shares of the
    three corners around it, and the number of the fourth (0 is the new corner)."""

    square: Scalar
    shares: tuple[Scalar, ...]
    unneeded: Scalar


class Separation(NamedTuple):
    """The separation of two shapes along a unit normal from the first to the second, negative where
    they overlap [m], the point of the first that is nearest to the second, and the triangle of
    corners of the difference whose nearest point this is."""

    separation: Scalar
    normal: Vector
    nearest: Vector
    triangle: Sequence[Corner]

    @property
    def numbers(self) -> list[Scalar]:
        """All numbers, as a row of an array."""
        vectors = (self.normal, self.nearest, *(u for corner in self.triangle for u in corner))
        return [self.separation, *(x for u in vectors for x in u)]

    @classmethod
    def of_numbers(cls, numbers: Sequence[Scalar]) -> Separation:
        """The separation with these numbers."""
        normal, nearest, *rest = [
            Vector(*numbers[k - 3 : k]) for k in range(4, len(numbers) + 1, 3)
        ]
        return cls(numbers[0], normal, nearest, [Corner(*rest[k : k + 2]) for k in (0, 2, 4)])


def convex_separation(a: Core, b: Core, starts: Sequence[Vector]) -> Separation:
    """The largest separation of two convex shapes along any normal, found from the best of the
    normals `starts`.

    Gilbert, Johnson, Keerthi, A fast procedure for computing the distance between complex objects
    in three-dimensional space, IEEE J. Robotics and Automation 4 (1988). The difference of the
    shapes contains the origin where they overlap. Then the nearest point of the difference is
    sought for a point just beyond its surface, along the best normal so far. The normal at the
    nearest point is better, or the point is on a face with this normal.
    """

    def farthest(n: Vector) -> Corner:
        of_a = a.farthest(n)
        return Corner(of_a - b.farthest(-n), of_a)

    def step(state: list[Scalar]) -> list[Scalar]:
        vectors = [Vector(*state[k : k + 3]) for k in range(1, len(state), 3)]
        least, (normal, x, _, *rest) = state[0], vectors
        triangle = [Corner(*rest[k : k + 2]) for k in (0, 2, 4)]
        target = _target(least, normal)
        _, n = direction(target - x, normal)
        new = farthest(n)
        reach = new.x.dot(n)
        # Each normal gives a bound on the separation. The best is kept.
        normal = choose(reach, least, n, normal)
        triangle, nearest = _nearest_triangle(new, triangle, target)
        corners = [u for corner in (nearest, *triangle) for u in corner]
        return [minimum(least, reach), *normal, *(e for u in corners for e in u)]

    first = farthest(starts[0])
    normal, least = starts[0], first.x.dot(starts[0])
    for start in starts[1:]:
        reach = farthest(start).x.dot(start)
        normal, least = choose(reach, least, start, normal), minimum(least, reach)
    state = [least, *normal, *(e for u in first * 4 for e in u)]
    result = repeat(step, state, ITERATIONS)
    # Behind the normal are both vectors of the nearest point; that of the difference is not needed.
    return Separation.of_numbers([-result[0], *result[1:4], *result[7:]])


def separation_of_corners(found: Separation, centre: Vector, axes: Sequence[Vector]) -> Scalar:
    """The separation, with the derivatives of a function of the corners of the triangle, each fixed
    on its shape.

    The derivatives do not go through the iterations. There, those of narrow triangles lose their
    digits, and they are wrong where several normals are equally good: two boxes that face each
    other, or a sphere beside the middle of a face. `centre`, `axes`: the frame of the second shape
    in that of the first one.
    """
    points = []
    for x, of_first in found.triangle:
        of_second = of_first - x - centre
        fixed = as_constants([axis.dot(of_second) for axis in axes])
        points.append(constant(of_first) - centre - dot(fixed, axes))
    normal = constant(found.normal)
    target = constant(_target(-found.separation, normal))
    corners = [x - target for x in points]

    # The nearest point is on an edge, or within the triangle.
    of_edges: Scalar = NO_CANDIDATE
    nearest = points[0]
    for p, q in combinations(range(3), 2):
        square, share = _on_edge(corners[p], corners[q])
        nearest = choose(square, of_edges, points[p] + (points[q] - points[p]) * share, nearest)
        of_edges = minimum(square, of_edges)
    distance, _ = direction(nearest)
    along_edge = select_less(0.0, found.separation, distance, -normal.dot(nearest))

    of_face, _ = _on_face(*corners)
    n = (points[1] - points[0]).cross(points[2] - points[0])
    height = n.dot(points[0]) * rsqrt(maximum(n.dot(n), SMALLEST))
    along_face = -height * side(n.dot(normal))

    separation = select_less(of_face, of_edges, along_face, along_edge)
    return with_slope_of(separation, found.separation)


def _target(least: Scalar, normal: Vector) -> Vector:
    """The point whose nearest point of the difference is sought: the origin, or a point beyond the
    surface where the shapes overlap by `least`."""
    return normal * select_less(least, 0.0, 0.0, least + MARGIN)


def _nearest_triangle(
    new: Corner, triangle: Sequence[Corner], target: Vector
) -> tuple[list[Corner], Corner]:
    """The triangle of a tetrahedron's surface that is nearest to a point, and its nearest point.
    The triangle has three of the four corners."""
    corners = (new, *triangle)
    points = [corner.x - target for corner in corners]
    best = Nearest(NO_CANDIDATE, (1.0, 0.0, 0.0), 0.0)
    for other in (*_sides(points), *_faces(points)):
        best = Nearest(
            minimum(best.square, other.square),
            tuple(
                select_less(other.square, best.square, u, w)
                for u, w in zip(other.shares, best.shares, strict=True)
            ),
            select_less(other.square, best.square, other.unneeded, best.unneeded),
        )
    kept = []
    for k, corner in enumerate(triangle, start=1):
        # The new corner takes the place of the one that is not needed.
        above = select_less(best.unneeded, k + 0.5, 1.0, 0.0)
        dropped = select_less(k - 0.5, best.unneeded, above, 0.0)
        kept.append(Corner(*(choose(0.5, dropped, u, w) for u, w in zip(new, corner, strict=True))))
    x, of_first = (dot(best.shares, vectors) for vectors in zip(*kept, strict=True))
    return kept, Corner(x, of_first)


def _sides(points: Sequence[Vector]) -> list[Nearest]:
    """The nearest points of six edges, each in a triangle with the new corner."""
    found = []
    for p, q in combinations(range(4), 2):
        square, s = _on_edge(points[p], points[q])
        third = next(k for k in range(4) if k not in (p, q))
        found.append(_candidate(square, {p: 1.0 - s, q: s, third: 0.0}))
    return found


def _faces(points: Sequence[Vector]) -> list[Nearest]:
    """The nearest points of the planes of four faces, where they are inside the faces."""
    found = []
    for corners in combinations(range(4), 3):
        square, shares = _on_face(*(points[k] for k in corners))
        found.append(_candidate(square, dict(zip(corners, shares, strict=True))))
    return found


def _candidate(square: Scalar, shares: Mapping[int, Scalar]) -> Nearest:
    """The nearest point with the shares of three corners by number. The new corner, number 0, takes
    the place of the corner that is not among them."""
    unneeded = next(k for k in range(4) if k not in shares)
    of_places = tuple(shares[0 if k == unneeded else k] for k in (1, 2, 3))
    return Nearest(square, of_places, float(unneeded))


def _on_edge(p: Vector, q: Vector) -> tuple[Scalar, Scalar]:
    """Squared distance of an edge from the origin, and the share of q in the nearest point."""
    d = q - p
    s = maximum(minimum(-p.dot(d) * _reciprocal_square(d), 1.0), 0.0)
    x = p + d * s
    return x.dot(x), s


def _on_face(p: Vector, q: Vector, r: Vector) -> tuple[Scalar, tuple[Scalar, Scalar, Scalar]]:
    """Squared distance of a triangle's plane from the origin, and the shares of the corners in the
    nearest point, if it is in the triangle."""
    d, e = q - p, r - p
    n = d.cross(e)
    # Squared areas in parts of the squared edges: no quotient below is larger than 1 / FLAT.
    scale = _reciprocal_square(d) * _reciprocal_square(e)
    square_of_sine = n.dot(n) * scale
    # Shares of the second and the third corner, times the squared sine.
    s, t = e.cross(p).dot(n) * scale, p.cross(d).dot(n) * scale
    inside = minimum(minimum(s, t), square_of_sine - s - t)
    inside = select_less(FLAT, square_of_sine, inside, -1.0)
    height = p.dot(n)
    reciprocal = 1.0 / maximum(square_of_sine, FLAT)
    square = select_less(0.0, inside, height * height * scale * reciprocal, NO_CANDIDATE)
    s, t = s * reciprocal, t * reciprocal
    return square, (1.0 - s - t, s, t)


def _reciprocal_square(d: Vector) -> Scalar:
    """1 / |d|², or 1 / TINY for shorter vectors."""
    return 1.0 / maximum(d.dot(d), TINY)

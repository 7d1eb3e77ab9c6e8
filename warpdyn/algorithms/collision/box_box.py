"""Contacts of two boxes: the axis of least overlap, and the points of the faces or edges that
touch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from ...algebra.scalar import Scalar, absolute, maximum, rsqrt, select_less
from ...algebra.spatial import Vector
from .clipped_face import choose_face, face_contacts, face_of
from .contact import Contact, ShapeAt, choose, choose_contact, dot, if_exists, side
from .round_shapes import closest_on_segments

PREFERENCE = 1e-5
"""A face of the second box is the reference face only if its overlap is smaller than that of the
first box's face by more than this [m]. Otherwise the choice would alternate where both are
equal."""

EDGE_PREFERENCE = 3e-7
"""The overlap along the normal of two edges must be less than that of faces by this times the sum
of the half lengths over the sine of the edges' angle. Nearly parallel edges have no exact
normal."""

ALIGNED = 0.9998
"""Cosine of the angle, 1.1 degrees, between the normal of two edges and that of a face below which
the faces touch. Two boxes that lie flat on each other have edges with nearly the normal of the
faces, and one contact there would not carry them."""

PARALLEL_EDGES = 1e-12
"""Squared sine of an angle below which two edges count as parallel."""


class EdgePair(NamedTuple):
    """An edge of each box: the separation along their common normal [m], this normal, the score by
    which the pair competes with faces [m], and the numbers of the axes along the edges."""

    separation: Scalar
    normal: Vector
    score: Scalar
    of_a: Scalar
    of_b: Scalar


@dataclass(frozen=True)
class _Boxes:
    """Two boxes: axes A and B, half lengths, the vector d between the centres, its components along
    the axes, the cosines of the angles between the axes, and the sizes of these cosines."""

    A: tuple[Vector, ...]
    B: tuple[Vector, ...]
    h_a: tuple[Scalar, ...]
    h_b: tuple[Scalar, ...]
    d: Vector
    d_a: list[Scalar]
    d_b: list[Scalar]
    cosines: list[list[Scalar]]
    sizes: list[list[Scalar]]


def box_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Four contacts of two boxes. Two edges have one contact, and the others do not exist.

    Gottschalk, Lin, Manocha, OBBTree: a hierarchical structure for rapid interference detection,
    SIGGRAPH (1996): two boxes are apart if they are apart along one of 15 axes, the normals of
    faces and of pairs of edges. The axis of least overlap is the shortest way out.
    """
    boxes = _boxes(a, b)
    of_a, of_b = _face_separations(boxes)
    most_a, most_b = (maximum(x, maximum(y, z)) for x, y, z in (of_a, of_b))
    separation = select_less(most_a + PREFERENCE, most_b, most_b, most_a)
    pair = _edge_pair(boxes)
    edge = _edge_contact(a, b, boxes, pair)
    aligned: Scalar = 0.0
    for axis in (*boxes.A, *boxes.B):
        aligned = maximum(aligned, absolute(axis.dot(pair.normal)))
    score = select_less(ALIGNED, aligned, -1e9, pair.score)
    # Faces touch instead of other faces or edges if they overlap as little as these.
    least = maximum(most_a, most_b)
    overlap = select_less(least, pair.score, pair.separation, least)
    from_faces = _face_pair(a, b, boxes, (of_a, of_b), (most_a, most_b), overlap)
    nothing = if_exists(0.0, edge)
    return [
        choose_contact(separation, score, edge if n == 0 else nothing, contact)
        for n, contact in enumerate(from_faces)
    ]


def face_separation(a: ShapeAt, b: ShapeAt) -> Scalar:
    """The largest separation of two boxes along the normals of their faces [m], which is at most their
    distance; negative if they overlap along all of these."""
    of_a, of_b = _face_separations(_boxes(a, b))
    return reduce(maximum, (*of_a, *of_b))


def _boxes(a: ShapeAt, b: ShapeAt) -> _Boxes:
    """Two boxes with the products of their axes."""
    A, B, d = a.axes, b.axes, b.centre - a.centre
    cosines = [[u.dot(w) for w in B] for u in A]
    sizes = [[absolute(x) for x in row] for row in cosines]
    d_a, d_b = ([d.dot(u) for u in axes] for axes in (A, B))
    return _Boxes(A, B, a.size, b.size, d, d_a, d_b, cosines, sizes)


def _face_separations(x: _Boxes) -> tuple[list[Scalar], list[Scalar]]:
    """Separations of the boxes along the axes of each, negative where they overlap [m]."""
    of_a = [
        absolute(x.d_a[i]) - (x.h_a[i] + sum(s * h for s, h in zip(x.sizes[i], x.h_b, strict=True)))
        for i in range(3)
    ]
    of_b = [
        absolute(x.d_b[j]) - (x.h_b[j] + sum(x.sizes[i][j] * x.h_a[i] for i in range(3)))
        for j in range(3)
    ]
    return of_a, of_b


def _edge_pair(x: _Boxes) -> EdgePair:
    """The two edges with the largest separation."""
    # Separation, score, the numbers of the axes, and the factor on their product for the normal.
    best: list[Scalar] = [-1e9, -1e9, 0.0, 0.0, 0.0]
    scale = EDGE_PREFERENCE * sum((*x.h_a, *x.h_b))
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            # The normal is A_i x B_j, of length sine. Its components along A_i1 and A_i2 are cosines.
            c1, c2 = x.cosines[i1][j], x.cosines[i2][j]
            square = c1 * c1 + c2 * c2
            cosecant = rsqrt(maximum(square, PARALLEL_EDGES))
            along = x.d_a[i2] * c1 - x.d_a[i1] * c2
            overlap_a = x.h_a[i1] * x.sizes[i2][j] + x.h_a[i2] * x.sizes[i1][j]
            overlap_b = x.h_b[j1] * x.sizes[i][j2] + x.h_b[j2] * x.sizes[i][j1]
            separation = (absolute(along) - (overlap_a + overlap_b)) * cosecant
            score = select_less(PARALLEL_EDGES, square, separation - scale * cosecant, -1e9)
            better = [separation, score, float(i), float(j), cosecant * side(along)]
            highest = best[1]
            best = [select_less(highest, score, y, z) for y, z in zip(better, best, strict=True)]
            best[1] = maximum(highest, score)
    separation, score, of_a, of_b, factor = best
    along_a, along_b = (dot(_is_axis(n), axes) for n, axes in ((of_a, x.A), (of_b, x.B)))
    return EdgePair(separation, along_a.cross(along_b) * factor, score, of_a, of_b)


def _edge_contact(a: ShapeAt, b: ShapeAt, x: _Boxes, pair: EdgePair) -> Contact:
    """The contact of two edges: midpoint of their closest points."""
    n = pair.normal
    along_a, half_a, to_a = _edge(x.A, x.h_a, n, pair.of_a)
    along_b, half_b, to_b = _edge(x.B, x.h_b, -n, pair.of_b)
    between = x.d + to_b - to_a
    s, t = closest_on_segments(between, along_a, half_a, along_b, half_b)
    p, q = a.centre + to_a + along_a * s, b.centre + to_b + along_b * t
    number = 12.0 + 3.0 * pair.of_a + pair.of_b
    return Contact(pair.separation, (p + q) * 0.5, n, number)


def _edge(
    axes: tuple[Vector, ...], half: tuple[Scalar, ...], n: Vector, number: Scalar
) -> tuple[Vector, Scalar, Vector]:
    """The edge of a box along axis `number` that is farthest along n: its direction, its half
    length, and the vector from the box's centre to its middle."""
    reaches = [side(n.dot(axis)) * h for axis, h in zip(axes, half, strict=True)]
    own = _is_axis(number)
    middle = dot([reach * (1.0 - w) for reach, w in zip(reaches, own, strict=True)], axes)
    return dot(own, axes), sum(h * w for h, w in zip(half, own, strict=True)), middle


def _is_axis(number: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """1 for the axis with this number, 0 for the two others."""
    is_x = select_less(number, 0.5, 1.0, 0.0)
    is_z = select_less(1.5, number, 1.0, 0.0)
    return is_x, 1.0 - is_x - is_z, is_z


def _face_pair(
    a: ShapeAt,
    b: ShapeAt,
    x: _Boxes,
    separations: tuple[list[Scalar], list[Scalar]],
    most: tuple[Scalar, Scalar],
    separation: Scalar,
) -> list[Contact]:
    """Contacts of a face of one box, the reference, and a face of the other. `separation`: of the
    deepest of them."""
    limit = most[0] + PREFERENCE
    # Everything of the reference box is B's where B's best axis is clearly better.

    def pick(of_b: Scalar, of_a: Scalar) -> Scalar:
        return select_less(limit, most[1], of_b, of_a)

    def pick_vector(of_b: Vector, of_a: Vector) -> Vector:
        return choose(limit, most[1], of_b, of_a)

    axes = [pick_vector(v, u) for u, v in zip(x.A, x.B, strict=True)]
    half = [pick(v, u) for u, v in zip(x.h_a, x.h_b, strict=True)]
    other_axes = [pick_vector(u, v) for u, v in zip(x.A, x.B, strict=True)]
    other_half = [pick(u, v) for u, v in zip(x.h_a, x.h_b, strict=True)]
    towards = [pick(-v, u) for u, v in zip(x.d_a, x.d_b, strict=True)]
    s = [pick(v, u) for u, v in zip(*separations, strict=True)]
    best = maximum(s[0], maximum(s[1], s[2]))
    reference = face_of(axes, half, [best - each for each in s], towards)
    alignment = [reference.normal.dot(axis) for axis in other_axes]
    sizes = [absolute(c) for c in alignment]
    flattest = maximum(sizes[0], maximum(sizes[1], sizes[2]))
    against = [-c for c in alignment]
    incident = face_of(other_axes, other_half, [flattest - each for each in sizes], against)
    centre = pick_vector(b.centre, a.centre)
    between = pick_vector(-x.d, x.d)
    # The reference face is A's unless the reference box is B.
    first = choose_face(limit, most[1], incident, reference)
    found = face_contacts(reference, incident, centre, between, separation, first)
    sign = pick(-1.0, 1.0)
    return [Contact(c.gap, c.position, c.normal * sign, c.feature) for c in found]

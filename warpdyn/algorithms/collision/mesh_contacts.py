"""Contacts of convex meshes with planes and with other shapes.

A mesh is the convex hull of its vertices. In the contact of two shapes each has a polygon that faces
the other: four of its points. The contacts are points of the common part of the two polygons.
"""

from __future__ import annotations

from ...algebra.rotations import ZERO, Rotation, axes_about
from ...algebra.scalar import Scalar
from ...algebra.spatial import Vector
from .common_polygon import STEEPNESS, common_points, facing_polygon
from .contact import Contact, ShapeAt, direction, if_exists, side
from .convex_gap import Core, convex_separation
from .four_points import Candidate, four_points

AS_DEEP = 5e-7
"""A corner of the common polygon is the first contact if its gap is larger than the least by at
most this [m]."""

SAMPLES = tuple(
    direction(Vector(x, y, z))[1]
    for x in (-1.0, 0.0, 1.0)
    for y in (-1.0, 0.0, 1.0)
    for z in (-1.0, 0.0, 1.0)
    if abs(x) + abs(y) + abs(z) in (1.0, 3.0)
)
"""Normals among which the first is chosen: six along the mesh's axes, and eight between them."""


def plane_mesh(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of a plane and four vertices of a mesh: the lowest, and others that are low and
    far from each other."""
    R = b.placement.R
    axes = axes_about(R.to_child(a.axes[2]))
    height = a.axes[2].dot(b.centre - a.centre)
    points = [
        Candidate(*axes.to_child(Vector(*vertex)), 1.0, float(k))
        for k, vertex in enumerate(b.vertices)
    ]
    found = []
    for p in four_points(points, points[0], STEEPNESS):
        gap = p.height + height
        at = b.placement.point_to_parent(axes.to_parent(Vector(p.x, p.y, p.height - 0.5 * gap)))
        found.append(if_exists(p.exists, Contact(gap, at, a.axes[2], p.number)))
    return found


def mesh_sphere(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contact of a mesh and a sphere."""
    return _from_cores(a, b, Core(_in_axes(a, b.centre)), b.size[0])[:1]


def mesh_capsule(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Two contacts of a mesh and a capsule."""
    axis = a.placement.R.to_child(b.axes[2] * b.size[1])
    return _from_cores(a, b, Core(_in_axes(a, b.centre), (axis,)), b.size[0])[:2]


def mesh_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Four contacts of a mesh and a box."""
    edges = tuple(
        a.placement.R.to_child(axis * half) for axis, half in zip(b.axes, b.size, strict=True)
    )
    return _from_cores(a, b, Core(_in_axes(a, b.centre), edges), 0.0)


def mesh_mesh(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Four contacts of two meshes."""
    R = a.placement.R
    corners = tuple(R.to_child(b.placement.R.to_parent(Vector(*x))) for x in b.vertices)
    return _from_cores(a, b, Core(_in_axes(a, b.centre), (), corners), 0.0)


def _in_axes(a: ShapeAt, point: Vector) -> Vector:
    """A point of the world in the frame of a shape."""
    return a.placement.R.to_child(point - a.centre)


def _from_cores(a: ShapeAt, b: ShapeAt, second: Core, radius: Scalar) -> list[Contact]:
    """Contacts of a mesh and a shape that is all points within `radius` of a core."""
    first = Core(ZERO, (), tuple(Vector(*x) for x in a.vertices))
    _, towards = direction(second.middle - first.middle)
    # The faces of a box.
    along = [direction(edge, towards)[1] for edge in second.edges] if len(second.edges) == 3 else []
    faces = [n * side(n.dot(towards)) for n in along]
    separation, n, nearest = convex_separation(first, second, [towards, *SAMPLES, *faces])
    gap = separation - radius
    axes = axes_about(n)
    polygons = [
        facing_polygon([_across(axes, x, sign, k) for k, x in enumerate(core.points())])
        for core, sign in ((first, -1.0), (second, 1.0))
    ]
    x, y, top = axes.to_child(nearest)
    # A corner of the common polygon comes first if it is as deep as the deepest point, which is
    # anywhere on faces that lie on each other.
    deepest = Candidate(x, y, separation + AS_DEEP, 1.0, 12.0)
    chosen = four_points([*common_points(*polygons), deepest], deepest)
    found = []
    for p in chosen:
        own = p.height - radius if found else gap
        height = -polygons[0].height(p.x, p.y) if found else top
        at = axes.to_parent(Vector(p.x, p.y, height + 0.5 * own))
        world = a.placement.point_to_parent(at)
        contact = Contact(own, world, a.placement.R.to_parent(n), p.number)
        found.append(if_exists(p.exists, contact) if found else contact)
    return found


def _across(axes: Rotation, x: Vector, sign: float, number: int) -> Candidate:
    """A point of a shape in axes whose z is the normal, the height times a sign."""
    u, w, height = axes.to_child(x)
    return Candidate(u, w, height * sign, 1.0, float(number))

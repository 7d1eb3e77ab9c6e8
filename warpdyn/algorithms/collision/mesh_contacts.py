"""Contacts of convex meshes with planes and with other shapes.

A mesh is the convex hull of its vertices. Where two shapes touch, each has a polygon that faces
the other: four of its points. The contacts are points of the common part of the two polygons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...algebra.rotations import ZERO, Matrix, Rotation, axes_about
from ...algebra.scalar import Scalar, select_less
from ...algebra.spatial import Vector
from .common_polygon import PENALTY, common_points, facing_polygon
from .contact import Contact, ShapeAt, constant, direction, if_exists, side
from .convex_gap import Core, Separation, convex_separation, separation_of_corners
from .point_choice import DIRECTIONS, Candidate, best_candidate, contact_points

DEEPEST = 12.0
"""Number of the deepest point among the points of a polygon."""

POLE = axes_about(Vector(0.48, 0.36, 0.8))
"""A rotation to axes that are along no edge of a mesh."""

SAMPLES = tuple(
    direction(Vector(x, y, z))[1]
    for x in (-1.0, 0.0, 1.0)
    for y in (-1.0, 0.0, 1.0)
    for z in (-1.0, 0.0, 1.0)
    if abs(x) + abs(y) + abs(z) in (1.0, 3.0)
)
"""Normals among which the first is chosen: six along the mesh's axes, and eight between them."""


def cylinder_vertices(
    radius: float, half: float, sides: int = 16
) -> tuple[tuple[float, float, float], ...]:
    """Vertices of a prism in place of a cylinder about z, `half` its half length [m].

    The surface of the prism is as far inside the cylinder as it is outside: with 16 sides, at most
    1.0% of the radius.
    """
    half_angle = math.pi / sides
    reach = radius * 2.0 / (1.0 + math.cos(half_angle))
    angles = [half_angle * (2 * k + 1) for k in range(sides)]
    return tuple(
        (reach * math.cos(angle), reach * math.sin(angle), z)
        for z in (-half, half)
        for angle in angles
    )


def plane_mesh(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contacts of a plane and four vertices of a mesh that are low and far from each other, the
    lowest among them."""
    R = b.placement.R
    axes = axes_across(R.to_child(a.axes[2]))
    height = a.axes[2].dot(b.centre - a.centre)
    points = [_across(axes, Vector(*x), 1.0, k) for k, x in enumerate(b.vertices)]
    lowest = best_candidate(points, lambda p: -p.height)
    found = []
    for p in contact_points(points, lowest, penalty=PENALTY):
        gap = p.height + height
        at = b.placement.point_to_parent(axes.to_parent(Vector(p.x, p.y, p.height - 0.5 * gap)))
        found.append(if_exists(p.exists, Contact(gap, at, a.axes[2], p.number)))
    return found


def axes_across(n: Vector) -> Rotation:
    """Axes with the unit vector n as third, which turn little when n does.

    `axes_about` jumps where the third component of its argument changes its sign. That is near many
    faces of meshes, but not if n is first turned by a rotation without any symmetry.
    """
    found = axes_about(POLE.to_child(n))
    columns = Matrix(tuple(POLE.to_parent(axis) for axis in found.matrix.T.rows))  # type: ignore[arg-type]
    return Rotation(columns.T.rows)


def mesh_sphere(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """The contact of a mesh and a sphere."""
    found = _separation(_hull(a), *_core_and_faces(a, b))
    gap = found.separation - b.size[0]
    # From the centre, whose derivative does not depend on which corners are the nearest ones.
    at = _in_axes(a, b.centre) - found.normal * (b.size[0] + 0.5 * gap)
    world = a.placement.point_to_parent(at)
    return [Contact(gap, world, a.placement.R.to_parent(found.normal), 0.0)]


def mesh_capsule(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Two contacts of a mesh and a capsule: ends of the part of the axis over the mesh."""
    core, faces = _core_and_faces(a, b)
    found = _separation(_hull(a), core, faces)
    axis = a.placement.R.to_child(b.axes[2])
    x, y, _ = axes_across(found.normal).to_child(axis)
    return _polygon_contacts(a, core, found, b.size[0], ((-x, -y), (x, y)))


def mesh_box(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Four contacts of a mesh and a box."""
    core, faces = _core_and_faces(a, b)
    return _polygon_contacts(a, core, _separation(_hull(a), core, faces), 0.0, DIRECTIONS)


def mesh_mesh(a: ShapeAt, b: ShapeAt) -> list[Contact]:
    """Four contacts of two meshes."""
    core, faces = _core_and_faces(a, b)
    return _polygon_contacts(a, core, _separation(_hull(a), core, faces), 0.0, DIRECTIONS)


def separation_of(a: ShapeAt, b: ShapeAt) -> Separation:
    """The separation of a mesh or box and another shape that is no plane, which counts as its points
    without rounding."""
    return _separation(_hull(a), *_core_and_faces(a, b))


def convex_distance(a: ShapeAt, b: ShapeAt, found: Separation) -> Scalar:
    """Distance of the surfaces of two shapes, negative where they overlap, from their separation
    [m]."""
    radius = b.size[0] if b.kind in ("sphere", "capsule") else 0.0
    return separation_of_corners(found, _in_axes(a, b.centre), _axes_in(a, b)) - radius


def _core_and_faces(a: ShapeAt, b: ShapeAt) -> tuple[Core, Sequence[Vector]]:
    """A shape without its rounding in the frame of another one, and the normals of a box's faces."""
    centre = _in_axes(a, b.centre)
    if b.kind == "mesh":
        R = a.placement.R
        corners = [R.to_child(b.placement.R.to_parent(Vector(*x))) for x in b.vertices]
        return Core(centre, (), tuple(corners)), ()
    axes = _axes_in(a, b)
    if b.kind == "box":
        edges = tuple(axis * half for axis, half in zip(axes, b.size, strict=True))
        return Core(centre, edges), axes
    return Core(centre, (axes[2] * b.size[1],) if b.kind == "capsule" else ()), ()


def _axes_in(a: ShapeAt, b: ShapeAt) -> list[Vector]:
    """The axes of the second shape in the frame of the first one."""
    return [a.placement.R.to_child(axis) for axis in b.axes]


def _in_axes(a: ShapeAt, point: Vector) -> Vector:
    """A point of the world in the frame of a shape."""
    return a.placement.R.to_child(point - a.centre)


def _hull(a: ShapeAt) -> Core:
    """A mesh or box in its own frame."""
    if a.kind == "box":
        x, y, z = a.size
        return Core(ZERO, (Vector(x, 0.0, 0.0), Vector(0.0, y, 0.0), Vector(0.0, 0.0, z)))
    return Core(ZERO, (), tuple(Vector(*x) for x in a.vertices))


def _separation(first: Core, second: Core, faces: Sequence[Vector] = ()) -> Separation:
    """The separation of two shapes, found from the direction to the second, from normals around the
    first, and from the normals of the faces of a box."""
    _, found = direction(second.middle - first.middle)
    # Where this is the best normal, it is that of a face, which does not turn with the direction.
    towards = constant(found)
    facing = [n * side(n.dot(towards)) for n in faces]
    return convex_separation(first, second, [towards, *SAMPLES, *facing])


def _polygon_contacts(
    a: ShapeAt,
    second: Core,
    found: Separation,
    radius: Scalar,
    directions: Sequence[tuple[Scalar, Scalar]],
) -> list[Contact]:
    """Contacts of a mesh and a shape that is all points within `radius` of a core: points of the
    polygon that is common to both, the farthest in some directions."""
    axes = axes_across(found.normal)
    polygons = [
        facing_polygon([_across(axes, x, sign, k) for k, x in enumerate(core.points())])
        for core, sign in ((_hull(a), -1.0), (second, 1.0))
    ]
    x, y, top = axes.to_child(found.nearest)
    deepest = Candidate(x, y, found.separation, 1.0, DEEPEST)
    contacts = []
    for p in contact_points([*common_points(*polygons), deepest], deepest, directions):
        gap = p.height - radius
        # The deepest point is on the first shape, others are on its polygon.
        height = select_less(DEEPEST - 0.5, p.number, top, -polygons[0].height(p.x, p.y))
        at = a.placement.point_to_parent(axes.to_parent(Vector(p.x, p.y, height + 0.5 * gap)))
        contact = Contact(gap, at, a.placement.R.to_parent(found.normal), p.number)
        contacts.append(if_exists(p.exists, contact))
    return contacts


def _across(axes: Rotation, x: Vector, sign: float, number: int) -> Candidate:
    """A point of a shape in axes whose z is the normal, the height times a sign."""
    u, w, height = axes.to_child(x)
    return Candidate(u, w, height * sign, 1.0, float(number))

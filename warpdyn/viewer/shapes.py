"""A robot's shapes as triangles in the axes of its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import trimesh

from ..formats.meshes.mesh_surface import colored_surfaces
from ..model import Model
from ..model.description import Geometry, Link
from ..model.mesh_files import NONE, MeshError, Packages, mesh_file
from ..model.names import printable
from ..model.poses_and_limits import Pose

Which = Literal["visual", "collision"]
"""Visual shapes, or collision shapes."""

Color = tuple[float, float, float, float]

METAL: Color = (0.72, 0.74, 0.78, 1.0)
"""The colour of shapes without a colour."""

BOX: Color = (0.55, 0.65, 0.8, 1.0)
"""The colour of a link without shapes, drawn as the box of its inertia."""

TOUCHING: Color = (0.95, 0.45, 0.05, 1.0)
"""The colour of collision shapes."""

ENDLESS, THICK = 4.0, 0.005
"""Drawn size of a plane without edges, and thickness of a plane [m]."""

CREASE = np.radians(35.0)
"""Faces that meet at a smaller angle are shaded as one curved face [rad]."""


class Solid(NamedTuple):
    """Triangles of one colour that move with a link."""

    link: int
    vertices: np.ndarray
    """(n, 3) in the link's axes [m]."""
    faces: np.ndarray
    """(m, 3) indices of vertices."""
    color: Color
    plane: bool = False
    """True if it is a plane, which does not count for the robot's size."""


Part = tuple[Any, Color, bool]
"""Triangles, their colour, and True if they are a plane."""


class DrawnShape(NamedTuple):
    """Solids of a robot, and a remark for each shape that could not be drawn."""

    solids: tuple[Solid, ...]
    remarks: tuple[str, ...]


def solids(model: Model, which: Which = "visual", packages: Packages = NONE) -> DrawnShape:
    """Solids to draw for a robot, one for each link and colour.

    packages: folders of the packages that meshes name.

    If a mesh cannot be read, the link's collision shapes are drawn, or else the box of its inertia,
    with a remark. A robot without visual shapes is drawn the same way. If other links have visual
    shapes, a link without any is not drawn.
    """
    found: list[Solid] = []
    remarks: list[str] = []
    bare = not any(link.visuals for link in model.links)
    for number, link in enumerate(model.link_names):
        parts = list(_parts(model.link(link), which, packages, remarks, bare))
        for color, plane in dict.fromkeys(part[1:] for part in parts):
            alike: Any = [part[0] for part in parts if part[1:] == (color, plane)]
            whole: Any = trimesh.util.concatenate(alike)
            vertices, faces = whole.vertices.astype(np.float32), whole.faces.astype(np.uint32)
            found.append(Solid(number, vertices, faces, color, plane))
    return DrawnShape(tuple(found), tuple(remarks))


def _parts(
    link: Link, which: Which, packages: Packages, remarks: list[str], bare: bool
) -> Iterator[Part]:
    """Shapes of a link; bare: the robot has no visual shapes."""
    if which == "collision":
        planes = tuple(shape for shape in link.visuals if shape.shape == "plane")
        touching = (*link.collisions, *(x for x in planes if x not in link.collisions))
        for mesh, _, plane in _read_shapes(link, touching, packages, remarks):
            yield mesh, TOUCHING, plane
        return
    drawn = list(_read_shapes(link, link.visuals, packages, remarks))
    if not (drawn or bare or link.visuals):
        return
    if not drawn:
        drawn = list(_read_shapes(link, link.collisions, packages, remarks))
    if not drawn and (box := inertia_box(link)) is not None:
        drawn = [(smooth_faces(box), BOX, False)]
    yield from drawn


def _read_shapes(
    link: Link, shapes: Sequence[Geometry], packages: Packages, remarks: list[str]
) -> Iterator[Part]:
    for shape in shapes:
        plane = shape.shape == "plane"
        try:
            yield from ((mesh, color or METAL, plane) for mesh, color in triangles(shape, packages))
        except MeshError as error:
            line = printable(f'{link.name}: the mesh "{shape.filename}" is not drawn: {error}')
            if line not in remarks:
                remarks.append(line)


def triangles(
    shape: Geometry, packages: Packages = NONE
) -> list[tuple[trimesh.Trimesh, Color | None]]:
    """The surface of a shape in its link's axes, by colours; raises `MeshError` for a mesh that
    cannot be read. The materials of a mesh file take precedence over the description's colour for
    the whole shape, as in RViz."""
    size = shape.size
    mesh: Any
    if shape.shape == "mesh":
        found = []
        for (vertices, faces), color in colored_surfaces(mesh_file(shape, packages)):
            mesh = trimesh.Trimesh(vertices * (size or 1.0), faces, process=False)
            found.append((mesh, color or shape.color))
    else:
        found = [(_primitive(shape.shape, size), shape.color)]
    for mesh, _ in found:
        mesh.apply_transform(matrix_of(shape.pose))
    return [(smooth_faces(mesh), color) for mesh, color in found]


def _primitive(kind: str, size: Sequence[float]) -> Any:
    if kind == "box":
        return trimesh.creation.box(extents=size)
    if kind == "plane":  # the plane is the upper side
        plate: Any = trimesh.creation.box(extents=(*(x or ENDLESS for x in size), THICK))
        return plate.apply_translation((0.0, 0.0, -THICK / 2))
    if kind == "sphere":
        return trimesh.creation.uv_sphere(radius=size[0], count=(16, 24))
    if kind == "ellipsoid":
        ball: Any = trimesh.creation.uv_sphere(radius=1.0, count=(16, 24))
        return ball.apply_scale(size)
    if kind == "cylinder":
        return trimesh.creation.cylinder(radius=size[0], height=size[1], sections=32)
    mesh: Any = trimesh.creation.capsule(radius=size[0], height=size[1], count=(24, 16))
    # In some releases of trimesh, its lower end is at the origin.
    mesh.apply_translation(-mesh.bounds.mean(axis=0))
    return mesh


def smooth_faces(mesh: Any) -> Any:
    """The same triangles, with vertices shared only by faces that form a smooth surface. A renderer
    then shades these faces smoothly and keeps the edges between the rest."""
    whole = mesh.copy()
    whole.merge_vertices(merge_tex=True, merge_norm=True)
    if not len(whole.faces):
        return whole
    pairs = whole.face_adjacency[whole.face_adjacency_angles < CREASE]
    patch = np.arange(len(whole.faces))
    while True:  # each face takes the lowest index among its neighbours in the patch
        before = patch.copy()
        lowest = patch[pairs].min(axis=1)
        np.minimum.at(patch, pairs[:, 0], lowest)
        np.minimum.at(patch, pairs[:, 1], lowest)
        patch = patch[patch]
        if np.array_equal(patch, before):
            break
    corners = np.stack([whole.faces.ravel(), np.repeat(patch, 3)], axis=1)
    kept, faces = np.unique(corners, axis=0, return_inverse=True)
    return trimesh.Trimesh(whole.vertices[kept[:, 0]], faces.reshape(-1, 3), process=False)


def inertia_box(link: Link) -> Any:
    """The box of uniform density with a link's inertia; None for a link without mass."""
    if not link.mass > 0:
        return None
    moments, axes = np.linalg.eigh(np.array(link.inertia, dtype=float))
    squares = 6.0 / link.mass * (moments.sum() - 2.0 * moments)
    extents = np.sqrt(np.maximum(squares, 1e-6))
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = axes, link.com
    return trimesh.creation.box(extents=extents, transform=placed)


def matrix_of(pose: Pose) -> np.ndarray:
    """A pose as a matrix (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.position
    return matrix

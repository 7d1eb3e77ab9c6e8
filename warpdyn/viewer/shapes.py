"""A robot's shapes as triangles in the axes of its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import trimesh

from ..formats.mesh_surface import surface_of
from ..model import Model
from ..model.description import Geometry, Link
from ..model.mesh_files import MeshError, mesh_file

Which = Literal["visual", "collision"]
"""Shapes to look at, or shapes that touch."""

Color = tuple[float, float, float, float]

METAL: Color = (0.72, 0.74, 0.78, 1.0)
"""The colour of what says none."""

BOX: Color = (0.55, 0.65, 0.8, 1.0)
"""The colour of a link without shapes: its inertia as a box."""

TOUCHING: Color = (0.95, 0.6, 0.2, 1.0)
"""The colour of collision shapes."""


class Solid(NamedTuple):
    """Triangles of one colour that move with a link."""

    link: int
    vertices: np.ndarray
    """(n, 3) in the link's axes [m]."""
    faces: np.ndarray
    """(m, 3) numbers of vertices."""
    color: Color


class Drawn(NamedTuple):
    """Solids of a robot, and a line for each shape that could not be drawn as it is."""

    solids: tuple[Solid, ...]
    remarks: tuple[str, ...]


def solids(model: Model, which: Which = "visual") -> Drawn:
    """What is to be seen of a robot, one solid for each link and colour.

    A mesh that cannot be read is drawn as the link's collision shapes, or else as the box of its
    inertia, and remarked. Links without visual shapes are drawn likewise.
    """
    found: list[Solid] = []
    remarks: list[str] = []
    for number, link in enumerate(model.link_names):
        parts = list(_parts(model.link(link), which, remarks))
        for color in dict.fromkeys(color for _, color in parts):
            whole: Any = trimesh.util.concatenate([mesh for mesh, each in parts if each == color])
            vertices, faces = np.asarray(whole.vertices), np.asarray(whole.faces)
            found.append(Solid(number, vertices.astype(np.float32), faces.astype(np.uint32), color))
    return Drawn(tuple(found), tuple(remarks))


def _parts(link: Link, which: Which, remarks: list[str]) -> Iterator[tuple[Any, Color]]:
    """Triangles of a link with their colours."""
    if which == "collision":
        yield from _read(link, link.collisions, TOUCHING, remarks)
        return
    drawn = list(_read(link, link.visuals, METAL, remarks))
    if not drawn:
        drawn = list(_read(link, link.collisions, METAL, remarks))
    if not drawn and (box := inertia_box(link)) is not None:
        drawn = [(box, BOX)]
    yield from drawn


def _read(
    link: Link, shapes: Sequence[Geometry], plain: Color, remarks: list[str]
) -> Iterator[tuple[Any, Color]]:
    for shape in shapes:
        try:
            mesh = triangles(shape)
        except MeshError as error:
            line = f'{link.name}: the mesh "{shape.filename}" is not drawn: {error}'
            if line not in remarks:
                remarks.append(line)
            continue
        yield mesh, shape.color or plain


def triangles(shape: Geometry) -> Any:
    """The surface of a shape in its link's axes; raises `MeshError` for a mesh that cannot be read."""
    size = shape.size
    mesh: Any
    if shape.shape == "box":
        mesh = trimesh.creation.box(extents=size)
    elif shape.shape == "sphere":
        mesh = trimesh.creation.uv_sphere(radius=size[0], count=(16, 24))
    elif shape.shape == "cylinder":
        mesh = trimesh.creation.cylinder(radius=size[0], height=size[1], sections=32)
    elif shape.shape == "capsule":
        mesh = trimesh.creation.capsule(radius=size[0], height=size[1], count=(24, 16))
        # Its lower end stands at the origin, in one release of trimesh or another.
        mesh.apply_translation(-mesh.bounds.mean(axis=0))
    else:
        mesh = trimesh.Trimesh(*surface_of(mesh_file(shape)), process=False)
        if not len(mesh.faces):
            raise MeshError("it has no triangles")
        mesh.apply_scale(size or 1.0)
    placed = mesh.copy()
    placed.apply_transform(_matrix(shape))
    return placed


def inertia_box(link: Link) -> Any:
    """The box of even density that has a link's inertia; None for a link without mass."""
    if not link.mass > 0:
        return None
    moments, axes = np.linalg.eigh(np.array(link.inertia, dtype=float))
    squares = 6.0 / link.mass * (moments.sum() - 2.0 * moments)
    extents = np.sqrt(np.maximum(squares, 1e-6))
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = axes, link.com
    return trimesh.creation.box(extents=extents, transform=placed)


def _matrix(shape: Geometry) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = shape.pose.rotation, shape.pose.position
    return matrix

"""The surface of a mesh file: vertices and triangles, and the colours of its materials.

The package trimesh reads the files (extra `[meshes]`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from ...model.mesh_files import NO_READER, MeshError, mesh_data
from . import collada_file, glb_file
from .colors import Color
from .material_files import SIDE, MaterialFiles

MOST_VERTICES = 2_000_000

MOST_PARTS = 50_000
"""Largest number of parts in a scene. trimesh takes about 0.1 ms and 6 kB for each of them."""

MOST_COLORS = 8
"""Largest number of face colours in one part. A part with more of them gets their mean."""


class MeshSurface(NamedTuple):
    """Triangles of a mesh, with its parts at their places in the file's scene."""

    vertices: np.ndarray
    """Vertices (n, 3) [m]."""
    faces: np.ndarray
    """Triangles (m, 3) as indices of vertices; none for a point cloud."""


class ColoredSurface(NamedTuple):
    """Triangles of a mesh that have one colour."""

    surface: MeshSurface
    color: Color | None
    """The colour; None if the file gives none."""


def surface_of(path: Path) -> MeshSurface:
    """The surface of a mesh file. Raises `MeshError` with the reason if it cannot be used."""
    scene = _scene(path, materials=False)
    try:
        whole = scene.to_geometry()
        vertices = np.asarray(whole.vertices, dtype=float)
        faces = np.asarray(getattr(whole, "faces", np.zeros((0, 3))), dtype=np.int64)
    except Exception as error:  # trimesh raises any error on a file that is not a mesh
        raise _unreadable(error) from error
    return MeshSurface(_check_positions(vertices) * _metres(path, scene), faces)


def hull_of(vertices: np.ndarray) -> MeshSurface:
    """The convex hull of points. Raises `MeshError` if they have none."""
    try:
        import trimesh
    except ImportError as error:
        raise MeshError(NO_READER) from error
    try:
        hull = trimesh.convex.convex_hull(vertices)
    except Exception as error:  # Qhull raises for points in a plane
        raise _unreadable(error) from error
    return MeshSurface(np.asarray(hull.vertices, float), np.asarray(hull.faces, np.int64))


def colored_surfaces(path: Path) -> tuple[ColoredSurface, ...]:
    """The surface of a mesh file, split by the colours of its materials, vertices or faces. A
    texture is replaced by its mean colour. Raises `MeshError` if the mesh cannot be used, or has no
    triangles."""
    scene = _scene(path, materials=True)
    try:
        meshes = _with_triangles(scene)
        if not meshes and path.suffix.lower() == ".dae":
            meshes = _with_triangles(_without_materials(path))
        found = [part for mesh in meshes for part in _by_color(mesh)]
    except Exception as error:  # as above
        raise _unreadable(error) from error
    if not found:
        raise MeshError("it has no triangles")
    _check_positions(np.concatenate([part.surface.vertices for part in found]))
    metres = _metres(path, scene)
    return tuple(
        ColoredSurface(MeshSurface(surface.vertices * metres, surface.faces), color)
        for surface, color in found
    )


def _scene(path: Path, materials: bool) -> Any:
    """The scene that trimesh reads from a file."""
    data, kind = mesh_data(path), path.suffix.lower()[1:]
    resolver = MaterialFiles(path.parent) if materials else None
    data = _check_scene(data, kind, resolver)
    try:
        scene = _load_mesh(data, kind, resolver, skip_materials=not materials)
    except ImportError:
        raise MeshError(NO_READER) from None
    except Exception as error:  # as above
        raise _unreadable(error) from error
    if resolver is not None and resolver.refusals:
        raise MeshError(resolver.refusals[0])
    placed = (scene.geometry[scene.graph[node][1]] for node in scene.graph.nodes_geometry)
    _check_vertices(sum(len(getattr(mesh, "vertices", ())) for mesh in placed))
    return scene


def _check_scene(data: bytes, kind: str, resolver: MaterialFiles | None) -> bytes:
    """The data of a file, unpacked, with small images. Refuses a scene that would be too large
    before trimesh builds it: a small file can place the same part a million times."""
    size = 0, 0
    try:
        if kind == "dae":
            data = collada_file.unpack(data)
            size = collada_file.scene_size(collada_file.parse(data))
        elif glb_file.is_glb(data):
            table = glb_file.read_table(data)
            size = glb_file.scene_size(table)
            if resolver is not None:
                shrink = partial(resolver.shrink, what="its texture")
                data = glb_file.replace_images(data, table, shrink)
    except MeshError:
        raise
    except Exception as error:  # as above: the tables of the file may have any types
        raise _unreadable(error) from error
    parts, vertices = size
    _check_vertices(vertices)
    if parts > MOST_PARTS:
        raise MeshError(f"it has {parts:,} parts, more than {MOST_PARTS:,}; simplify it")
    return data


def _check_vertices(count: int) -> None:
    if count > MOST_VERTICES:
        raise MeshError(f"it has {count:,} vertices, more than {MOST_VERTICES:,}; simplify it")


def _load_mesh(data: bytes, kind: str, resolver: MaterialFiles | None, **options: bool) -> Any:
    import trimesh

    # Without a handler, trimesh's remarks appear on stderr, with names from the file as they are.
    log = logging.getLogger("trimesh")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    read: Any = trimesh.load_scene
    return read(BytesIO(data), file_type=kind, resolver=resolver, process=False, **options)


def _with_triangles(scene: Any) -> list[Any]:
    return [mesh for mesh in scene.dump() if len(getattr(mesh, "faces", ()))]


def _without_materials(path: Path) -> Any:
    """The scene that trimesh reads from a COLLADA file without its materials. If a material is
    missing from the file, trimesh drops the parts that use it."""
    text = collada_file.parse(collada_file.unpack(mesh_data(path)))
    for name in ("library_effects", "library_materials", "bind_material"):
        for element in text.findall(f".//{{*}}{name}"):
            element.getparent().remove(element)
    return _load_mesh(etree.tostring(text), "dae", None)


def _unreadable(error: Exception) -> MeshError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return MeshError(f"trimesh cannot read it ({reason[:100]}); write it again")


def _check_positions(vertices: np.ndarray) -> np.ndarray:
    """The vertices, checked: at least one, not too many, and finite."""
    if vertices.ndim != 2 or not len(vertices):
        raise MeshError("it has no vertices")
    _check_vertices(len(vertices))
    if not np.isfinite(vertices).all():
        raise MeshError("not all of its vertices are finite; write it again")
    return vertices


def _by_color(mesh: Any) -> Iterator[ColoredSurface]:
    """The parts of a mesh, split by the colours of its faces."""
    vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, np.int64)
    if mesh.visual.kind == "texture":
        yield ColoredSurface(MeshSurface(vertices, faces), _material_color(mesh.visual.material))
        return
    if mesh.visual.kind not in ("vertex", "face"):
        yield ColoredSurface(MeshSurface(vertices, faces), None)
        return
    of_faces = np.asarray(mesh.visual.face_colors)
    colors, of_color = np.unique(of_faces, axis=0, return_inverse=True)
    if len(colors) > MOST_COLORS:
        colors, of_color = of_faces.mean(axis=0)[None], np.zeros(len(faces), dtype=int)
    for k, color in enumerate(colors):
        used, corners = np.unique(faces[of_color.ravel() == k], return_inverse=True)
        surface = MeshSurface(vertices[used], corners.reshape(-1, 3))
        yield ColoredSurface(surface, _color(color))


def _material_color(material: Any) -> Color | None:
    """The colour of a material, times the mean of its texture; None if the material has no
    colour."""
    entries = getattr(material, "kwargs", None)
    if entries is not None and not entries:  # the .mtl file is missing
        return None
    image = _image(material)
    plain = getattr(material, "baseColorFactor", None) if entries is None else material.diffuse
    if image is None:
        return None if plain is None else _color(_bytes(plain))
    texture = np.asarray(image.convert("RGBA").resize((SIDE, SIDE)), float).mean(axis=(0, 1))
    return _color(texture if plain is None else texture * _bytes(plain) / 255.0)


def _image(material: Any) -> Any:
    """The texture of a material, still packed; None if it has none."""
    return getattr(material, "baseColorTexture", None) or getattr(material, "image", None)


def _bytes(color: Any) -> np.ndarray:
    """A colour in [0, 1] or in bytes, converted to bytes; three or four numbers become four."""
    numbers = np.asarray(color)
    scaled = numbers * 255.0 if numbers.dtype.kind == "f" else numbers.astype(float)
    return np.append(scaled, 255.0) if len(scaled) == 3 else scaled


def _color(numbers: np.ndarray) -> Color:
    red, green, blue, alpha = (round(float(x) / 255.0, 3) for x in numbers)
    return red, green, blue, alpha


def _metres(path: Path, scene: Any) -> float:
    """The unit of a COLLADA file [m], as ROS reads it; other formats have none."""
    words = str(scene.units or "").split()
    number = words[0] if path.suffix.lower() == ".dae" and words else "1"
    try:
        return float(number)
    except ValueError:
        return 1.0

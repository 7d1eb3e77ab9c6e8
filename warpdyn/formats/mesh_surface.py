"""The surface of a mesh file: vertices and triangles.

The package trimesh reads the files (`pip install warpdyn[meshes]`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..model.mesh_files import NO_READER, MeshError

MOST_VERTICES = 2_000_000


class MeshSurface(NamedTuple):
    """Triangles of a mesh, its parts where its scene has them."""

    vertices: np.ndarray
    """(n, 3) [m]."""
    faces: np.ndarray
    """(m, 3) numbers of vertices; none of a cloud of points."""


def surface_of(path: Path) -> MeshSurface:
    """The surface of a mesh file; raises `MeshError` with the reason where it cannot be used."""
    try:
        import trimesh
    except ImportError:
        raise MeshError(NO_READER) from None
    try:
        with path.open("rb") as file:
            read: Any = trimesh.load_scene
            kind = path.suffix.lower()[1:]
            scene = read(file, file_type=kind, process=False, skip_materials=True)
            whole = scene.to_geometry()
            vertices = np.asarray(whole.vertices, dtype=float)
            faces = np.asarray(getattr(whole, "faces", np.zeros((0, 3))), dtype=np.int64)
    except Exception as error:  # whatever trimesh raises on what is no mesh
        said = " ".join(str(error).split()) or type(error).__name__
        raise MeshError(f"trimesh cannot read it ({said[:100]}); write it again") from error
    if vertices.ndim != 2 or not len(vertices):
        raise MeshError("it has no vertices")
    if len(vertices) > MOST_VERTICES:
        raise MeshError(
            f"it has {len(vertices):,} vertices, more than {MOST_VERTICES:,}; simplify it"
        )
    if not np.isfinite(vertices).all():
        raise MeshError("not all of its vertices are finite; write it again")
    return MeshSurface(vertices * _metres(path, scene), faces)


def _metres(path: Path, scene: Any) -> float:
    """The unit of a COLLADA file [m], as ROS reads it; other formats have none."""
    words = str(scene.units or "").split()
    number = words[0] if path.suffix.lower() == ".dae" and words else "1"
    try:
        return float(number)
    except ValueError:
        return 1.0

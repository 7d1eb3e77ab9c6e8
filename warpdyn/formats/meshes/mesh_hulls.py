"""Meshes as a few vertices of their convex hull, chosen so that the hull shrinks least.

The package trimesh reads the files (extra `[meshes]`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np

from ...model.description import Geometry
from ...model.mesh_files import mesh_file
from ...model.poses_and_limits import Vector3, vector3
from .mesh_surface import surface_of

DIRECTIONS = 1024
"""Number of directions in which a hull is compared with its simplification, in addition to the six
along the axes."""

MOST_OF_EXACT = 64
"""Hulls of at most this many vertices keep all of them."""

CLOSE = 1e-6
"""Shortfall of a simplified hull, relative to its size, at which no further vertex is added."""


def hull_points(shape: Geometry, count: int) -> tuple[Vector3, ...]:
    """Vertices of a mesh's convex hull, at most `count`, in the shape's frame [m], its scale
    applied.

    Raises `MeshError` with the reason if the mesh cannot be used.
    """
    path = mesh_file(shape)
    changed = path.stat().st_mtime_ns
    scale = shape.size or (1.0, 1.0, 1.0)
    return tuple(vector3(x) for x in _hull_points(path, changed, vector3(scale), count))


@lru_cache(maxsize=1024)
def _hull_points(path: Path, changed: int, scale: Vector3, count: int) -> np.ndarray:
    """Points (k, 3) of a file at the state of its modification time `changed`."""
    return simplified_hull(surface_of(path).vertices * scale, count)


def simplified_hull(vertices: np.ndarray, count: int) -> np.ndarray:
    """A choice of at most `count` of the vertices (n, 3), all of them on their convex hull.

    The extremes along the axes come first, beginning with the lowest; then, repeatedly, the vertex
    that reaches farthest beyond those chosen, in any of 1,024 directions; then the vertex that lies
    farthest beyond a face of their hull. The result does not depend on the order of the vertices.
    """
    corners = np.unique(vertices, axis=0)
    directions = _directions()
    reach, reached_by = np.full(len(directions), -np.inf), np.zeros(len(directions), int)
    for start in range(0, len(corners), 4096):  # in blocks, so that memory stays small
        along = corners[start : start + 4096] @ directions.T
        best = along.argmax(0)
        farthest = along[best, np.arange(len(directions))]
        further = farthest > reach
        reach = np.where(further, farthest, reach)
        reached_by = np.where(further, best + start, reached_by)
    chosen: list[int] = []
    covered = np.full(len(directions), -np.inf)
    enough = CLOSE * max(float(np.ptp(corners, axis=0).max()), 1e-12)
    while len(chosen) < count:
        lacking = reach - covered
        axes = lacking[:6].argmax()
        k = int(axes if lacking[axes] > enough else lacking.argmax())
        if lacking[k] <= enough:
            break
        chosen.append(int(reached_by[k]))
        covered = np.maximum(covered, corners[chosen[-1]] @ directions.T)
    # The directions can miss a blunt corner, whose normals lie between them.
    while 3 <= len(chosen) < min(count, MOST_OF_EXACT):
        normals, heights = _faces(corners[chosen], enough)
        blocks = np.array_split(corners, 1 + len(corners) // 4096)
        beyond = np.concatenate([(x @ normals.T - heights).max(1, initial=0.0) for x in blocks])
        if beyond.max() <= enough:
            break
        chosen.append(int(beyond.argmax()))
    return corners[chosen]


def _faces(points: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Outward normals (n, 3) and heights (n,) of the planes through three points beyond which no point
    lies."""
    i, j, k = np.array(list(combinations(range(len(points)), 3))).T
    normals = np.cross(points[j] - points[i], points[k] - points[i])
    lengths = np.linalg.norm(normals, axis=1)
    spans = lengths > tolerance * tolerance
    normals, i = normals[spans] / lengths[spans, None], i[spans]
    normals = np.concatenate([normals, -normals])
    heights = np.einsum("nk,nk->n", normals, points[[*i, *i]])
    is_outside = (points @ normals.T - heights).max(0, initial=-np.inf) <= tolerance
    return normals[is_outside], heights[is_outside]


@lru_cache(maxsize=1)
def _directions() -> np.ndarray:
    """The six directions of the axes, then `DIRECTIONS` spread evenly over the sphere by the golden
    angle."""
    k = np.arange(DIRECTIONS)
    z = 1 - (2 * k + 1) / DIRECTIONS
    around, turn = np.sqrt(1 - z * z), k * math.pi * (3 - math.sqrt(5))
    spread = np.stack([around * np.cos(turn), around * np.sin(turn), z], axis=1)
    return np.concatenate([-np.eye(3)[::-1], np.eye(3), spread])

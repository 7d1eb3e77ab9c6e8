"""Moving bodies of a robot: each link with all links fixed to it, and one mesh for its colours."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import trimesh

from ..model import Model
from .shapes import Color, Solid, matrix_of


class MovingBody(NamedTuple):
    """Solids that one instanced mesh draws, in the axes of the link that carries them: opaque
    solids of any colours, or transparent ones of one colour."""

    link: int
    solids: tuple[Solid, ...]


def bodies(model: Model, solids: Sequence[Solid], opacity: float = 1.0) -> tuple[MovingBody, ...]:
    """A robot's solids, grouped by moving body. opacity: that of the whole robot, multiplied by
    each solid's."""
    carriers = _carriers(model)
    groups: dict[tuple[int, Color | None], dict[Color, list[Solid]]] = {}
    for solid in solids:
        carrier, placed = carriers[solid.link]
        vertices = solid.vertices @ placed[:3, :3].T + placed[:3, 3]
        moved = solid._replace(link=carrier, vertices=vertices.astype(np.float32))
        clear = None if solid.color[3] * opacity >= 1.0 else solid.color
        groups.setdefault((carrier, clear), {}).setdefault(solid.color, []).append(moved)
    return tuple(
        MovingBody(carrier, tuple(map(_join_solids, by_color.values())))
        for (carrier, _), by_color in groups.items()
    )


def shrink(solid: Solid, depth: float) -> Solid:
    """The solid shrunk inwards by `depth` [m]."""
    if not depth:
        return solid
    return solid._replace(vertices=solid.vertices - np.float32(depth) * _normals(solid))


def colored_glb(solids: Sequence[Solid]) -> bytes:
    """A GLB file of one mesh with its solids' colours at the vertices; opaque and matte."""
    whole = _join_solids(solids)
    colors = [np.tile(_linear(solid.color), (len(solid.vertices), 1)) for solid in solids]
    # The order of these arrays is that of the accessors 0 to 3 below.
    arrays = (whole.vertices, _normals(whole), np.concatenate(colors), whole.faces.reshape(-1, 1))
    parts = [np.ascontiguousarray(x).tobytes() for x in arrays]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    accessors: list[dict[str, Any]] = [
        {
            "bufferView": k,
            "componentType": 5126 if x.dtype == np.float32 else 5125,
            "count": len(x),
            "type": "VEC3" if x.shape[1] == 3 else "SCALAR",
        }
        for k, x in enumerate(arrays)
    ]
    accessors[0] |= {"min": whole.vertices.min(0).tolist(), "max": whole.vertices.max(0).tolist()}
    mesh = {"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0}
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [mesh]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0}}],
        "accessors": accessors,
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": len(part)}
            for start, part in zip(starts, parts, strict=False)
        ],
        "buffers": [{"byteLength": starts[-1]}],
    }
    # GLB requires chunks whose length is a multiple of four bytes.
    text = json.dumps(document).encode()
    chunks = ((b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", b"".join(parts)))
    body = b"".join(struct.pack("<I", len(data)) + kind + data for kind, data in chunks)
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def _carriers(model: Model) -> list[tuple[int, np.ndarray]]:
    """The number of the link that carries each link through fixed joints, and the pose (4, 4) of each
    link in the axes of its carrier."""
    found = [(0, np.eye(4))]
    for number, joint in enumerate(model.joints, start=1):
        if joint.kind.nv:
            found.append((number, np.eye(4)))
        else:
            carrier, placed = found[model.link_index(joint.parent)]
            found.append((carrier, placed @ matrix_of(joint.pose)))
    return found


def _normals(solid: Solid) -> np.ndarray:
    """Normals of a solid's vertices (n, 3), outwards."""
    mesh = trimesh.Trimesh(solid.vertices, solid.faces, process=False)
    return np.asarray(mesh.vertex_normals, np.float32)


def _join_solids(solids: Sequence[Solid]) -> Solid:
    """The triangles of several solids, as one solid with the first one's colour."""
    starts = np.cumsum([0, *(len(solid.vertices) for solid in solids)])
    faces = [solid.faces + start for solid, start in zip(solids, starts, strict=False)]
    return solids[0]._replace(
        vertices=np.concatenate([solid.vertices for solid in solids]),
        faces=np.concatenate(faces).astype(np.uint32),
    )


def _linear(color: Color) -> np.ndarray:
    """Red, green and blue as linear light intensities, as GLB files store them."""
    coded = np.array(color[:3])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    return linear.astype(np.float32)

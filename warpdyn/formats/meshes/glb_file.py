"""GLB files before trimesh reads them: the size of their scene, and their images.

A small file can name one array or one image many times, and trimesh copies it each time.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

MAGIC = b"glTF"
HEADER, CHUNK = 12, 8
"""Bytes in front of the first chunk, and in front of the content of a chunk."""

ATTRIBUTES = 16
"""Largest number of attributes of a vertex that are expected; most files have three to eight."""

INDICES_OF_VERTEX = 6
"""Indices for each vertex of a closed surface of triangles, which has twice as many triangles as
vertices."""


def is_glb(data: bytes) -> bool:
    """True for a file with a table."""
    return data[:4] == MAGIC and len(data) >= HEADER + CHUNK


def read_table(data: bytes) -> dict[str, Any]:
    """The table of a file, which is JSON. Raises an exception of any kind if it is invalid."""
    table: dict[str, Any] = json.loads(_content(data, HEADER))
    return table


def scene_size(table: dict[str, Any]) -> tuple[int, int]:
    """Parts and vertices of a scene, where each part counts once for each of its places. Arrays
    that trimesh does not take from the file as they are count too, used or not."""
    counts = [int(each.get("count", 0)) for each in table.get("accessors", ())]
    placed = Counter(each["mesh"] for each in table.get("nodes", ()) if "mesh" in each)
    parts = vertices = 0
    for k, mesh in enumerate(table.get("meshes", ())):
        times = max(1, placed[k])
        for primitive in mesh.get("primitives", ()):
            sizes = [counts[name] for name in primitive.get("attributes", {}).values()]
            if "indices" in primitive:
                sizes.append(counts[primitive["indices"]] // INDICES_OF_VERTEX)
            parts += times
            vertices += times * max(sizes, default=0)
    return parts, max(vertices, _copied_numbers(table, counts))


def _copied_numbers(table: dict[str, Any], counts: list[int]) -> int:
    """Vertices in arrays that need no bytes in the file, and in arrays between which others lie."""
    views, empty, interleaved = table.get("bufferViews", ()), 0, 0
    for count, each in zip(counts, table.get("accessors", ()), strict=True):
        if "bufferView" not in each:
            empty += count
        elif "byteStride" in views[each["bufferView"]]:
            interleaved += count
    return max(empty, interleaved // ATTRIBUTES)


def replace_images(data: bytes, table: dict[str, Any], replace: Callable[[bytes], bytes]) -> bytes:
    """The file with other images in the place of those inside it. Images in files of their own
    stay."""
    images = table.get("images")
    if not images:
        return data
    buffers = [_buffer(data, each) for each in table.get("buffers", ())]
    written = []
    for image in images:
        if "bufferView" in image:
            view = table["bufferViews"][image["bufferView"]]
            begin = int(view.get("byteOffset", 0))
            packed = buffers[view["buffer"]][begin : begin + int(view["byteLength"])]
        elif "base64," in image.get("uri", ""):
            packed = _base64(image["uri"])
        else:
            written.append(image)
            continue
        small = base64.b64encode(replace(packed)).decode()
        written.append({"uri": f"data:application/octet-stream;base64,{small}"})
    return _with_table(data, {**table, "images": written})


def _buffer(data: bytes, buffer: dict[str, Any]) -> bytes:
    """The content of a buffer: text in the table, or the chunk after the table. No image is taken
    from another file."""
    uri = buffer.get("uri")
    if uri is None:
        return _content(data, HEADER + CHUNK + _length(data, HEADER))
    return _base64(uri)


def _base64(uri: str) -> bytes:
    return base64.b64decode(uri.partition("base64,")[2])


def _with_table(data: bytes, table: dict[str, Any]) -> bytes:
    """The file with another table."""
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % 4)
    rest = data[HEADER + CHUNK + _length(data, HEADER) :]
    chunk = len(text).to_bytes(4, "little") + data[HEADER + 4 : HEADER + CHUNK] + text
    size = HEADER + len(chunk) + len(rest)
    return data[:8] + size.to_bytes(4, "little") + chunk + rest


def _length(data: bytes, begin: int) -> int:
    """Bytes in the content of the chunk that begins there."""
    return int.from_bytes(data[begin : begin + 4], "little")


def _content(data: bytes, begin: int) -> bytes:
    """The content of the chunk that begins there."""
    return data[begin + CHUNK : begin + CHUNK + _length(data, begin)]

"""GLB files that name one array or one image many times."""

from __future__ import annotations

import base64
import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from time_limit import time_limit

from warpdyn.formats.meshes import glb_file, material_files
from warpdyn.formats.meshes.glb_file import is_glb, read_table, replace_images, scene_size
from warpdyn.formats.meshes.mesh_surface import colored_surfaces, surface_of
from warpdyn.model.mesh_files import MeshError

trimesh = pytest.importorskip("trimesh")

POSITIONS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32).tobytes()
PLACE = {"attributes": {"POSITION": 0}}


def glb(table: dict[str, Any], binary: bytes = POSITIONS) -> bytes:
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def triangle(**entries: Any) -> dict[str, Any]:
    """The table of a file with one triangle."""
    return {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [PLACE]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
        **entries,
    }


def refusal(folder: Path, table: dict[str, Any], binary: bytes = POSITIONS) -> str:
    (folder / "a.glb").write_bytes(glb(table, binary))
    with time_limit(), pytest.raises(MeshError) as error:
        surface_of(folder / "a.glb")
    return str(error.value)


def test_parts_and_vertices_count_once_for_each_place(tmp_path: Path) -> None:
    table = triangle(nodes=[{"mesh": 0}] * 5, scenes=[{"nodes": [*range(5)]}])
    assert scene_size(triangle()) == (1, 3) and scene_size(table) == (5, 15)
    (tmp_path / "a.glb").write_bytes(glb(table))
    assert len(surface_of(tmp_path / "a.glb").vertices) == 15
    assert scene_size(triangle(nodes=[])) == (1, 3), "trimesh reads it, placed or not"
    assert scene_size({}) == (0, 0)


def test_an_array_that_many_parts_share_counts_for_each_of_them(tmp_path: Path) -> None:
    """trimesh copies it for each part: 400 GB for this file of 24 MB."""
    binary = bytes(12 * 2_000_000)
    views = [{"buffer": 0, "byteLength": len(binary)}]
    arrays = [{**triangle()["accessors"][0], "count": 2_000_000}]
    meshes = [{"primitives": [PLACE] * 8000}]
    table = triangle(
        buffers=[{"byteLength": len(binary)}], bufferViews=views, accessors=arrays, meshes=meshes
    )
    assert "it has 16,000,000,000 vertices, more" in refusal(tmp_path, table, binary)


def test_every_attribute_and_the_indices_of_a_part_count() -> None:
    arrays = [{"bufferView": 0, "count": n} for n in (3, 7, 60)]
    part = {"attributes": {"POSITION": 0, "TEXCOORD_0": 1}}
    assert scene_size(triangle(accessors=arrays, meshes=[{"primitives": [part]}])) == (1, 7)
    part["indices"] = 2
    assert scene_size(triangle(accessors=arrays, meshes=[{"primitives": [part]}])) == (1, 10)


def test_arrays_that_trimesh_copies_count_even_if_no_part_uses_them() -> None:
    """Sixteen interleaved arrays are the attributes of one vertex."""
    views = [*triangle()["bufferViews"], {"buffer": 0, "byteLength": 36, "byteStride": 12}]
    empty = [{"count": 100}] * 3
    assert scene_size(triangle(accessors=[*triangle()["accessors"], *empty]))[1] == 300
    strided = [{"count": 100, "bufferView": 1}] * 32
    arrays = [*triangle()["accessors"], *strided]
    assert scene_size(triangle(accessors=arrays, bufferViews=views))[1] == 200
    assert glb_file.ATTRIBUTES == 16 and glb_file.INDICES_OF_VERTEX == 6


def test_many_parts_are_refused(tmp_path: Path) -> None:
    table = triangle(nodes=[{"mesh": 0}] * 50_001, scenes=[{"nodes": [*range(50_001)]}])
    assert "it has 50,001 parts, more than 50,000; simplify it" in refusal(tmp_path, table)


def test_a_table_that_names_missing_arrays_is_refused(tmp_path: Path) -> None:
    assert "trimesh cannot read it" in refusal(tmp_path, triangle(accessors=[]))


def test_images_inside_a_file_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in a buffer, or in the table. Images in files of their own stay."""
    images = pytest.importorskip("PIL.Image")
    packed = io.BytesIO()
    images.new("RGB", (40, 40), (255, 0, 51)).save(packed, "PNG")
    picture = packed.getvalue()
    binary = POSITIONS + bytes(24) + picture + bytes(-len(picture) % 4)
    views = [
        {"buffer": 0, "byteOffset": begin, "byteLength": size}
        for begin, size in ((0, 36), (36, 24), (60, len(picture)))
    ]
    arrays = triangle()["accessors"]
    arrays.append({"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"})
    part = {"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}
    table = triangle(
        buffers=[{"byteLength": len(binary)}],
        bufferViews=views,
        accessors=arrays,
        meshes=[{"primitives": [part]}],
        materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        textures=[{"source": 0}],
        images=[{"bufferView": 2, "mimeType": "image/png"}],
    )
    data = glb(table, binary)
    assert is_glb(data) and not is_glb(b"glTF") and not is_glb(data[1:])
    seen = []
    changed = replace_images(data, read_table(data), lambda x: seen.append(x) or b"small")
    assert seen == [picture] and int.from_bytes(changed[8:12], "little") == len(changed)
    (image,) = read_table(changed)["images"]
    assert base64.b64decode(image["uri"].partition("base64,")[2]) == b"small"
    assert changed.endswith(binary) and replace_images(glb({}), {}, seen.append) == glb({})
    (tmp_path / "a.glb").write_bytes(data)
    (found,) = colored_surfaces(tmp_path / "a.glb")
    assert found.color == (1.0, 0.0, 0.2, 1.0)

    text = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    own = {"uri": "a.png"}
    table["images"] = [{"uri": text}, own, {}]
    written = read_table(replace_images(glb(table), table, lambda x: x[:3]))["images"]
    assert written[1:] == [own, {}] and written[0]["uri"].endswith("iVBO"[:4])
    (tmp_path / "a.glb").write_bytes(glb(table, binary))
    (found,) = colored_surfaces(tmp_path / "a.glb")
    assert found.color == (1.0, 0.0, 0.2, 1.0)

    monkeypatch.setattr(material_files, "MOST_PIXELS_TOGETHER", 3 * 1600 - 1)
    table["images"] = [{"bufferView": 2}] * 3
    (tmp_path / "a.glb").write_bytes(glb(table, binary))
    with pytest.raises(MeshError, match="its textures have more than 4,799 pixels together"):
        colored_surfaces(tmp_path / "a.glb")

"""Materials and textures that a mesh names: only regular files of limited size are read."""

from __future__ import annotations

import io
import os
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from time_limit import time_limit

from warpdyn.formats.meshes import material_files
from warpdyn.formats.meshes import material_files as chosen
from warpdyn.formats.meshes.material_files import MaterialFiles
from warpdyn.formats.meshes.mesh_surface import colored_surfaces, surface_of
from warpdyn.model import mesh_files
from warpdyn.model.mesh_files import MeshError

trimesh = pytest.importorskip("trimesh")
Image = pytest.importorskip("PIL.Image")

OBJ = """mtllib {material}
v 0 0 0
v 1 0 0
v 0 1 0
vt 0 0
usemtl red
f 1/1 2/1 3/1
"""
MATERIAL = "newmtl red\nKd 1 0 0\nmap_Kd {texture}\n"


def obj(folder: Path, material: str = "a.mtl", texture: str = "a.png") -> Path:
    (folder / "a.mtl").write_text(MATERIAL.format(texture=texture))
    (folder / "a.obj").write_text(OBJ.format(material=material))
    return folder / "a.obj"


def why(path: Path) -> str:
    with time_limit(), pytest.raises(MeshError) as error:
        colored_surfaces(path)
    return str(error.value)


def png(width: int, height: int) -> bytes:
    """An image file of this size. Its pixel data are cut short, because no test may unpack them."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


def test_a_mesh_has_the_mean_colour_of_its_texture(tmp_path: Path) -> None:
    """The mean is multiplied by the material's colour. The texture may be in a folder above the
    mesh's. Without the texture the mesh has the material's colour."""
    (tmp_path / "meshes").mkdir()
    Image.new("RGB", (4, 4), (255, 128, 0)).save(tmp_path / "a.png")
    (part,) = colored_surfaces(obj(tmp_path / "meshes", texture="../a.png"))
    assert part.color == (1.0, 0.0, 0.0, 1.0)
    (part,) = colored_surfaces(obj(tmp_path / "meshes", texture="none.png"))
    assert part.color == (1.0, 0.0, 0.0, 1.0)


def test_a_pipe_as_material_or_texture_is_refused_at_once(tmp_path: Path) -> None:
    """The message names the pipe. A mesh file that is a pipe is refused too."""
    os.mkfifo(tmp_path / "pipe.mtl")
    os.mkfifo(tmp_path / "pipe.png")
    said = "which it names, is a pipe, a socket or a device"
    assert f"pipe.mtl, {said}" in why(obj(tmp_path, material="pipe.mtl"))
    assert f"pipe.png, {said}" in why(obj(tmp_path, texture="pipe.png"))
    os.mkfifo(tmp_path / "pipe.stl")
    with time_limit(), pytest.raises(MeshError, match="its file is a pipe, a socket or a device"):
        surface_of(tmp_path / "pipe.stl")


def test_files_other_than_materials_and_textures_are_not_read(tmp_path: Path) -> None:
    """A mesh cannot make the reader open any text as its material."""
    (tmp_path / "secret.txt").write_text(MATERIAL.format(texture="a.png"))
    (part,) = colored_surfaces(obj(tmp_path, material="secret.txt"))
    assert part.color is None
    with pytest.raises(FileNotFoundError, match="neither a material nor a texture"):
        MaterialFiles(tmp_path).get("secret.txt")


def test_a_texture_of_too_many_pixels_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """The header of the file gives the number of pixels, whatever the size of the file."""
    for size, words in (
        ((13_000, 13_000), "a.png, a texture of it, has 13000 x 13000 pixels"),
        ((60_000, 60_000), "a texture of it has too many pixels"),
    ):
        (tmp_path / "a.png").write_bytes(png(*size))
        assert words in why(obj(tmp_path))
    (tmp_path / "a.png").write_bytes(png(8192, 8192))
    assert "truncated" in why(obj(tmp_path))  # that one may be unpacked, and is cut short


def test_the_pixels_of_a_texture_inside_a_mesh_file_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GLB files contain their textures."""
    visual = trimesh.visual.TextureVisuals(
        uv=[[0, 0]] * 3,
        material=trimesh.visual.material.PBRMaterial(baseColorTexture=Image.new("RGB", (40, 40))),
    )
    mesh = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], visual=visual)
    mesh.export(tmp_path / "a.glb")
    assert colored_surfaces(tmp_path / "a.glb")
    monkeypatch.setattr(material_files, "MOST_PIXELS", 1599)
    assert why(tmp_path / "a.glb").startswith("its texture has 40 x 40 pixels, more than the 1,599")


def test_the_pixels_of_all_textures_together_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A texture that two materials name counts once. Each is reduced as soon as it is read, so that
    only one is in memory as a whole."""
    for name, red in (("a.png", 255), ("b.png", 51)):
        Image.new("RGB", (40, 40), (red, 0, 0)).save(tmp_path / name)
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n"
    materials = ""
    for k, name in enumerate(("a.png", "b.png", "a.png")):
        materials += f"newmtl m{k}\nKd 1 1 1\nmap_Kd {name}\n"
        text += f"usemtl m{k}\nf 1/1 2/1 3/1\n"
    (tmp_path / "a.mtl").write_text(materials)
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\n{text}")
    monkeypatch.setattr(material_files, "MOST_PIXELS_TOGETHER", 3200)
    parts = colored_surfaces(tmp_path / "a.obj")
    plain = parts[0].color[0]
    assert [part.color[0] / plain for part in parts] == pytest.approx([1.0, 0.2, 1.0], abs=0.01)
    with Image.open(io.BytesIO(MaterialFiles(tmp_path).get("b.png"))) as small:
        assert small.size == (16, 16)
    monkeypatch.setattr(material_files, "MOST_PIXELS_TOGETHER", 3199)
    assert why(tmp_path / "a.obj").startswith("its textures have more than 3,199 pixels together")


def test_the_unpacked_size_of_a_collada_archive_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small archive of many blanks is refused before it is unpacked."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.dae", b" " * 1_000_000)
    (tmp_path / "a.dae").write_bytes(packed.getvalue())
    monkeypatch.setattr(mesh_files, "LARGEST", 900_000)
    assert "its file unpacked has 1,000,000 bytes, more than the 900,000" in why(tmp_path / "a.dae")
    with pytest.raises(MeshError, match="unpacked has"):
        surface_of(tmp_path / "a.dae")


def test_a_texture_that_is_not_an_image_is_ignored(tmp_path: Path) -> None:
    """The mesh then has the material's colour."""
    (tmp_path / "a.png").write_bytes(b"no picture")
    files = MaterialFiles(tmp_path)
    assert files.get(" a.png ") == files["a.png"] == b"no picture"
    assert files.keys() == () and files.refusals == []
    (part,) = colored_surfaces(obj(tmp_path))
    assert part.color == (1.0, 0.0, 0.0, 1.0)


def test_textures_are_not_checked_without_pillow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(png(60_000, 60_000))
    with pytest.raises(MeshError, match="pixels"):
        MaterialFiles(tmp_path).get("a.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert MaterialFiles(tmp_path).get("a.png") == png(60_000, 60_000)


def test_the_limit_of_pixels_is_8192_by_8192() -> None:
    """One more column is refused, with the limit and the remedy."""
    size = SimpleNamespace(size=(8192, 8192))
    material_files.check_pixels(size, "it")
    with pytest.raises(MeshError) as refused:
        material_files.check_pixels(SimpleNamespace(size=(8192, 8193)), "it")
    assert str(refused.value) == (
        "it has 8192 x 8193 pixels, more than the 67,108,864 that are read; name a file of the mesh, "
        "a smaller one, or leave it out"
    )


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST_PIXELS == 67_108_864
    assert chosen.MOST_PIXELS_TOGETHER == 4 * chosen.MOST_PIXELS and chosen.SIDE == 16

"""The surface of a mesh file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from warpdyn.formats.meshes import mesh_surface
from warpdyn.formats.meshes import mesh_surface as chosen
from warpdyn.formats.meshes.mesh_surface import colored_surfaces, surface_of
from warpdyn.model.mesh_files import MeshError

trimesh = pytest.importorskip("trimesh")

ROOT = Path(__file__).parents[3]


def test_vertices_and_triangles_equal_those_of_the_file(tmp_path: Path) -> None:
    box = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    box.export(tmp_path / "box.ply")
    found = surface_of(tmp_path / "box.ply")
    assert np.allclose(np.ptp(found.vertices, axis=0), (1, 2, 3)) and found.faces.shape == (12, 3)
    again = trimesh.Trimesh(*found, process=False)
    assert again.volume == pytest.approx(6.0)


def test_a_file_that_is_not_a_mesh_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_text("no mesh")
    with pytest.raises(MeshError, match=r"trimesh cannot read it|it has no vertices"):
        surface_of(tmp_path / "part.stl")


def test_a_collada_file_with_missing_materials_is_read(tmp_path: Path) -> None:
    """A part whose material is missing has no colour of its own, so it has the description's
    colour, as in ROS."""
    trimesh.creation.box(extents=(1.0, 2.0, 3.0)).export(tmp_path / "box.dae")
    text = (tmp_path / "box.dae").read_text()
    cut = re.sub(r"<library_effects>.*?</library_effects>", "", text, flags=re.S)
    assert cut != text and "instance_material" in cut
    (tmp_path / "box.dae").write_text(cut)
    (part,) = colored_surfaces(tmp_path / "box.dae")
    assert part.color is None
    assert trimesh.Trimesh(*part.surface, process=False).volume == pytest.approx(6.0)


@pytest.mark.parametrize("diffuse", [None, (128, 255, 255, 255)])
def test_the_colour_of_a_texture_is_its_mean(tmp_path: Path, diffuse: tuple | None) -> None:
    """The mean is multiplied by the material's own colour if there is one."""
    images = pytest.importorskip("PIL.Image")
    picture = images.new("RGB", (32, 32), (200, 100, 0))
    picture.paste((100, 100, 0), (0, 0, 16, 32))
    box = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    material = trimesh.visual.material.SimpleMaterial(image=picture, diffuse=diffuse)
    box.visual = trimesh.visual.TextureVisuals(uv=np.full((8, 2), 0.5), material=material)
    box.export(tmp_path / "box.obj", mtl_name="box.mtl")
    (part,) = colored_surfaces(tmp_path / "box.obj")
    plain = np.array(material.diffuse, float) / 255.0
    expected = tuple(np.array([150 / 255, 100 / 255, 0.0, 1.0]) * plain)
    assert part.color == pytest.approx(expected, abs=0.02)


def test_vertex_counts_are_checked_before_arrays_are_allocated(tmp_path: Path) -> None:
    """One GLB file has an array of zeros without data. Another contains one part a hundred
    times."""
    box = trimesh.creation.box()
    scene = trimesh.Scene()
    for k in range(100):
        scene.add_geometry(box, geom_name="box", node_name=f"n{k}")
    scene.export(tmp_path / "many.glb")
    data = (tmp_path / "many.glb").read_bytes()
    for most, fits in ((800, True), (799, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mesh_surface, "MOST_VERTICES", most)
            if fits:
                assert len(surface_of(tmp_path / "many.glb").vertices) == 800
            else:
                patch.delattr(trimesh.Scene, "dump")  # it is refused before the parts are placed
                with pytest.raises(MeshError, match="it has 800 vertices, more than 799"):
                    surface_of(tmp_path / "many.glb")
    size = int.from_bytes(data[12:16], "little")
    text = json.loads(data[20 : 20 + size])
    for each in text["accessors"]:
        each.update(count=3_000_000_000)
        del each["bufferView"]
    written = json.dumps(text).encode()
    written += b" " * (size - len(written) if len(written) < size else -len(written) % 4)
    head = data[:12] + len(written).to_bytes(4, "little") + data[16:20]
    (tmp_path / "zeros.glb").write_bytes(head + written + data[20 + size :])
    with pytest.raises(MeshError, match=r"it has 300,000,000,000 vertices, more than 2,000,000"):
        surface_of(tmp_path / "zeros.glb")


def test_remarks_of_trimesh_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """They would quote names from the file, which may contain terminal controls."""
    head = "property float {}\n"
    (tmp_path / "a.ply").write_text(
        "ply\nformat ascii 1.0\ncomment TextureFile \x1b[2Jtexture\nelement vertex 3\n"
        + "".join(map(head.format, "xyzst"))
        + "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0 0 0\n1 0 0 0 0\n0 1 0 0 0\n3 0 1 2\n"
    )
    code = (
        "from pathlib import Path\n"
        "from warpdyn.formats.meshes.mesh_surface import colored_surfaces\n"
        "assert len(colored_surfaces(Path('a.ply'))) == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr


def test_a_surface_is_split_by_the_colours_of_its_faces(tmp_path: Path) -> None:
    """Each colour has a part with its faces. With too many colours there is one part with their
    mean."""
    box = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    reds = np.where(np.arange(12) < 4, 255, 51)
    colors = np.stack([reds, np.zeros(12), np.full(12, 102), np.full(12, 255)], 1)
    box.visual = trimesh.visual.ColorVisuals(box, face_colors=colors.astype(np.uint8))
    box.export(tmp_path / "box.ply")
    parts = {part.color: part.surface for part in colored_surfaces(tmp_path / "box.ply")}
    expected = {(0.2, 0.0, 0.4, 1.0): 8, (1.0, 0.0, 0.4, 1.0): 4}
    assert {color: len(part.faces) for color, part in parts.items()} == expected
    area = sum(trimesh.Trimesh(*part, process=False).area for part in parts.values())
    assert area == pytest.approx(box.area)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mesh_surface, "MOST_COLORS", 2)
        assert len(list(colored_surfaces(tmp_path / "box.ply"))) == 2
        patch.setattr(mesh_surface, "MOST_COLORS", 1)
        (part,) = colored_surfaces(tmp_path / "box.ply")
        assert len(part.surface.faces) == 12
        assert part.color == pytest.approx(((4 + 8 * 0.2) / 12, 0.0, 0.4, 1.0), abs=0.003)


@pytest.mark.parametrize(
    ("given", "color"),
    [
        ((0.2, 0.4, 0.6), (51, 102, 153, 255)),
        ((0.2, 0.4, 0.6, 0.8), (51, 102, 153, 204)),
        ((51, 102, 153), (51, 102, 153, 255)),
        ((51, 102, 153, 204), (51, 102, 153, 204)),
    ],
)
def test_colours_as_fractions_or_bytes_are_converted_to_bytes(
    given: tuple[float, ...], color: tuple[int, ...]
) -> None:
    assert mesh_surface._bytes(given) == pytest.approx(color)


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"accessors": [1]}',
        "{",
        '{"accessors": [{"count": "x"}]}',
        '{"accessors": [{"count": 1e999}]}',
    ],
)
def test_a_glb_file_with_a_wrong_table_is_refused(tmp_path: Path, text: str) -> None:
    data = text.encode().ljust(64)
    head = b"glTF" + (2).to_bytes(4, "little") + (20 + len(data)).to_bytes(4, "little")
    (tmp_path / "a.glb").write_bytes(head + len(data).to_bytes(4, "little") + b"JSON" + data)
    with pytest.raises(MeshError, match="trimesh cannot read it"):
        surface_of(tmp_path / "a.glb")


def test_a_hull_has_the_outer_points_and_their_triangles() -> None:
    """Inner points are left out; the volume is that of the box."""
    corners = np.array(np.meshgrid(*[(0.0, 1.0)] * 3)).reshape(3, -1).T * [1.0, 2.0, 3.0]
    found = mesh_surface.hull_of(np.concatenate([corners, [[0.5, 1.0, 1.5]]]))
    assert found.vertices.shape == (8, 3) and found.faces.shape == (12, 3)
    assert found.vertices.dtype == np.float64 and found.faces.dtype == np.int64
    assert trimesh.Trimesh(*found, process=False).volume == pytest.approx(6.0)


def test_points_without_a_hull_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two points have no hull. Without trimesh no points have one."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)], float)
    hull = mesh_surface.hull_of(np.concatenate([corners, [[0.5, 0.5, 0.5]]]))
    assert len(hull.vertices) == 8 and len(hull.faces) == 12
    with pytest.raises(MeshError, match="trimesh cannot read it"):
        mesh_surface.hull_of(corners[:2])
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MeshError) as refused:
        mesh_surface.hull_of(corners)
    assert str(refused.value) == mesh_surface.NO_READER


def test_a_scene_that_trimesh_cannot_convert_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message contains trimesh's reason."""
    trimesh.creation.box().export(tmp_path / "box.ply")

    def fail(*_: object) -> None:
        raise RuntimeError("no\n  geometry")

    monkeypatch.setattr(trimesh.Scene, "to_geometry", fail)
    with pytest.raises(MeshError, match=r"trimesh cannot read it.*no geometry"):
        surface_of(tmp_path / "box.ply")


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST_VERTICES == 2_000_000
    assert chosen.MOST_PARTS == 50_000
    assert chosen.MOST_COLORS == 8

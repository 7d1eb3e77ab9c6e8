"""COLLADA files that place one part many times, and files in archives."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from time_limit import time_limit

from warpdyn.formats.meshes import mesh_surface
from warpdyn.formats.meshes.collada_file import CORNERS_OF_VERTEX, parse, scene_size, unpack
from warpdyn.formats.meshes.mesh_surface import surface_of
from warpdyn.model.mesh_files import MeshError

pytest.importorskip("trimesh")
pytest.importorskip("collada")

GEOMETRY = """<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p> 0 1  2
0 1 3</p></triangles></mesh></geometry></library_geometries>"""

PLACED = '<node id="r"><instance_geometry url="#g"/></node>'


def collada(nodes: str, scene: str) -> bytes:
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>'
        f"{GEOMETRY}<library_nodes>{nodes}</library_nodes><library_visual_scenes>"
        f'<visual_scene id="s">{scene}</visual_scene></library_visual_scenes><scene>'
        '<instance_visual_scene url="#s"/></scene></COLLADA>'
    ).encode()


def file_with_doubling_nodes(times: int) -> bytes:
    """A part placed 2 ** times times: each node places the one before it twice."""
    nodes = PLACED.replace('"r"', '"n0"')
    for k in range(times):
        nodes += f'<node id="n{k + 1}">' + f'<instance_node url="#n{k}"/>' * 2 + "</node>"
    return collada(nodes, f'<node id="r"><instance_node url="#n{times}"/></node>')


def test_the_vertices_of_a_scene_are_those_that_trimesh_places(tmp_path: Path) -> None:
    """Six corners count as a vertex."""
    (tmp_path / "a.dae").write_bytes(file_with_doubling_nodes(3))
    assert scene_size(parse(file_with_doubling_nodes(3)))[1] == 8
    assert len(surface_of(tmp_path / "a.dae").faces) == 8 * 2
    assert CORNERS_OF_VERTEX == 6


def test_a_part_placed_a_billion_times_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.dae").write_bytes(file_with_doubling_nodes(30))
    with time_limit(), pytest.raises(MeshError, match=r"it has 1,073,741,824 vertices, more than"):
        surface_of(tmp_path / "a.dae")


def test_nodes_without_triangles_count_as_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = file_with_doubling_nodes(30).replace(b"0 1  2\n0 1 3", b"")
    parts = scene_size(parse(empty))[0]
    assert parts == 3 * 2**30
    (tmp_path / "a.dae").write_bytes(empty)
    with time_limit(), pytest.raises(MeshError, match=f"it has {parts:,} parts, more than 50,000"):
        surface_of(tmp_path / "a.dae")
    (tmp_path / "a.dae").write_bytes(collada("", PLACED))
    monkeypatch.setattr(mesh_surface, "MOST_PARTS", 2)
    assert len(surface_of(tmp_path / "a.dae").faces) == 2
    monkeypatch.setattr(mesh_surface, "MOST_PARTS", 1)
    with pytest.raises(MeshError, match="it has 2 parts, more than 1; simplify it"):
        surface_of(tmp_path / "a.dae")


def test_a_node_that_places_itself_is_refused(tmp_path: Path) -> None:
    text = collada("", '<node id="n"><instance_node url="#n"/></node>')
    with pytest.raises(RecursionError):
        scene_size(parse(text))
    (tmp_path / "a.dae").write_bytes(text)
    with pytest.raises(MeshError, match="trimesh cannot read it"):
        surface_of(tmp_path / "a.dae")


def test_the_largest_scene_counts() -> None:
    """One scene has more parts, and another one more vertices."""
    other = '</visual_scene><visual_scene id="t">' + "<node/>" * 9
    assert scene_size(parse(collada("", PLACED * 4 + other))) == (9, 4)


def test_parts_of_one_name_count_together() -> None:
    """Readers differ in which of them they take."""
    text = collada("", PLACED).replace(GEOMETRY.encode(), GEOMETRY.encode() * 2)
    assert scene_size(parse(text)) == (3, 2)


def test_several_inputs_share_the_words_of_a_vertex() -> None:
    """The largest offset gives the number of words."""
    text = collada("", PLACED).replace(
        b"<p>", b'<input semantic="NORMAL" source="#n" offset="1"/><p>'
    )
    assert scene_size(parse(text)) == (2, 0)
    assert scene_size(parse(text.replace(b"1 3", b"1 3" + b" 0" * 6)))[1] == 1


def test_a_scene_of_no_parts_has_no_vertices() -> None:
    assert scene_size(parse(b"<COLLADA/>")) == (0, 0)
    broken = collada("", '<node><instance_geometry/><instance_node url="#none"/></node>')
    assert scene_size(parse(broken)) == (1, 0)


@pytest.mark.parametrize(
    "dtd", ['SYSTEM "a.dtd"', "[<!ENTITY a 'b'>]", '[<!ENTITY a SYSTEM "/b">]']
)
def test_entities_are_refused(tmp_path: Path, dtd: str) -> None:
    (tmp_path / "a.dae").write_bytes(f"<!DOCTYPE COLLADA {dtd}>".encode() + collada("", PLACED))
    with pytest.raises(MeshError, match="entities and external DTDs are never read"):
        surface_of(tmp_path / "a.dae")


def test_long_texts_are_read(tmp_path: Path) -> None:
    """Meshes of robots have arrays of more than ten million characters."""
    long = collada("", PLACED).replace(b"0 1 3", b"0 1 3" + b" " * 10_100_000)
    (tmp_path / "a.dae").write_bytes(long)
    assert len(surface_of(tmp_path / "a.dae").faces) == 2


def test_a_file_in_an_archive_is_unpacked(tmp_path: Path) -> None:
    """A file of macOS with an icon is not the mesh. An archive inside an archive is refused."""

    def archive(**files: bytes) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as written:
            for name, data in files.items():
                written.writestr(f"{name}.dae", data)
        return packed.getvalue()

    text = collada("", PLACED)
    assert unpack(text) == text
    data = archive(__MACOSX=b"icon", part=text)
    assert unpack(data) == text and unpack(archive(__MACOSX=text)) == text
    (tmp_path / "a.dae").write_bytes(data)
    assert len(surface_of(tmp_path / "a.dae").faces) == 2
    (tmp_path / "a.dae").write_bytes(archive(part=data))
    with pytest.raises(MeshError, match="trimesh cannot read it"):
        surface_of(tmp_path / "a.dae")
    (tmp_path / "a.dae").write_bytes(archive().ljust(30))
    with pytest.raises(MeshError, match="its archive contains no"):
        surface_of(tmp_path / "a.dae")

"""Simplified hulls of meshes: which vertices are chosen, which files are read, which are
refused."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from warpdyn.formats.meshes import mesh_hulls as chosen
from warpdyn.formats.meshes.mesh_hulls import hull_points, simplified_hull
from warpdyn.model.description import Geometry
from warpdyn.model.mesh_files import MeshError

DIRECTIONS = np.random.default_rng(0).normal(size=(500, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])


def reach(points: np.ndarray) -> np.ndarray:
    return (points @ DIRECTIONS.T).max(0)


def ellipsoid(count: int = 4000) -> np.ndarray:
    points = np.random.default_rng(1).normal(size=(count, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points * [0.1, 0.2, 0.3]


def test_the_hull_of_a_box_is_its_corners() -> None:
    """Points inside the box do not count. Eight vertices are chosen, although sixteen are
    allowed."""
    inside = np.random.default_rng(2).uniform(0.01, 0.99, (500, 3)) * [1, 2, 3]
    chosen = simplified_hull(np.concatenate([inside, CORNERS]), 16)
    assert sorted(map(tuple, chosen)) == sorted(map(tuple, CORNERS))


def test_the_top_of_a_very_flat_pyramid_is_chosen() -> None:
    """The normals of this corner are between the directions that the search tries."""
    for angle in np.linspace(0.1, 3.0, 15):
        axis = np.array([np.sin(angle), 0.3 * np.cos(2 * angle), np.cos(angle)])
        side = np.cross(axis, [0.3, 1.0, 0.2])
        base = [side, np.cross(axis, side), -side, -np.cross(axis, side)]
        pyramid = np.array([*base, 0.01 * axis, -axis])
        assert sorted(map(tuple, simplified_hull(pyramid, 16))) == sorted(map(tuple, pyramid))


@pytest.mark.parametrize("size", [4000, 10_000])
def test_chosen_vertices_are_vertices_of_the_mesh_with_its_extremes(size: int) -> None:
    """So the hull of the chosen vertices is inside the mesh's hull, and touches its bounding box on
    six sides. Vertices are read in blocks of 4,096."""
    vertices = ellipsoid(size)
    for count in (6, 8, 16, 64):
        chosen = simplified_hull(vertices, count)
        assert len(chosen) == len(np.unique(chosen, axis=0)) == count
        assert set(map(tuple, chosen)) <= set(map(tuple, vertices))
        np.testing.assert_array_equal(chosen.min(0), vertices.min(0))
        np.testing.assert_array_equal(chosen.max(0), vertices.max(0))
    assert simplified_hull(vertices, 1)[0, 2] == vertices[:, 2].min()


def test_more_vertices_approximate_the_mesh_better() -> None:
    """The error of a hull of n vertices falls with n, about as 1 / n, as for the best choice."""
    vertices = ellipsoid()
    lacking = [
        (reach(vertices) - reach(simplified_hull(vertices, n))).max() for n in (8, 16, 32, 64, 128)
    ]
    assert all(b < a for a, b in pairwise(lacking))
    assert lacking[2] < 0.15 * 0.3 and lacking[4] < 0.05 * 0.3


def test_the_choice_ignores_the_order_and_repetition_of_vertices() -> None:
    """Not on the order of its vertices, nor on how often one is written."""
    vertices = ellipsoid(500)
    mixed = np.random.default_rng(3).permutation(np.concatenate([vertices, vertices[::3]]))
    np.testing.assert_array_equal(simplified_hull(vertices, 20), simplified_hull(mixed, 20))


def test_flat_meshes_and_single_points_have_vertices() -> None:
    """A sheet has its four corners, a single point has itself."""
    sheet = np.array([[x, y, 0.0] for x in np.linspace(0, 1, 9) for y in np.linspace(0, 1, 9)])
    assert sorted(map(tuple, simplified_hull(sheet, 16)[:, :2])) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert simplified_hull(np.ones((5, 3)), 16).tolist() == [[1, 1, 1]]
    assert simplified_hull(sheet, 0).shape == (0, 3)


# Files.


def mesh(path: Path, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Geometry:
    return Geometry("mesh", scale, path.name, folder=path.parent)


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb", "dae"])
def test_mesh_files_of_every_format_are_read(kind: str, tmp_path: Path) -> None:
    """The scale is applied: a box of 1 x 2 x 3 has eight corners."""
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    path = tmp_path / f"box.{kind}"
    box.export(path)
    points = np.array(hull_points(mesh(path, (2.0, 1.0, -0.5)), 16))
    assert len(points) == 8
    np.testing.assert_allclose(np.abs(points), np.tile([1.0, 1.0, 0.75], (8, 1)), atol=1e-6)


def test_parts_are_placed_by_their_scene(tmp_path: Path) -> None:
    """One file contains two cubes next to each other."""
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    for x in (0.0, 5.0):
        place = trimesh.transformations.translation_matrix([x, 0, 0])
        scene.add_geometry(trimesh.creation.box((1.0, 1.0, 1.0)), transform=place)
    scene.export(tmp_path / "two.glb")
    points = np.array(hull_points(mesh(tmp_path / "two.glb"), 16))
    assert (points[:, 0].min(), points[:, 0].max()) == (-0.5, 5.5) and len(points) == 8


def test_the_unit_of_a_collada_file_is_applied(tmp_path: Path) -> None:
    """Modelling programs write files in centimetres."""
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "box.dae"
    trimesh.creation.box((100.0, 100.0, 100.0)).export(path)
    text = path.read_text()
    assert "</asset>" in text
    unit = '<unit name="centimeter" meter="0.01"/><up_axis>'
    text = text.replace("<up_axis>", unit, 1) if "<unit" not in text else text
    path.write_text(text)
    assert np.abs(hull_points(mesh(path), 16)).max() == pytest.approx(0.5)


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """The modification time decides. Otherwise the vertices come from the cache."""
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "box.stl"
    for k, size in enumerate((1.0, 4.0)):
        trimesh.creation.box((size, size, size)).export(path)
        import os

        os.utime(path, (k + 1, k + 1))
        assert np.abs(hull_points(mesh(path), 16)).max() == size / 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "cut.stl",
            b"\0" * 80 + b"\xff\xff\0\0" + b"\0" * 30,
            "trimesh cannot read it|no vertices",
        ),
        ("words.obj", b"this is not a mesh", "trimesh cannot read it|no vertices"),
        ("empty.stl", b"", "trimesh cannot read it|no vertices"),
        ("cut.dae", b"<COLLADA><asset>", "trimesh cannot read it"),
        ("cut.glb", b"glTF", "trimesh cannot read it"),
        (
            "nan.obj",
            b"v 0 0 nan\nv 0 1 0\nv 1 0 0\nf 1 2 3\n",
            "not all of its vertices are finite",
        ),
    ],
)
def test_broken_files_raise_a_mesh_error(
    name: str, content: bytes, said: str, tmp_path: Path
) -> None:
    """No error of another type is raised."""
    pytest.importorskip("trimesh")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshError, match=said):
        hull_points(mesh(tmp_path / name), 16)


def test_without_trimesh_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package that reads meshes is an optional extra."""
    (tmp_path / "a.stl").write_bytes(b"solid\nendsolid\n")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MeshError, match=r"pip install '.\[meshes\]'"):
        hull_points(mesh(tmp_path / "a.stl"), 16)


def test_a_mesh_without_a_scale_is_as_large_as_its_file(tmp_path: Path) -> None:
    """A missing scale means 1 along every axis."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box(extents=(1.0, 2.0, 3.0)).export(tmp_path / "box.ply")
    for size in ((), (1.0, 1.0, 1.0)):
        points = np.array(hull_points(mesh(tmp_path / "box.ply", size), 16))
        assert np.ptp(points, axis=0) == pytest.approx([1.0, 2.0, 3.0], abs=1e-9)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.DIRECTIONS == 1024
    assert chosen.CLOSE == 1e-06
    assert chosen.MOST_OF_EXACT == 64

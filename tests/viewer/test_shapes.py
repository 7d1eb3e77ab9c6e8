"""Triangles of a robot's shapes: place, size and colour, and the replacement of a mesh that cannot
be read."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.model.description import Geometry, Link
from warpdyn.model.poses_and_limits import Pose
from warpdyn.viewer.shapes import (
    BOX,
    ENDLESS,
    THICK,
    TOUCHING,
    inertia_box,
    smooth_faces,
    solids,
    triangles,
)

POSE = Pose.at((0.1, 0.2, 0.3), (0.0, 0.0, np.pi / 2))


@pytest.mark.parametrize(
    ("shape", "size", "extent", "volume"),
    [
        ("box", (0.2, 0.4, 0.6), (0.4, 0.2, 0.6), 0.048),
        ("sphere", (0.5,), (1, 1, 1), np.pi / 6),
        ("cylinder", (0.1, 0.5), (0.2, 0.2, 0.5), 0.005 * np.pi),
        ("ellipsoid", (0.1, 0.2, 0.3), (0.4, 0.2, 0.6), 8e-3 * np.pi),
        ("capsule", (0.1, 0.5), (0.2, 0.2, 0.7), 0.005 * np.pi + 4e-3 / 3 * np.pi),
    ],
)
def test_a_primitive_has_its_place_size_and_volume(shape, size, extent, volume) -> None:
    """They are in the link's axes, rotated by a right angle. Round shapes are right to a few
    percent."""
    ((mesh, color),) = triangles(Geometry(shape, size, pose=POSE, color=(1, 0, 0, 1)))
    assert color == (1, 0, 0, 1)
    low, high = mesh.bounds
    assert np.allclose((low + high) / 2, (0.1, 0.2, 0.3), atol=2e-3)
    assert np.allclose(high - low, extent, rtol=0.02)
    assert mesh.volume == pytest.approx(volume, rel=0.05) and mesh.is_winding_consistent


def test_a_mesh_is_scaled_and_placed(tmp_path: Path) -> None:
    import trimesh

    trimesh.creation.box(extents=(1.0, 2.0, 3.0)).export(tmp_path / "part.stl")
    shape = Geometry("mesh", (0.1, 0.1, 0.1), "part.stl", POSE, folder=tmp_path)
    ((mesh, _),) = triangles(shape)
    low, high = mesh.bounds
    assert np.allclose(high - low, (0.2, 0.1, 0.3), atol=1e-6)


def test_materials_of_a_mesh_override_the_descriptions_colour(tmp_path: Path) -> None:
    """The .obj file has two materials. Without its .mtl file the description's colour is used."""
    (tmp_path / "part.obj").write_text(
        "mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\n"
        "usemtl red\nf 1/1 2/1 3/1\nusemtl blue\nf 1/1 2/1 4/1\n"
    )
    green = (0.0, 1.0, 0.0, 1.0)
    shape = Geometry("mesh", (), "part.obj", folder=tmp_path, color=green)
    assert {color for _, color in triangles(shape)} == {green}
    (tmp_path / "part.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    assert {color for _, color in triangles(shape)} == {(1, 0, 0, 1), (0, 0, 1, 1)}


def test_curved_surfaces_are_smooth_and_edges_are_sharp() -> None:
    """A vertex belongs to faces of one direction on a box, and to the side or to an end of a
    cylinder."""
    ((box, _),) = triangles(Geometry("box", (1.0, 1.0, 1.0)))
    ((can, _),) = triangles(Geometry("cylinder", (0.1, 1.0)))
    assert len(box.vertices) == 24 and box.area == pytest.approx(6.0)
    up = np.abs(can.face_normals[:, 2]) > 0.5
    ends, side = (set(can.faces[rows].ravel()) for rows in (up, ~up))
    assert not ends & side and len(side) == 64


def test_a_smooth_strip_shares_its_vertices_whatever_the_order_of_its_faces() -> None:
    import trimesh

    vertices = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0), (0.0, 2.0, 0.0)]
    strip = [(0, 1, 2), (1, 3, 2), (2, 3, 4)]
    for faces in permutations(strip):
        mesh = trimesh.Trimesh(vertices, faces, process=False)
        assert len(smooth_faces(mesh).vertices) == 5


def test_a_plane_is_drawn_but_is_no_part_of_the_robots_size() -> None:
    """Its upper side is the plane. An infinite plane is cut off. It is also drawn with the
    collision shapes."""
    text = (
        '<mujoco><worldbody><geom type="plane" size="9 {} 1" pos="0 0 -1" rgba="0 1 0 1"/>'
        '<body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    for half, length in (("3", 6.0), ("0", ENDLESS)):
        with pytest.warns(wd.ModelWarning):
            model = wd.load_mjcf(text.format(half))
        for which in ("visual", "collision"):
            plane, ball = solids(model, which).solids
            low, high = plane.vertices.min(0), plane.vertices.max(0)
            assert plane.plane and not ball.plane and high[2] == pytest.approx(-1.0)
            assert np.allclose((high - low)[:2], (18.0, length))
    page = viewer.show(model, controls=False)
    try:
        view = page.robots["robot"]
        low, high = view.box(view.poses)
        assert np.allclose(high - low, 0.2, atol=0.01)
        assert view.box(view.poses, planes=True)[0][2] < -1.0
        assert page.stage._ground.position[2] < -1.0, "the page's ground does not hide it"
    finally:
        page.stop()


def test_an_sdf_collision_plane_is_drawn_with_collision_shapes() -> None:
    """It is drawn once, although the link shows the same plane. Another visual plane is drawn too,
    as for MJCF."""
    plane = "<geometry><plane><normal>0 1 0</normal><size>2 4</size></plane></geometry>"
    ball = "<visual name='b'><geometry><sphere><radius>0.1</radius></sphere></geometry></visual>"
    seen = f"<visual name='p'>{plane}</visual>"
    touching = f"<collision name='p'><pose>0 -1 0 0 0 0</pose>{plane}</collision>"
    same = f"<collision name='p'>{plane}</collision>"
    for inside, visual, at in (
        (ball + touching, [False], [-1.0]),
        (seen + same, [True], [0.0]),
        (seen + touching, [True], [-1.0, 0.0]),
    ):
        text = f'<sdf version="1.9"><model name="m"><link name="a">{inside}</link></model></sdf>'
        with pytest.warns(wd.ModelWarning, match="is a plane, which has no contacts"):
            model = wd.load_sdf(text)
        assert [solid.plane for solid in solids(model).solids] == visual
        (drawn,) = solids(model, "collision").solids
        assert drawn.plane and drawn.color == TOUCHING
        upper = np.unique(drawn.vertices[:, 1].round(4))
        assert set(at) <= set(upper.tolist()) and len(drawn.faces) == 12 * len(at)


def test_packages_of_the_caller_come_first(tmp_path: Path, monkeypatch) -> None:
    """The caller's folder overrides the environment."""
    import trimesh

    for place, size in (("mine", 1.0), ("theirs/part", 2.0)):
        (tmp_path / place).mkdir(parents=True)
        trimesh.creation.box(extents=(size,) * 3).export(tmp_path / place / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "theirs"))
    shape = Geometry("mesh", (), "package://part/a.stl")
    for packages, size in (({}, 2.0), ({"part": tmp_path / "mine"}, 1.0)):
        ((mesh, _),) = triangles(shape, packages)
        assert np.allclose(mesh.extents, size)


def test_a_huge_mesh_is_not_read_and_a_broken_one_is_reported(tmp_path: Path) -> None:
    """The size of the file is checked before reading."""
    with (tmp_path / "huge.stl").open("wb") as file:
        file.truncate(2**30)  # a sparse file: no byte is on the disk
    (tmp_path / "broken.dae").write_text("<COLLADA>")
    for name, why in (
        ("huge.stl", "1,024 MiB, more than the 64 MiB"),
        ("broken.dae", "cannot read it"),
    ):
        (tmp_path / "r.urdf").write_text(
            TEXT.format(more="").replace("package://nowhere/part.stl", name)
        )
        (solid,), (line,) = solids(wd.load(tmp_path / "r.urdf"))
        assert solid.color == BOX and why in line and "\n" not in line


def test_the_box_of_an_inertia_has_this_inertia() -> None:
    """It has uniform density about its centre, in its axes."""
    turn = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    inertia = turn @ np.diag([0.02, 0.03, 0.04]) @ turn.T
    link = Link("body", 2.0, (0.1, 0.0, -0.2), tuple(map(tuple, inertia)))
    box = inertia_box(link)
    box.density = 2.0 / box.volume
    assert np.allclose(box.center_mass, link.com, atol=1e-9)
    assert np.allclose(box.moment_inertia, inertia, atol=1e-9)
    assert inertia_box(Link("frame")) is None


def test_the_bundled_robots_show_their_own_colours() -> None:
    """Each link and colour has one solid, and none is a box of inertia."""
    for name in wd.robot_names():
        drawn = solids(wd.load_robot(name))
        assert drawn.solids and not drawn.remarks
        assert len({(s.link, s.color) for s in drawn.solids}) == len(drawn.solids)
        assert all(s.color != BOX and len(s.faces) for s in drawn.solids)
        assert all(int(s.faces.max()) < len(s.vertices) for s in drawn.solids)


def test_collision_shapes_have_one_colour() -> None:
    model = wd.load_robot("quadruped")
    drawn = solids(model, "collision")
    assert {s.color for s in drawn.solids} == {TOUCHING}
    assert {model.link_names[s.link] for s in drawn.solids} == {
        x.name for x in map(model.link, model.link_names) if x.collisions
    }


def test_a_link_without_shapes_is_not_drawn_if_others_have_some() -> None:
    """It may be a frame with mass, such as a base that only carries the inertia. If no link has
    shapes, every link is a box."""
    heavy = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    seen = "<visual><geometry><sphere radius='0.1'/></geometry></visual>"
    for shape, links in ((seen, [0]), ("", [0, 1])):
        text = f'<robot name="r"><link name="a">{heavy}{shape}</link><link name="b">{heavy}</link>{joint}</robot>'
        assert [solid.link for solid in solids(wd.load_urdf(text)).solids] == links


TEXT = """<robot name="r"><link name="base"><inertial><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
<visual><geometry><mesh filename="package://nowhere/part.stl"/></geometry></visual>{more}</link></robot>"""


def test_a_missing_mesh_is_replaced_and_reported_once() -> None:
    """The collision shapes replace it, or the box of its inertia."""
    ball = '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
    for more, color in ((ball, None), ("", BOX)):
        drawn = solids(wd.load_urdf(TEXT.format(more=more)))
        (solid,) = drawn.solids
        assert (solid.color == BOX) == (color == BOX)
        (line,) = drawn.remarks
        assert line.startswith('base: the mesh "package://nowhere/part.stl" is not drawn: ')
        assert "ROS_PACKAGE_PATH" in line


def test_a_mesh_that_is_missing_twice_is_reported_once() -> None:
    shape = TEXT[TEXT.index("<visual>") : TEXT.index("{more}")]
    drawn = solids(wd.load_urdf(TEXT.format(more=shape)))
    assert len(drawn.remarks) == 1 and not any(solid.plane for solid in drawn.solids)


def test_a_capsule_is_moved_to_its_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some releases of trimesh have its lower end at the origin."""
    import trimesh

    capsule = trimesh.creation.capsule

    def shift(*args: Any, **options: Any) -> Any:
        return capsule(*args, **options).apply_translation((0.0, 0.0, 0.4))

    monkeypatch.setattr(trimesh.creation, "capsule", shift)
    ((mesh, _),) = triangles(Geometry("capsule", (0.1, 0.5)))
    assert np.allclose(mesh.bounds.sum(0), 0.0, atol=1e-9)


def test_a_plane_lies_in_the_middle_of_its_place() -> None:
    """Its thickness is below."""
    ((mesh, _),) = triangles(Geometry("plane", (2.0, 4.0)))
    assert np.allclose(mesh.bounds, [[-1.0, -2.0, -THICK], [1.0, 2.0, 0.0]])


def test_a_mesh_without_faces_stays_without_faces() -> None:
    import trimesh

    empty = trimesh.Trimesh(np.zeros((3, 3)), np.zeros((0, 3), int), process=False)
    assert smooth_faces(empty).faces.shape == (0, 3)

"""Contact points from collision shapes: positions, selection, and shapes that are left out."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.collision_points import RIM
from warpdyn.model.poses_and_limits import Pose

TURN = Pose.at((0.1, -0.2, 0.3), (0.4, -0.5, 0.6))


def model_of(*shapes: wd.description.Geometry, floating: bool = True) -> wd.Model:
    """A cart with these shapes on its pole, and a sphere on its first link."""
    model = wd.load_robot("cartpole", floating_base=floating)
    dressed = {"pole": shapes, "rail": (wd.description.Geometry("sphere", (0.3,)),)}
    links = tuple(replace(x, collisions=dressed.get(x.name, ())) for x in model.links)
    return replace(model, links=links)


def on_pole(shape: wd.description.Geometry) -> list[wd.ContactPoint]:
    points = wd.ContactPoints(model_of(shape)).only("pole")
    assert all(type(point) is wd.ContactPoint and point.link == "pole" for point in points)
    return list(points)


def inside(shape: wd.description.Geometry, point: wd.ContactPoint) -> np.ndarray:
    """The centre of a point in the shape's own frame."""
    R, p = np.array(shape.pose.rotation), np.array(shape.pose.position)
    return R.T @ (np.array(point.centre) - p)


def test_a_sphere_gives_one_point_with_its_radius() -> None:
    (point,) = on_pole(wd.description.Geometry("sphere", (0.07,), pose=TURN))
    assert point.radius == 0.07 and point.centre == pytest.approx(TURN.position)


def test_a_capsule_gives_points_at_both_ends() -> None:
    shape = wd.description.Geometry("capsule", (0.05, 0.4), pose=TURN)
    found = [inside(shape, point) for point in on_pole(shape)]
    assert np.allclose(found, [[0, 0, -0.2], [0, 0, 0.2]], atol=1e-12)
    assert {point.radius for point in on_pole(shape)} == {0.05}


def test_a_box_gives_points_at_its_eight_corners() -> None:
    """Each at half of the size along each axis."""
    shape = wd.description.Geometry("box", (0.2, 0.4, 0.6), pose=TURN)
    found = np.array([inside(shape, point) for point in on_pole(shape)])
    assert (
        np.allclose(np.abs(found), [0.1, 0.2, 0.3]) and len(np.unique(np.sign(found), axis=0)) == 8
    )


def test_a_cylinder_gives_points_on_its_rims() -> None:
    shape = wd.description.Geometry("cylinder", (0.1, 0.5), pose=TURN)
    found = np.array([inside(shape, point) for point in on_pole(shape)])
    assert len(found) == 2 * RIM and np.allclose(np.hypot(found[:, 0], found[:, 1]), 0.1)
    assert sorted(np.round(found[:, 2], 9)) == [-0.25] * RIM + [0.25] * RIM
    assert np.allclose(found.mean(0), 0, atol=1e-12)


def test_a_mesh_gives_vertices_of_its_hull(tmp_path: Path) -> None:
    """The file is read next to the description.

    The number of points can be chosen, also as zero.
    """
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(radius=0.1).export(tmp_path / "ball.stl")
    text = (
        '<robot name="r"><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial><collision><origin xyz="0 0 0.5"/>'
        '<geometry><mesh filename="ball.stl" scale="1 1 2"/></geometry></collision></link></robot>'
    )
    (tmp_path / "r.urdf").write_text(text)
    model = wd.load(tmp_path / "r.urdf", floating_base=True)
    points = wd.ContactPoints(model)
    assert len(points) == 16 and not points.left_out and {p.radius for p in points} == {0.0}
    centres = np.array([p.centre for p in points]) - [0, 0, 0.5]
    np.testing.assert_allclose(np.linalg.norm(centres / [1, 1, 2], axis=1), 0.1, rtol=1e-6)
    assert centres[:, 2].min() == pytest.approx(-0.2) and len(set(points)) == 16
    assert len(wd.ContactPoints(model, mesh_points=6)) == 6
    assert len(wd.ContactPoints(model, mesh_points=0)) == 0
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match="mesh_points must be a whole number of at least 0"):
            wd.ContactPoints(model, mesh_points=wrong)  # type: ignore[arg-type]


def test_meshes_are_found_next_to_sdf_and_xacro_files(tmp_path: Path) -> None:
    """The files are found in the same way as for URDF."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("xacro")
    trimesh.creation.box((1.0, 1.0, 1.0)).export(tmp_path / "box.stl")
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    shape = '<collision><geometry><mesh filename="${what}.stl"/></geometry></collision>'
    (tmp_path / "r.xacro").write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:property name="what" value="box"/><link name="a">{body}{shape}</link></robot>'
    )
    (tmp_path / "r.sdf").write_text(
        '<sdf version="1.9"><model name="r"><link name="a"><collision name="c"><geometry><mesh>'
        "<uri>box.stl</uri></mesh></geometry></collision></link></model></sdf>"
    )
    for model in (
        wd.load_xacro(tmp_path / "r.xacro", floating_base=True),
        wd.load_sdf(tmp_path / "r.sdf", floating_base=True),
    ):
        assert len(wd.ContactPoints(model)) == 8


def test_meshes_of_a_real_robot_are_found_by_package() -> None:
    """A `package://` path is searched in folders above the description.

    The points have the bounds of the mesh.
    """
    trimesh = pytest.importorskip("trimesh")
    data = metadata.distribution("example-robot-data")
    robots = Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(robots / "ur_description/urdf/ur5_robot.urdf")
    points = wd.ContactPoints(model, mesh_points=8)
    assert not points.left_out and len(points.only("upper_arm_link")) == 8
    mesh = trimesh.load(robots / "ur_description/meshes/ur5/collision/upperarm.stl")
    centres = np.array([p.centre for p in points.only("upper_arm_link")])
    np.testing.assert_allclose([centres.min(0), centres.max(0)], mesh.bounds, atol=1e-6)


def test_missing_meshes_are_left_out_and_listed() -> None:
    """The list gives the reason. Other links have their points."""
    points = wd.ContactPoints(
        model_of(wd.description.Geometry("mesh", (1.0, 1.0, 1.0), "pole.stl"))
    )
    why = "its name is relative, and the description came as text; load it by its path"
    assert points.links == ("rail",) and points.left_out == (("pole", "the mesh pole.stl", why),)
    assert f"left out: the mesh pole.stl of pole ({why})" in repr(points)


def test_links_fixed_in_the_world_have_no_points() -> None:
    """An example is the rail of a cart on a fixed base."""
    sphere = wd.description.Geometry("sphere", (0.1,))
    assert wd.ContactPoints(model_of(sphere, floating=False)).links == ("pole",)
    assert wd.ContactPoints(model_of(sphere)).links == ("rail", "pole")


def test_points_are_chosen_and_added_by_name_or_pattern() -> None:
    """They are in the order of the links."""
    points = wd.ContactPoints(wd.load_robot("quadruped"))
    feet = points.only("*_foot")
    assert feet.links == ("FL_foot", "FR_foot", "RL_foot", "RR_foot") and len(feet) == 4
    assert {point.radius for point in feet} == {0.022}
    assert len(points) == 21 and points.without("base", "*_hip", "*_calf")[:] == feet[:]
    more = feet.with_sphere("base", (0.2, 0, 0), 0.1)
    assert more[-1] == wd.ContactPoint("base", (0.2, 0.0, 0.0), 0.1) and len(more) == 5
    assert repr(feet) == (
        "<4 contact points of quadruped: 1 on FL_foot, 1 on FR_foot, 1 on RL_foot, 1 on RR_foot>"
    )


def test_unknown_links_are_refused_with_suggestions() -> None:
    points = wd.ContactPoints(wd.load_robot("quadruped"))
    with pytest.raises(KeyError, match=r"no contact points on 'FL_fot'; there are some on FL_foot"):
        points.only("FL_fot")
    with pytest.raises(KeyError, match=r"did you mean.*FL_foot"):
        points.with_sphere("FL_fot")
    none = wd.ContactPoints(wd.load_robot("cartpole"))
    assert len(none) == 0
    with pytest.raises(KeyError, match="there are some on no link"):
        none.only("pole")


def test_a_trunk_rests_on_the_corners_of_its_box() -> None:
    """Dropped on its own box, it rests at half the box's height above the floor."""
    model = wd.load_robot("quadruped")
    trunk = wd.ContactPoints(model).only("base")
    q, v = model.neutral.copy(), np.zeros(model.nv)
    q[2] = 0.057
    end = wd.oracle(wd.step, model, q, v, v, points=trunk, dt=0.005, substeps=4)
    assert np.sum(end[3][:, 2]) > 10 and set(np.nonzero(end[3][:, 2])[0]) <= {0, 2, 4, 6}


def test_points_are_equal_if_their_models_and_entries_are_equal() -> None:
    model = model_of(wd.description.Geometry("sphere", (0.07,)))
    points = wd.ContactPoints(model)
    assert points == wd.ContactPoints(model) and hash(points) == hash(wd.ContactPoints(model))
    assert points != points.only("pole") and points != "points"
    assert points != wd.ContactPoints(replace(model, name="another"))
    assert copy.deepcopy(points) == points

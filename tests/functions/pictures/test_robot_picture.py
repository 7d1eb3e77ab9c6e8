"""Robots as outlines: hulls, projections, order by depth, the ground."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.pictures.robot_picture import RobotPicture, Sight, _bodies, outline

LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SHAPES = f"""<robot name="shapes"><link name="ball">{LINK}<visual><origin xyz="0 0 1"/><geometry>
<sphere radius="0.3"/></geometry></visual></link>
<link name="box">{LINK}<collision><geometry><box size="0.2 0.4 0.6"/></geometry></collision></link>
<link name="bare">{LINK}</link>
<joint name="slide" type="prismatic"><parent link="ball"/><child link="box"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1"/></joint>
<joint name="turn" type="continuous"><parent link="box"/><child link="bare"/><origin xyz="1 0 0"/>
<axis xyz="0 1 0"/></joint></robot>"""
WEDGE = "v 0.5 0 0\nv 0 0 0\nv 0 0.2 0\nv 0 0 0.3\nf 1 3 4\nf 1 4 2\nf 1 2 3\nf 2 4 3\n"
LEVEL = Sight(0.0, 0.0)


def test_a_hull_has_the_corners_of_its_points():
    """Counter-clockwise, without points inside or on an edge, in any order of the points."""
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    inside = np.array([[1.0, 0.5], [1.0, 0.0], [0.5, 0.2]])
    points = np.concatenate([inside, corners])
    found = outline(points[np.random.default_rng(0).permutation(len(points))])
    assert {tuple(x) for x in found} == {tuple(x) for x in corners} and len(found) == 4
    x, y = found.T
    area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    assert area == pytest.approx(2.0)


def test_outlines_have_the_sizes_of_their_shapes():
    """A ball is round, a box has its sides, a link without a shape is a line.

    Nearer shapes are drawn last.
    """
    model = wd.load_urdf(SHAPES)
    drawn = RobotPicture(model, LEVEL)
    q = np.array([[0.5, 0.0], [-0.5, 0.0]])  # away from the viewer, and towards the viewer
    behind, before = (drawn.patches(poses, np.zeros(3)) for poses in drawn.poses(q))
    for patches in (behind, before):
        sizes = [np.ptp(x.outline, axis=0) for x in patches]
        ball = next(x for x in patches if np.ptp(x.outline[:, 1]) > 0.59 and len(x.outline) > 4)
        assert np.hypot(*(ball.outline - [0.0, 1.0]).T) == pytest.approx(0.3)
        assert any(np.allclose(size, [0.2, 0.6]) for size in sizes)
        assert any(np.allclose(size, [1.0, 0.0]) for size in sizes)
    assert len(behind[-1].outline) > 4 and len(before[-1].outline) <= 4
    links = {name: model.link_index(name) for name in ("box", "bare")}
    assert drawn.bones == [(links["box"], links["bare"])], "links with shapes need no line"
    poses = drawn.poses(np.zeros(2))
    assert drawn.reach(poses, np.zeros(3)) == pytest.approx(1.3)


def test_the_axes_of_a_view_are_orthonormal_and_upright():
    axes = Sight().axes()
    assert np.allclose(axes @ axes.T, np.eye(3)) and np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[1, 2] > 0.9 and axes[0, 2] == 0.0


def test_the_ground_is_drawn_at_its_height():
    """Level lines through a place, or the heights of a map at the environment's own origin."""
    drawn = RobotPicture(wd.load_urdf(SHAPES), LEVEL)
    for line in drawn.ground(np.array([0.3, 0.1, 0.4]), 1.0):
        assert np.allclose(line[:, 1], -0.4)
    table = np.zeros((41, 41))
    table[20:] = 0.5
    terrain = wd.HeightMap(table, 0.1)
    origin = np.array([1.0, 0.0, 0.5])
    seen = np.concatenate(drawn.ground(np.zeros(3), 1.6, terrain, origin))
    assert np.allclose(seen[seen[:, 0] > -0.9, 1], 0.0)
    assert np.allclose(seen[seen[:, 0] < -1.1, 1], -0.5)


def test_each_limb_has_its_own_colour():
    model = wd.load_robot("quadruped")
    colours = RobotPicture(model).colours
    legs = [
        {c for n, c in zip(model.link_names, colours, strict=True) if n.startswith(leg)}
        for leg in ("FL", "FR", "RL", "RR")
    ]
    assert all(len(leg) == 1 for leg in legs) and len(set.union(*legs, {colours[0]})) == 5


def test_no_line_is_drawn_from_the_world_to_a_free_body():
    """The root has no shape, the arm's links are lines, and the cube is only a hull."""
    arm = wd.load_urdf(SHAPES, floating_base=False)
    scene = wd.ModelBuilder("world").add_link("world").build()
    scene = scene.with_object("cube", wd.description.Box(0.2, 0.2, 0.2), mass=1.0, pose=(5, 0, 0))
    both = scene.attach(arm, "world", prefix="arm_")
    drawn = RobotPicture(both, LEVEL)
    names = [{both.link_names[k] for k in bone} for bone in drawn.bones]
    assert {"world", "arm_ball"} in names and not any("cube" in ends for ends in names)
    assert any(both.link_names[body.link] == "cube" for body in drawn.bodies)


@pytest.mark.parametrize(
    ("geom", "sizes"),
    [
        ('type="sphere" size="0.3"', (0.6, 0.6)),
        ('type="box" size="0.1 0.2 0.3"', (0.2, 0.6)),
        ('type="ellipsoid" size="0.1 0.2 0.3"', (0.2, 0.6)),
        ('type="capsule" size="0.3 0.2"', (0.6, 1.0)),
        ('type="cylinder" size="0.3 0.2"', (0.6, 0.4)),
    ],
)
def test_an_outline_has_the_width_and_height_of_its_shape(geom, sizes):
    """The robot is drawn from the side and has no joints.

    A capsule has round ends beyond its length.
    """
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    body = f"<body>{inertial}<geom {geom}/></body>"
    model = wd.load_mjcf(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    drawn = RobotPicture(model, LEVEL)
    assert not model.nq
    outlines = [patch.outline for patch in drawn.patches(drawn.poses(np.zeros(0)), np.zeros(3))]
    seen = max((np.ptp(outline, axis=0) for outline in outlines), key=np.sum)
    np.testing.assert_allclose(seen, sizes, rtol=0.01)


def test_planes_and_missing_meshes_are_not_drawn(tmp_path) -> None:
    """Other shapes of the link are drawn at their poses."""
    pytest.importorskip("trimesh")
    (tmp_path / "wedge.obj").write_text(WEDGE)
    lifted = wd.description.Pose((0.0, 0.0, 1.0))
    files = [str(tmp_path / name) for name in ("gone.obj", "wedge.obj")]
    geometries = [
        wd.description.Geometry("mesh", (1.0, 1.0, 2.0), filename=files[0]),
        wd.description.Geometry("plane"),
        wd.description.Geometry("mesh", (1.0, 1.0, 2.0), filename=files[1], pose=lifted),
        wd.description.Geometry("sphere", (0.3,)),
    ]
    wedge, ball = _bodies(2, geometries)
    assert (ball.link, ball.radius, ball.points.tolist()) == (2, 0.3, [[0.0, 0.0, 0.0]])
    assert (wedge.link, wedge.radius) == (2, 0.0)
    corners = sorted(map(tuple, wedge.points.round(12).tolist()))
    assert corners == [(0.0, 0.0, 1.0), (0.0, 0.0, 1.6), (0.0, 0.2, 1.0), (0.5, 0.0, 1.0)]


def numbers_of(outlines: list[np.ndarray]) -> tuple[int, float, float]:
    """Corners of all outlines, their area, and a sum that depends on every coordinate."""
    area = sum(
        0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() for x, y in (o.T for o in outlines)
    )
    moments = sum((o**2 @ [1.0, 2.0] + o @ [0.3, 0.7]).sum() for o in outlines)
    return sum(map(len, outlines)), float(area), float(moments)


DRAWN = {
    "quadruped": (1182, 0.351390745, 134.397474, 0.876472679),
    "panda": (878, 0.470486964, 754.624496, 0.842591835),
}
"""As first recorded (2026-11-27): corners, area and moments of a robot's outlines, and its reach."""

GROUND = (27, 0.0, 20.1245898, 225, -0.0596990057, 241.814565)
"""The same of the lines on level ground and on a map."""


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_have_their_recorded_numbers(name: str) -> None:
    model, centre = wd.load_robot(name), np.array([0.1, -0.2, 0.3])
    drawn = RobotPicture(model)
    poses = drawn.poses(model.neutral)
    heights = np.add.outer(np.linspace(0, 1, 31), np.linspace(0, 0.5, 41) ** 2)
    ground = drawn.ground(centre, 1.2)
    uneven = drawn.ground(centre, 1.2, wd.HeightMap(heights, 0.1), (0.2, 0.1, 0.05))
    found = [
        *numbers_of([patch.outline for patch in drawn.patches(poses, centre)]),
        drawn.reach(poses, centre),
        *(x for lines in (ground, uneven) for x in numbers_of(lines)),
    ]
    assert found == pytest.approx([*DRAWN[name], *GROUND], rel=1e-6, abs=1e-9)

"""Objects added to the world of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.names import ModelError

CUBE = wd.description.Box(0.04, 0.06, 0.08)


def test_an_object_has_the_last_coordinates_and_its_own_inertia() -> None:
    arm = wd.load_robot("panda")
    scene = arm.with_object("cube", CUBE, mass=0.5)
    assert scene.joint_names == (*arm.joint_names, "world_to_cube")
    q = np.concatenate([arm.configurations["home"], [1, 2, 3, 0, 0, 0, 1]])[None]
    M = wd.crba(scene, q)[0]
    n = arm.nv
    np.testing.assert_allclose(M[:n, :n], wd.crba(arm, q[:, : arm.nq])[0], rtol=1e-12)
    assert not M[:n, n:].any()
    volume, moments = CUBE.moments
    wanted = np.diag([0.5] * 3 + [0.5 / volume * x for x in moments])
    np.testing.assert_allclose(M[n:, n:], wanted, rtol=1e-12, atol=1e-15)


def test_the_coordinates_of_an_object_are_its_pose_in_the_world() -> None:
    scene = wd.load_robot("quadruped").with_object("ball", wd.description.Sphere(0.1), mass=1.0)
    q = np.array(scene.configurations["home"])
    q[-7:] = [1, 2, 3, 0.6, 0, 0, 0.8]
    T = wd.fk(scene, q[None], frame="ball")[0]
    np.testing.assert_allclose(T[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(T[1:3, 2], [-0.96, 0.28])  # a turn of 73.7 degrees about x


@pytest.mark.parametrize(
    ("color", "drawn"),
    [((0, 0.5, 1), (0.0, 0.5, 1.0, 1.0)), ((1, 1, 0, 0), (1.0, 1.0, 0.0, 0.0)), (None, None)],
)
def test_a_color_has_three_or_four_numbers_from_0_to_1(color: Any, drawn: Any) -> None:
    scene = wd.load_robot("panda").with_object("cube", CUBE, mass=0.5, color=color)
    assert scene.link("cube").visuals[0].color == drawn


def test_a_floating_robot_keeps_its_coordinates() -> None:
    """Names, configurations and dynamics of the robot do not change."""
    robot = wd.load_robot("quadruped")
    scene = robot.with_object("ball", wd.description.Sphere(0.1), mass=1.0)
    assert scene.q_names[: robot.nq] == robot.q_names
    home = scene.configurations["home"]
    np.testing.assert_array_equal(home[: robot.nq], robot.configurations["home"])
    q = wd.random_configuration(scene, 5, seed=0)
    v, tau = np.random.default_rng(0).normal(size=(2, 5, scene.nv))
    ours = wd.aba(scene, q, v, tau)[:, : robot.nv]
    alone = wd.aba(robot, q[:, : robot.nq], v[:, : robot.nv], tau[:, : robot.nv])
    np.testing.assert_allclose(ours, alone, rtol=1e-9, atol=1e-9)


def test_every_configuration_contains_the_poses_of_objects() -> None:
    """A robot without a start configuration gets one."""
    arm = wd.load_robot("panda").with_configuration("ready", np.zeros(8))
    scene = arm.with_object("cube", CUBE, mass=0.5, pose=(0.5, 0.0, 0.2))
    scene = scene.with_object("ball", wd.description.Sphere(0.1), mass=0.5, pose=(0.0, 0.5, 0.1))
    for q in scene.configurations.values():
        np.testing.assert_allclose(q[[-14, -12, -6, -5]], [0.5, 0.2, 0.5, 0.1])
    bare = wd.ModelBuilder("nothing").add_link("floor").build()
    bare = bare.with_object("cube", CUBE, mass=1.0, pose=(3, 0, 0))
    assert list(bare.configurations) == ["qpos0"]
    assert wd.Simulation(bare, 2, points=[]).q[0, -7] == 3.0


@pytest.mark.parametrize(
    ("more", "error", "match"),
    [
        ({"mass": 0.0}, ValueError, "a number above 0"),
        ({"mass": float("inf")}, ValueError, "a number above 0"),
        ({"mass": "1 kg"}, ValueError, "a number above 0"),
        ({"mass": [1.0, 2.0]}, ValueError, "a number above 0"),
        ({"shape": wd.description.Sphere("big")}, ValueError, "lengths above 0"),  # type: ignore[arg-type]
        ({"color": "red"}, ValueError, "red, green, blue"),
        ({"color": 0.5}, ValueError, "red, green, blue"),
        ({"shape": (1, 2, 3)}, TypeError, "a Box, Sphere, Cylinder or Capsule of wd.description"),
        ({"shape": wd.description.Box(1, 1, 0)}, ValueError, "lengths above 0"),
        ({"pose": (1, 2)}, ModelError, 'object "cube": a pose is'),
        ({"color": (1, 2, 3)}, ValueError, "red, green, blue"),
        ({"color": (1, -0.1, 0)}, ValueError, "red, green, blue"),
        ({"color": (1, 1, 0, 1, 1)}, ValueError, "red, green, blue"),
        ({"name": "panda_link3"}, ModelError, 'has a link "panda_link3"'),
        ({"name": ""}, ModelError, "needs a name"),
    ],
)
def test_wrong_objects_are_refused(
    more: dict[str, Any], error: type[Exception], match: str
) -> None:
    wanted: dict[str, Any] = {"name": "cube", "shape": CUBE, "mass": 1.0, **more}
    with pytest.raises(error, match=match):
        wd.load_robot("panda").with_object(**wanted)


def test_objects_need_local_base_velocities() -> None:
    robot = wd.load_robot("quadruped").with_base_velocity("world")
    with pytest.raises(ModelError, match=r'with_base_velocity\("local"\) first'):
        robot.with_object("cube", CUBE, mass=1.0)


def test_a_second_world_gets_another_name() -> None:
    """The base of this robot is named "world"."""
    robot = wd.load_robot("quadruped")
    named = robot.rename(links={robot.root: "world"})
    assert named.with_object("cube", CUBE, mass=1.0).root == "world_2"


def test_springs_of_a_floating_base_are_kept() -> None:
    """The base is on springs of an MJCF file."""
    text = (
        '<mujoco><worldbody><body name="a" pos="0 0 1"><joint type="free" stiffness="20" '
        'damping="0"/><geom type="sphere" size=".1"/></body></worldbody></mujoco>'
    )
    robot = wd.load(text)
    scene = robot.with_object("cube", CUBE, mass=1.0)
    assert robot.base_springs and any(scene.joint(robot.base_joint).v_limits)
    pulled = [wd.Simulation(m, 1, points=[], dtype="float64") for m in (robot, scene)]
    for sim in pulled:
        sim.q[:, 0] = 0.3
        for _ in range(20):
            sim.step()
    assert abs(pulled[0].q[0, 0] - 0.3) > 1e-3
    np.testing.assert_allclose(pulled[1].q[0, :7], pulled[0].q[0], atol=1e-10)

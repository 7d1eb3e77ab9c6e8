"""A robot on the ground in MuJoCo: the place of the ground, and the model's parameters."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hand_made_urdf import PLANAR
from module_numbers import module_numbers

import warpdyn as wd
from warpdyn.peers.mujoco_scene import Drives, Heights, Slope, _set_spring, mujoco_scene
from warpdyn.peers.peer import NotComparable

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")

BALL = """<robot name="ball"><link name="ball"><inertial><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
POINT = wd.ContactPoint("ball", (0.0, 0.0, 0.0), 0.1)


def test_the_scene_has_the_models_parameters():
    """They are masses, armature, friction, limits and efforts, whatever damping the description
    has."""
    model = wd.load_robot("quadruped").with_armature(0.01).with_friction(viscous=0.3, coulomb=0.2)
    effort = model.effort_limit[6:]
    feet = wd.ContactPoints(model).only("*_foot")
    scene = mujoco_scene(model, 0.002, points=feet, drives=Drives(40.0, 1.0, effort))
    robot = scene.compile()
    assert robot.opt.timestep == 0.002 and robot.nu == 12 and robot.ngeom == 5
    assert robot.body_mass.sum() == pytest.approx(model.total_mass)
    assert np.all(robot.dof_armature[6:] == 0.01) and not robot.dof_armature[:6].any()
    assert np.all(robot.dof_damping[6:] == 0.3) and np.all(robot.dof_frictionloss[6:] == 0.2)
    for k, name in enumerate(model.joint_names):
        lower, upper = model.position_lower[7 + k], model.position_upper[7 + k]
        assert np.allclose(robot.joint(name).range, (lower, upper))
        assert np.allclose(robot.actuator(name).forcerange, (-effort[k], effort[k]))
    fused = mujoco_scene(model, 0.002, points=feet, fused=True).compile()
    assert fused.nbody < robot.nbody
    assert fused.body_mass.sum() == pytest.approx(model.total_mass)


def rest_height(ground, x, y):
    """Height at which a ball with friction, which cannot roll, comes to rest."""
    model = wd.load_urdf(BALL, floating_base=True)
    spec = mujoco_scene(model, 0.002, points=[POINT], friction=2.0, ground=ground)
    robot = spec.compile()
    robot.dof_damping[:2] = robot.dof_damping[3:] = 100.0  # the ball falls straight down
    data = mujoco.MjData(robot)
    data.qpos[:3] = x, y, 1.0
    mujoco.mj_step(robot, data, nstep=1000)
    return data.qpos[2]


def test_a_ball_rests_on_its_ground():
    """The ground is level, inclined, or a height field whose rows are along x. The height is right
    within the softness of a contact."""
    assert rest_height(None, 0.3, 0.2) == pytest.approx(0.1, abs=2e-3)
    leaning = Slope((0.3, -0.2), 0.05)
    up = 0.1 * np.sqrt(1 + 0.3**2 + 0.2**2)
    wanted = 0.05 + 0.3 * 0.3 - 0.2 * 0.2 + up
    assert rest_height(leaning, 0.3, 0.2) == pytest.approx(wanted, abs=5e-3)
    table = np.zeros((21, 11))
    table[10:, :] = 0.2  # from x = 0 on
    table[:, 8:] += 0.1  # from y = 0.3 on
    steps = Heights(table, 0.1, (-1.0, -0.5))
    places = {(-0.5, 0.0): 0.0, (0.5, 0.0): 0.2, (-0.5, 0.4): 0.1, (0.5, 0.4): 0.3}
    for (x, y), height in places.items():
        assert rest_height(steps, x, y) == pytest.approx(height + 0.1, abs=2e-3)
    assert rest_height(steps, 2.5, 0.0) == pytest.approx(
        0.3, abs=2e-3
    )  # the ground continues beyond its edge


def test_a_part_whose_inertia_is_only_rounding_is_merged():
    """The base has a milligram, and rounding makes its smallest moment negative. It is merged with
    the link fixed to it into one body, which MuJoCo reads."""
    text = (
        '<robot name="parts"><link name="base"><inertial><mass value="1e-6"/><inertia ixx="-6e-22" '
        'iyy="-2e-23" izz="3e-6" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="ball"><inertial>'
        '<mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        '</link><joint name="weld" type="fixed"><parent link="base"/><child link="ball"/></joint></robot>'
    )
    with pytest.warns(wd.ModelWarning, match="principal moments"):
        model = wd.load_urdf(text, floating_base=True)
    robot = mujoco_scene(model, 0.002, points=[POINT], fused=True).compile()
    assert robot.nbody == 2 and robot.body_mass[1] == pytest.approx(1.0 + 1e-6)
    with pytest.raises(ValueError, match="inertia"):
        mujoco_scene(model, 0.002, points=[POINT]).compile()


def test_a_joint_kind_that_mujoco_lacks_is_refused():
    with pytest.raises(NotComparable, match="MuJoCo has no planar joint"):
        mujoco_scene(wd.load(PLANAR), 0.001)


SLIDES = """<mujoco><worldbody><body name="box" pos="0 0 1">
<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
<joint name="turn" type="hinge" axis="0 1 0" stiffness="3" springref="20" damping="0.5"/>
<geom type="box" size="0.1 0.1 0.1" mass="2"/></body></worldbody></mujoco>"""


def test_links_between_the_slides_of_a_planar_robot_are_light():
    """MuJoCo refuses massless links. A millionth of the robot's mass is about the resolution of
    float32."""
    model = wd.load(SLIDES)
    robot = mujoco_scene(model, 0.002, fused=True).compile()
    assert robot.nv == 3 and 2.0 < robot.body_mass.sum() <= 2.0 * (1 + 1e-6)
    data = mujoco.MjData(robot)
    data.qvel[:] = 1.0, 0.0, 0.0
    mujoco.mj_step(robot, data)
    assert data.qpos[0] == pytest.approx(0.002, rel=1e-6)


def test_the_scene_has_the_models_joint_springs():
    """The rest angle is included."""
    model = wd.load(SLIDES).with_springs("description")
    robot = mujoco_scene(model, 0.002, fused=True).compile()
    joint = robot.joint("turn")
    assert np.ravel(joint.stiffness)[0] == 3.0
    assert robot.qpos_spring[joint.qposadr[0]] == pytest.approx(np.deg2rad(20.0))


def test_numbers_change_only_on_purpose():
    assert module_numbers("warpdyn/peers")["mujoco_scene"] == {
        "IMPRATIO": 100.0,
        "ROUGH": 0.8,
        "BEYOND": 24.0,
        "THICK": 0.5,
        "UNREACHED": 1e09,
        "LIGHT": 1e-06,
        "LIGHT_SIZE": 0.01,
    }


def test_a_spring_is_a_number_or_a_polynomial() -> None:
    """The version of MuJoCo determines which of the two it is."""
    old, new = (SimpleNamespace(stiffness=x) for x in (0.0, np.zeros(3)))
    for joint in (old, new):
        _set_spring(joint, 3.0, 0.2)
        assert joint.springref == 0.2
    assert old.stiffness == 3.0 and new.stiffness == [3.0, 0.0, 0.0]

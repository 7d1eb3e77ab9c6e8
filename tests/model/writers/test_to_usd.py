"""Models written as USD stages and loaded again."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from robots import ROBOTS, Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.model.assembly import rebuild
from warpdyn.model.description import Geometry
from warpdyn.model.names import ModelError
from warpdyn.model.poses_and_limits import Limits, Pose
from warpdyn.model.writers.to_usd import prim_of

SINGLE = 1e-6
"""Relative: masses and frames of joints are of single precision in USD."""


def sayable(model: wd.Model) -> bool:
    merged = model.collapse()
    return all(prim_of(joint.kind) for joint in merged.joints) and all(
        link.mass and np.array(link.inertia).any()
        for link in merged.links[int(not model.floating_base) :]
    )


SAYABLE = [robot for robot in ROBOTS if sayable(robot.model)]


def read_again(model: wd.Model) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load_usd(model.to_usd(), quaternion=model.quaternion)


@pytest.mark.parametrize("robot", SAYABLE, ids=lambda robot: robot.name)
def test_a_written_robot_is_loaded_unchanged(robot: Robot) -> None:
    """The order of joints, limits, mimic joints, M, joint forces and poses are the same, in single
    precision."""
    model = robot.model
    again = read_again(model)
    assert again.joint_names == model.joint_names and again.floating_base == model.floating_base
    for name in model.joint_names:
        old, new = model.joint(name), again.joint(name)
        if old.kind.single and not old.kind.geared:
            numbers = ("lower", "upper", "velocity", "effort")
            pairs = [(getattr(old.limits, x), getattr(new.limits, x)) for x in numbers]
            pairs += [
                (getattr(old, x), getattr(new, x)) for x in ("armature", "damping", "friction")
            ]
            assert np.allclose(*zip(*pairs, strict=True), rtol=SINGLE)
    for old in (j for j in model.joints if j.mimic and j.kind.nv and not j.kind.geared):
        new = again.joint(old.name).mimic
        assert new.joint == old.mimic.joint and new.multiplier == pytest.approx(
            old.mimic.multiplier
        )
        assert new.offset == pytest.approx(old.mimic.offset, rel=SINGLE)
    s = states(model, 3)
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
    assert error(wd.oracle(wd.rnea, again, s.q, s.v, s.a), tau) < SINGLE
    assert error(wd.oracle(wd.crba, again, s.q), wd.oracle(wd.crba, model, s.q)) < SINGLE
    shared = [name for name in again.link_names if name in model.link_names and name != "world"]
    for name in shared:
        there = wd.oracle(wd.fk, model, s.q, frame=name)
        assert error(wd.oracle(wd.fk, again, s.q, frame=name), there, 1.0) < SINGLE


def test_numbers_of_joints_are_written_in_degrees() -> None:
    """They are radians in the model."""
    model = by_name("ur5e").model.with_armature(0.3)
    elbow = replace(
        model.joint("elbow_joint"),
        limits=Limits(-1.0, 2.0, 3.0, 4.0),
        damping=0.5,
        friction=0.25,
    )
    joints = tuple(elbow if j.name == elbow.name else j for j in model.joints)
    text = replace(model, joints=joints).to_usd()
    assert f"physics:lowerLimit = {-180 / math.pi!r}" in text
    again = wd.load_usd(text).joint("elbow_joint")
    assert np.allclose(
        (again.limits.lower, again.limits.upper, again.limits.velocity, again.limits.effort),
        (-1, 2, 3, 4),
    )
    assert np.allclose((again.armature, again.damping, again.friction), (0.3, 0.5, 0.25))


def test_visuals_and_collisions_are_written() -> None:
    """They are boxes, spheres, cylinders and capsules, with their colours. A shape that is both is
    written once."""
    red = (1.0, 0.0, 0.0, 1.0)
    both = Geometry("box", (0.1, 0.2, 0.3), pose=Pose.at((1, 2, 3), (0.1, 0.2, 0.3)), color=red)
    seen = Geometry("capsule", (0.1, 0.4), pose=Pose.at((0, 0, 1)))
    touched = (both, Geometry("sphere", (0.2,)), Geometry("cylinder", (0.1, 0.3)))
    model = by_name("double_pendulum").model
    link = model.link("lower_rod")
    shown = replace(link, visuals=(both, seen), collisions=touched)
    links = tuple(shown if each is link else each for each in model.links)
    again = read_again(replace(model, links=links)).link(link.name)
    assert [v.shape for v in again.visuals] == ["box", "capsule"]
    assert [c.shape for c in again.collisions] == ["box", "sphere", "cylinder"]
    assert again.visuals[0].color == red
    for old, new in zip((both, seen), again.visuals, strict=True):
        assert np.allclose(old.size, new.size, rtol=SINGLE)
        assert np.allclose(old.pose.rotation, new.pose.rotation, atol=SINGLE)
        assert np.allclose(old.pose.position, new.pose.position, atol=SINGLE)


def test_names_that_usd_does_not_allow_are_changed() -> None:
    builder = wd.ModelBuilder("my robot")
    builder.add_link("1st link", mass=1.0, inertia=np.eye(3))
    builder.add_link("world", mass=1.0, inertia=np.eye(3))
    builder.add_joint("a::b", kind="continuous", parent="1st link", child="world", axis=(0, 0, 1))
    again = read_again(builder.build())
    assert again.name == "my_robot"
    assert again.link_names == ("world", "_1st_link", "world_") and again.joint_names == ("a__b",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: by_name("planar").model, 'joint "drive": USD cannot express a planar joint'),
        (lambda: by_name("massless").model, r'link "\w+" has no mass.*\(with_link_mass\)'),
        (
            lambda: by_name("panda").model.with_friction(viscous=1.0),
            "cannot express friction and springs",
        ),
    ],
)
def test_a_model_that_usd_cannot_describe_is_refused(change, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        change().to_usd()


TREES = """<mujoco><worldbody>
  <body name="a"><joint name="ja" axis="0 1 0"/><inertial pos="0 0 .1" mass="1" diaginertia="1 1 1"/>
    <body name="a2"><joint name="jb"/><inertial pos="0 0.2 .1" mass="1" diaginertia="1 1 1"/></body></body>
  <body name="b" pos="1 0 0"><joint name="jc" axis="0 1 0"/>
    <inertial pos="0 0 .1" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>"""


def test_a_robot_of_two_trees_is_loaded_unchanged() -> None:
    """All trees under one articulation root that are fixed in the world are one robot, with the
    same joint forces."""
    model = wd.load(TREES)
    again = read_again(model)
    assert set(again.joint_names) == set(model.joint_names) and not again.warnings
    order = [model.joint_names.index(name) for name in again.joint_names]
    q, v, a = np.random.default_rng(0).normal(size=(3, 3))
    ours, theirs = (
        wd.oracle(wd.rnea, model, q, v, a),
        wd.oracle(wd.rnea, again, q[order], v[order], a[order]),
    )
    assert error(theirs, ours[order]) < SINGLE


def test_a_free_tree_next_to_a_fixed_one_is_refused() -> None:
    """Both have one articulation root. Nothing is left out silently."""
    text = wd.load(TREES).to_usd()
    text = text[: text.index('    def PhysicsRevoluteJoint "jc"')] + "}\n"
    with pytest.raises(ModelError, match="the root of several trees, of which one moves freely"):
        wd.load_usd(text)


def two_arms(mass: float) -> wd.Model:
    """A robot with a limit, a mimic joint, a ball joint, visuals, collisions, shapes that are both,
    and names that USD does not allow."""
    both = Geometry("box", (0.1, 0.2, 0.4), pose=Pose((0.5, 0.0, 0.25)), color=(1.0, 0.5, 0.0, 1.0))
    seen = (both, Geometry("capsule", (0.125, 0.5)))
    touched = (Geometry("sphere", (0.25,)), both, Geometry("cylinder", (0.125, 0.5)))
    moments = np.diag([1.0, 2.0, 2.5])
    builder = wd.ModelBuilder("2 arms").add_link("base", mass, inertia=mass * moments)
    builder.add_link("a b", 2.0, (0, 0.5, 0), moments, visuals=seen, collisions=touched)
    builder.add_link("a_b", 0.5, inertia=moments).add_link("c", 0.5, inertia=moments)
    rates = {"velocity": 3.0, "effort": 4.0, "armature": 0.5, "damping": 0.25, "friction": 0.125}
    builder.add_joint(
        "turn", "revolute", "base", "a b", (0, 0, 1), (1, 0, 0), lower=-1.0, upper=2.0, **rates
    )
    follow, bounds = ("turn", 2.0, 0.5), {"lower": -0.5, "upper": 0.25, "velocity": 0.75}
    builder.add_joint("slide", "prismatic", "a b", "a_b", axis=(0, 1, 0), mimic=follow, **bounds)
    builder.add_joint("hang", "ball", "a_b", "c", (0.25, 0, 0))
    return builder.build()


STAGE = """\
#usda 1.0
(
    defaultPrim = "_2_arms"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)

def Xform "_2_arms" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
)
{
    def Xform "a_b" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        double3 xformOp:translate = (0.0, 0.0, 1.0)
        quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        float physics:mass = 2.0
        point3f physics:centerOfMass = (0.0, 0.5, 0.0)
        float3 physics:diagonalInertia = (1.0, 2.0, 2.5)
        quatf physics:principalAxes = (1.0, 0.0, 0.0, 0.0)
        def Cube "shape0" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {
            double size = 1
            color3f[] primvars:displayColor = [(1.0, 0.5, 0.0)]
            double3 xformOp:translate = (0.5, 0.0, 0.25)
            quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
            float3 xformOp:scale = (0.1, 0.2, 0.4)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
        }
        def Capsule "shape1"
        {
            double radius = 0.125
            double height = 0.5
            uniform token axis = "Z"
            double3 xformOp:translate = (0.0, 0.0, 0.0)
            quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        }
        def Sphere "shape2" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {
            double radius = 0.25
            uniform token purpose = "guide"
            double3 xformOp:translate = (0.0, 0.0, 0.0)
            quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        }
        def Cylinder "shape3" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {
            double radius = 0.125
            double height = 0.5
            uniform token axis = "Z"
            uniform token purpose = "guide"
            double3 xformOp:translate = (0.0, 0.0, 0.0)
            quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        }
    }
    def Xform "a_b_" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        double3 xformOp:translate = (0.0, 0.0, 1.0)
        quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        float physics:mass = 0.5
        point3f physics:centerOfMass = (0.0, 0.0, 0.0)
        float3 physics:diagonalInertia = (1.0, 2.0, 2.5)
        quatf physics:principalAxes = (1.0, 0.0, 0.0, 0.0)
    }
    def Xform "c" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        double3 xformOp:translate = (0.25, 0.0, 1.0)
        quatd xformOp:orient = (1.0, 0.0, 0.0, 0.0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        float physics:mass = 0.5
        point3f physics:centerOfMass = (0.0, 0.0, 0.0)
        float3 physics:diagonalInertia = (1.0, 2.0, 2.5)
        quatf physics:principalAxes = (1.0, 0.0, 0.0, 0.0)
    }
    def PhysicsRevoluteJoint "turn" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular"]
    )
    {
        point3f physics:localPos0 = (0.0, 0.0, 1.0)
        quatf physics:localRot0 = (0.7071067811865475, -0.7071067811865475, 0.0, 0.0)
        rel physics:body1 = </_2_arms/a_b>
        point3f physics:localPos1 = (0.0, 0.0, 0.0)
        quatf physics:localRot1 = (0.7071067811865475, -0.7071067811865475, 0.0, 0.0)
        uniform token physics:axis = "X"
        float physics:lowerLimit = -57.29577951308232
        float physics:upperLimit = 114.59155902616465
        float newton:velocityLimit = 171.88733853924697
        float drive:angular:physics:maxForce = 4.0
        float newton:armature = 0.5
        float newton:damping = 0.004363323129985824
        float newton:friction = 0.125
    }
    def PhysicsPrismaticJoint "slide" (
        prepend apiSchemas = ["NewtonMimicAPI"]
    )
    {
        rel physics:body0 = </_2_arms/a_b>
        point3f physics:localPos0 = (0.0, 0.0, 0.0)
        quatf physics:localRot0 = (0.5, 0.5, 0.5, 0.5)
        rel physics:body1 = </_2_arms/a_b_>
        point3f physics:localPos1 = (0.0, 0.0, 0.0)
        quatf physics:localRot1 = (0.5, 0.5, 0.5, 0.5)
        uniform token physics:axis = "X"
        float physics:lowerLimit = -0.5
        float physics:upperLimit = 0.25
        float newton:velocityLimit = 0.75
        rel newton:mimicJoint = </_2_arms/turn>
        float newton:mimicCoef0 = 0.5
        float newton:mimicCoef1 = 2.0
    }
    def PhysicsSphericalJoint "hang"
    {
        rel physics:body0 = </_2_arms/a_b_>
        point3f physics:localPos0 = (0.25, 0.0, 0.0)
        quatf physics:localRot0 = (1.0, 0.0, 0.0, 0.0)
        rel physics:body1 = </_2_arms/c>
        point3f physics:localPos1 = (0.0, 0.0, 0.0)
        quatf physics:localRot1 = (1.0, 0.0, 0.0, 0.0)
    }
}
"""
"""The complete stage of these arms on a base without mass, which is the world."""


def test_the_written_stage_equals_the_expected_text() -> None:
    """A base with mass is a body with a fixed joint to the world. A free base has no such joint."""
    assert two_arms(0.0).to_usd() == STAGE
    lines = two_arms(1.0).to_usd().splitlines()
    base, first = lines.index('    def Xform "base" ('), lines.index('    def Xform "a_b" (')
    held = lines.index('    def PhysicsFixedJoint "held_in_the_world"')
    assert lines[held + 1 : held + 4] == ["    {", WELDED, "    }"]
    rest = [*lines[:base], *lines[first:held], *lines[held + 4 :]]
    rest.remove("        rel physics:body0 = </_2_arms/base>")
    assert rest == STAGE.splitlines()
    free = replace(two_arms(1.0), floating_base=True)
    assert "held_in_the_world" not in free.to_usd()


WELDED = "        rel physics:body1 = </_2_arms/base>"


def test_principal_moments_are_written_with_their_axes() -> None:
    """The axes are a right-handed frame in which the inertia is diagonal."""
    inertia = np.array([[0.4, 0.1, -0.05], [0.1, 0.5, 0.02], [-0.05, 0.02, 0.6]])
    builder = wd.ModelBuilder("r").add_link("a", 2.0, inertia=inertia)
    text = builder.build(floating_base=True).to_usd()
    moments, turn = (
        [float(x) for x in re.search(rf"{name} = \((.*?)\)", text)[1].split(",")]  # type: ignore[index]
        for name in ("diagonalInertia", "principalAxes")
    )
    R = wd.convert.quaternion_to_matrix(np.array([*turn[1:], turn[0]]))
    np.testing.assert_allclose(R @ np.diag(moments) @ R.T, inertia, atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0) and moments == sorted(moments)


@pytest.mark.parametrize("what", ["mass", "inertia"])
def test_bodies_without_mass_or_inertia_are_refused(what: str) -> None:
    numbers = {"mass": (0.0, np.eye(3)), "inertia": (1.0, np.zeros((3, 3)))}[what]
    builder = wd.ModelBuilder("r").add_link("base").add_link("a", numbers[0], inertia=numbers[1])
    builder.add_joint("j", "continuous", "base", "a", axis=(0, 0, 1))
    words = (
        f'r: link "a" has no {what}, and readers of USD compute one from its shapes if it is 0; '
        f"give it one (with_link_{what})"
    )
    with pytest.raises(ModelError, match=f"^{re.escape(words)}$"):
        builder.build().to_usd()


def test_damping_and_friction_of_balls_are_left_out_with_a_warning() -> None:
    """Those of a hinge are written, and a joint without any is not named."""
    builder = wd.ModelBuilder("r").add_link("base")
    for name, kind in (("turn", "continuous"), ("hang", "ball"), ("rub", "ball"), ("slip", "ball")):
        builder.add_link(f"{name}_link", 1.0, inertia=np.eye(3))
        axis = {"axis": (0, 0, 1)} if kind == "continuous" else {}
        builder.add_joint(name, kind, "base", f"{name}_link", **axis)
    losses = {"turn": (0.1, 0.2), "hang": (0.1, 0.0), "rub": (0.0, 0.2), "slip": (0.0, 0.0)}
    model = builder.build()
    joints = [
        replace(joint, damping=losses[joint.name][0], friction=losses[joint.name][1])
        for joint in model.joints
    ]
    words = "USD of r leaves out damping and friction: hang, rub"
    with pytest.warns(wd.ModelWarning, match=f"^{words}$"):
        rebuild(model, model.links, joints).to_usd()

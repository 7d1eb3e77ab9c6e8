"""Models written as URDF and loaded again."""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, states

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.description import Geometry, Joint, Link
from warpdyn.model.joints import KINDS, URDF_KINDS
from warpdyn.model.names import ModelError
from warpdyn.model.poses_and_limits import Limits, Pose, rpy_rotation

ROUND_OFF = 1e-14
"""Relative; rotations are converted to angles and back."""

SAYABLE = [
    robot
    for robot in ROBOTS
    if {joint.kind.name for joint in robot.model.joints} <= {*URDF_KINDS, "gearbox"}
]


def read_again(model: Model) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load_urdf(
            model.to_urdf(), floating_base=model.floating_base, quaternion=model.quaternion
        )


def agree(model: Model, again: Model) -> None:
    """Rotations are compared up to rounding, everything else to the last bit."""
    assert again.name == model.name and again.q_names == model.q_names
    for old, new in zip(model.links, again.links, strict=True):
        assert new == replace(
            old,
            visuals=tuple(
                replace(a, pose=b.pose) for a, b in zip(old.visuals, new.visuals, strict=True)
            ),
            collisions=tuple(
                replace(a, pose=b.pose) for a, b in zip(old.collisions, new.collisions, strict=True)
            ),
            com=old.com if old.mass or any(map(any, old.inertia)) else new.com,
        )
    for before, after in zip(model.joints, again.joints, strict=True):
        turn = Pose(before.pose.position, after.pose.rotation)
        kind = after.kind if before.kind.geared else before.kind
        mimic = (
            before.mimic if before.kind.nv else None
        )  # files that fix a joint leave its <mimic> behind
        same = replace(before, pose=turn, kind=kind, gearbox=None, axis2=None, mimic=mimic)
        assert same == replace(after, axis=before.axis if not kind.has_axis else after.axis)
        difference = np.array(before.pose.rotation) - np.array(after.pose.rotation)
        assert np.abs(difference).max() < ROUND_OFF


@pytest.mark.parametrize("robot", SAYABLE, ids=lambda robot: robot.name)
def test_a_written_robot_is_loaded_unchanged(robot: Robot) -> None:
    """Links, joints, limits, mimic joints, damping, shapes, forces and poses are the same."""
    model = robot.model
    again = read_again(model)
    agree(model, again)
    s = states(model, 3)
    if model.nv:
        tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
        assert error(wd.oracle(wd.rnea, again, s.q, s.v, s.a), tau) < ROUND_OFF
        last = model.link_names[-1]
        poses = (wd.oracle(wd.fk, each, s.q, frame=last) for each in (again, model))
        assert error(*poses) < ROUND_OFF


@given(random_trees())
def test_every_written_tree_is_loaded_unchanged(robot: Robot) -> None:
    """The trees are random and contain mimic joints."""
    agree(robot.model, read_again(robot.model))


ANGLES = st.one_of(
    st.sampled_from([k * math.pi / 4 for k in range(-4, 5)]),
    st.sampled_from([math.pi / 2 + d for d in (1e-4, 1e-8, 1e-12, -1e-15)]),
    st.floats(-4, 4),
)


@given(ANGLES, ANGLES, ANGLES)
def test_every_written_rotation_is_loaded_unchanged(roll: float, pitch: float, yaw: float) -> None:
    """Also if the pitch is a right angle, or nearly."""
    pose = Pose((1.0, 2.0, 3.0), rpy_rotation(roll, pitch, yaw))
    model = Model.assemble(
        "m", [Link("a"), Link("b")], [Joint("j", KINDS["fixed"], "a", "b", pose)]
    )
    agree(model, read_again(model))


def test_every_combination_of_limits_is_written() -> None:
    """Position, velocity and effort have limits on one side or none. Angles without any are
    continuous."""
    sides = (-1.5, -math.inf), (2.5, math.inf), (3.0, math.inf), (4.0, math.inf)
    for k, (lower, upper, velocity, effort) in enumerate(product(*sides)):
        for kind in ("revolute", "prismatic", "continuous"):
            bounds = (lower, upper) if kind != "continuous" else (-math.inf, math.inf)
            limits = Limits(*bounds, velocity, effort)
            joint = Joint("j", KINDS[kind], "a", "b", limits=limits, damping=0.1 * k, friction=0.2)
            model = Model.assemble("m", [Link("a"), Link("b")], [joint])
            again = read_again(model).joint("j")
            assert (again.limits, again.damping, again.friction) == (limits, 0.1 * k, 0.2)
            unbounded = kind == "revolute" and math.isinf(lower) and math.isinf(upper)
            assert again.kind is (KINDS["continuous"] if unbounded else KINDS[kind])


def test_parsers_of_urdf_accept_every_written_limit() -> None:
    """Those of Pinocchio (urdfdom) and of urdf_parser_py need effort and velocity, and positions of
    angles and shifts; they refuse infinity."""
    pinocchio = pytest.importorskip("pinocchio")
    body = Link("b", 1.0, inertia=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    for kind in ("revolute", "prismatic", "continuous"):
        for limits in (Limits(), Limits(-1.0), Limits(-1.0, 2.0, effort=3.0), Limits(velocity=4.0)):
            if kind == "continuous":
                limits = replace(limits, lower=-math.inf, upper=math.inf)
            joint = Joint("j", KINDS[kind], "a", "b", limits=limits)
            text = Model.assemble("m", [Link("a"), body], [joint]).to_urdf()
            other = pinocchio.buildModelFromXML(text)
            most = sys.float_info.max
            if math.isfinite(limits.velocity) or math.isfinite(limits.effort):
                assert other.velocityLimit[0] == min(limits.velocity, most)
                assert other.effortLimit[0] == min(limits.effort, most)
            if other.nq == 1:
                assert other.lowerPositionLimit[0] == max(limits.lower, -most)
                assert other.upperPositionLimit[0] == min(limits.upper, most)


def test_shapes_are_written() -> None:
    """Visuals and collisions of each kind, with pose and name."""
    turn = Pose.at((0.1, 0, 0.2), (0, 0, 0.5))
    shapes = (
        Geometry("box", (1.0, 2.0, 3.0), pose=turn, name="lid"),
        Geometry("cylinder", (0.1, 0.5)),
        Geometry("sphere", (0.3,)),
        Geometry("mesh", (1.0, 1.0, 2.0), "package://arm/<&>.stl"),
    )
    link = Link("a", visuals=shapes, collisions=shapes[1:3])
    again = read_again(Model.assemble("m", [link], [])).link("a")
    assert again.visuals[1:] == shapes[1:] and again.collisions == shapes[1:3]
    assert again.visuals[0].name == "lid" and again.visuals[0].pose.position == turn.position


def test_a_capsule_is_written_as_a_cylinder_with_spheres() -> None:
    """The spheres are at the centres of its ends. URDF has no capsules."""
    pose = Pose.at((0.1, 0, 0.2), (math.pi / 2, 0, 0))
    link = Link("a", collisions=(Geometry("capsule", (0.1, 0.6), pose=pose),))
    shapes = read_again(Model.assemble("m", [link], [])).link("a").collisions
    assert [shape.shape for shape in shapes] == ["cylinder", "sphere", "sphere"]
    assert shapes[0].size == (0.1, 0.6) and shapes[1].size == shapes[2].size == (0.1,)
    assert shapes[1].pose.position == pytest.approx((0.1, 0.3, 0.2))
    assert shapes[2].pose.position == pytest.approx((0.1, -0.3, 0.2))


def test_an_ellipsoid_is_not_written() -> None:
    """URDF has no ellipsoids, and they have no contacts."""
    link = Link("a", visuals=(Geometry("ellipsoid", (0.1, 0.2, 0.3)), Geometry("sphere", (0.1,))))
    (shape,) = read_again(Model.assemble("m", [link], [])).link("a").visuals
    assert shape.shape == "sphere"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            by_name("balls").model,
            'joint "hip": URDF cannot express a ball joint; it has revolute',
        ),
        (by_name("two_axes").model, "URDF cannot express a universal joint"),
        (
            by_name("axes").model.with_armature({"minus_x": 0.1}),
            r'joint "minus_x": .* armature; with_armature\(0\)',
        ),
        (
            by_name("axes").model.with_friction(viscous=0.1),
            r'joint "slanted": .* friction and springs .*; with_friction\(',
        ),
        (Model.assemble("m", [Link("a\0b")], []), "rename"),
    ],
)
def test_a_model_that_urdf_cannot_describe_is_refused(model: Model, said: str) -> None:
    """The message names the joint and the remedy."""
    with pytest.raises(ModelError, match=said):
        model.to_urdf()


def test_pinocchio_reads_the_written_robot() -> None:
    """It is the same robot there as that of the original file."""
    pin = pytest.importorskip("pinocchio")
    for name in ("ur5e", "axes", "rooted"):
        robot = by_name(name)
        model, s = robot.model, states(robot.model, 1)
        there, again = (pin.buildModelFromXML(text) for text in (robot.text, model.to_urdf()))
        assert list(there.names) == list(again.names)
        q, v = pin.neutral(there), s.v[0]
        forces = (pin.rnea(each, each.createData(), q, v, v) for each in (there, again))
        assert error(*forces) < 1e-13

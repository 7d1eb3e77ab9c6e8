"""Records of a description: poses, directions, chains of mimic joints, and look-up of names."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from documented_numbers import check_numbers
from hand_models import ROUND_OFF, TURN, hand, homogeneous
from hypothesis import given
from hypothesis import strategies as st
from robots import Robot

from warpdyn.algebra.quaternions import quaternion_exp
from warpdyn.algebra.spatial import Placement, as_matrix
from warpdyn.model.description import (
    Joint,
    Limits,
    Link,
    Pose,
    check_names,
    fixed_joint,
    leading_joint,
    look_up,
    near_names,
    rpy_rotation,
    unit_vector,
)
from warpdyn.model.joints import KINDS

ANGLES = st.tuples(*[st.floats(-4, 4)] * 3)


def test_poses_are_read_from_numbers_quaternions_and_matrices() -> None:
    """They are a position, a position with a quaternion xyzw, or a 4x4 matrix. Anything else is
    refused."""
    half = np.sqrt(0.5)
    quarter = Pose.of((1, 2, 3, 0, 0, half, half))
    assert quarter.position == (1, 2, 3) and np.allclose(
        quarter.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    )
    assert Pose.of(homogeneous(quarter)) == quarter and Pose.of([1, 2, 3]) == Pose((1.0, 2.0, 3.0))
    for wrong in (
        [1, 2],
        np.zeros((4, 4)),
        [0, 0, 0, 1, 1, 0, 0],
        [0, 0, np.nan],
        np.diag([1, 1, -1, 1]),
    ):
        with pytest.raises(ValueError, match=r"pose"):
            Pose.of(wrong)


@given(ANGLES, ANGLES)
def test_a_pose_is_unchanged_by_conversions(xyz: tuple, rpy: tuple) -> None:
    """It is converted to a placement, seven numbers or a matrix and back."""
    pose = Pose.at(xyz, rpy)
    assert Pose.of(pose.placement) == pose and Pose.of(pose) == pose
    assert np.allclose(homogeneous(Pose.of(homogeneous(pose))), homogeneous(pose), atol=0)
    half = Pose.of(Placement(as_matrix(pose.placement.R), pose.placement.p))
    assert half == pose


@given(ANGLES)
def test_roll_pitch_yaw_rotate_about_x_then_y_then_z(rpy: tuple) -> None:
    """The rotation is Rz(yaw) Ry(pitch) Rx(roll), each the exponential of its axis."""
    axes = np.eye(3) * np.array(rpy)[:, None]
    X, Y, Z = (
        np.array(Pose.of([0, 0, 0, *quaternion_exp(axis.tolist())]).rotation) for axis in axes
    )
    assert np.abs(np.array(rpy_rotation(*rpy)) - Z @ Y @ X).max() <= ROUND_OFF


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3), st.floats(1e-3, 1e3))
def test_unit_vector_does_not_depend_on_the_length(u: tuple, scale: float) -> None:
    """A multiple gives the same direction, a unit vector itself, and zero remains zero."""
    direction = unit_vector(u)
    if any(u):
        assert math.hypot(*direction) == pytest.approx(1.0, abs=ROUND_OFF)
        assert unit_vector(direction) == direction
        assert unit_vector([scale * x for x in u]) == pytest.approx(direction, abs=ROUND_OFF)
    assert unit_vector((0, 0, 0)) == (0.0, 0.0, 0.0)


def test_link_inertia_converts_to_algebra() -> None:
    """`symmetric` has the rows of `inertia`. About the origin the inertia is larger by m (c.c 1 - c
    c^T)."""
    rows = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    link = Link("a", 2.0, (0.1, 0.2, 0.3), rows)
    assert tuple(tuple(row) for row in link.symmetric.rows) == rows
    c = np.array(link.com)
    wanted = np.array(rows) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    assert np.allclose(
        [list(row) for row in link.spatial_inertia.J.rows], wanted, rtol=ROUND_OFF, atol=0
    )


def test_leading_joint_composes_chains_of_mimic_joints(robot: Robot) -> None:
    """An independent joint is its own leader."""
    by_name = {joint.name: joint for joint in robot.model.joints}
    for joint in robot.model.joints:
        leader, multiplier, offset = leading_joint(joint, by_name)
        assert by_name[leader].mimic is None
        if joint.mimic is None:
            assert (leader, multiplier, offset) == (joint.name, 1.0, 0.0)
        else:
            _, inner, start = leading_joint(by_name[joint.mimic.joint], by_name)
            assert multiplier == joint.mimic.multiplier * inner
            wanted = joint.mimic.multiplier * start + joint.mimic.offset
            assert offset == pytest.approx(wanted, abs=ROUND_OFF)


def test_limits_along_a_reversed_axis_are_exchanged() -> None:
    """lower and upper also change sign. Along the axis they do not change."""
    limits = Limits(-1, 2, 3, 4)
    assert limits.along(-1) == Limits(-2, 1, 3, 4) and limits.along(1) is limits


def test_a_fixed_joint_has_no_coordinates_and_a_pose() -> None:
    """The pose may be any of the accepted kinds."""
    joint = fixed_joint("j", "a", "b", homogeneous(TURN))
    assert not joint.kind.nv and joint.pose == TURN and not joint.is_bounded
    assert hand().joint("wrist").is_bounded and not hand().joint("slide").is_bounded
    assert replace(hand().joint("wrist"), limits=Limits()).is_bounded is False


def test_unknown_names_are_answered_with_similar_ones() -> None:
    """This is a KeyError. Something that is not a name, or one name for several, is a TypeError."""
    table = {"elbow": 1, "wrist": 2}
    assert look_up(table, "wrist", "joint", "arm") == 2
    with pytest.raises(KeyError, match="arm has no joint named 'elbwo'; did you mean 'elbow'"):
        look_up(table, "elbwo", "joint", "arm")
    with pytest.raises(TypeError, match="give the name of a joint, got 3"):
        look_up(table, 3, "joint", "arm")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="arm has no free body named 'cube'; it has none"):
        look_up({}, "cube", "free body", "arm")
    with pytest.raises(TypeError, match=r'for one name \["wrist"\]'):
        check_names("wrist")
    assert check_names(["wrist"]) == ["wrist"]


@pytest.mark.parametrize("library", [float, np.array, pytest.param("torch"), pytest.param("jax")])
def test_a_joint_clamps_its_position(library: object) -> None:
    """The position may be a number, or an array of any library that has clip. Without limits it
    does not change."""
    if isinstance(library, str):
        module = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
        library = module.tensor if library == "torch" else module.array
    joint = Joint("j", KINDS["revolute"], "a", "b", limits=Limits(-1.0, 2.0))
    for position, kept in ((-3.0, -1.0), (0.5, 0.5), (9.0, 2.0)):
        assert float(joint.clamp(library(position))) == kept  # type: ignore[operator]
    free = Joint("j", KINDS["continuous"], "a", "b")
    assert float(free.clamp(library(1e3))) == 1e3  # type: ignore[operator]
    with pytest.raises(ValueError, match=r'joint "p" \(planar\) has 3 coordinates; clamp a whole'):
        Joint("p", KINDS["planar"], "a", "b").clamp(0.0)


def test_similar_names_come_first_in_messages() -> None:
    """Names that contain the word come first, those that end with it before others. The robot's
    names follow."""
    table = {"panda_link0": 0, "panda_hand_tcp": 1, "panda_hand": 2}
    known = "it has panda_link0, panda_hand_tcp, panda_hand"
    said = rf"named 'hand'; did you mean 'panda_hand' or 'panda_hand_tcp'\? {known}"
    with pytest.raises(KeyError, match=said):
        look_up(table, "hand", "link", "panda")
    with pytest.raises(KeyError, match=f"named 'wheel'; {known}"):
        look_up(table, "wheel", "link", "panda")
    with pytest.raises(KeyError, match=known):
        look_up(table, "", "link", "panda")


def test_messages_list_at_most_twelve_names() -> None:
    for count in (1, 12, 13, 40):
        table = {f"x{k}": k for k in range(count)}
        known = ", ".join([*list(table)[:12], *(["..."] if count > 12 else [])])
        with pytest.raises(KeyError) as error:
            look_up(table, "?", "link", "arm")
        assert error.value.args == (f"arm has no link named '?'; it has {known}",)


def test_at_most_three_similar_names_are_suggested() -> None:
    """First come names that contain the word, at their end first, then shorter ones, then names of
    similar spelling."""
    names = ["left_hand_tip", "hand_x", "left_hand", "hand", "Hand_l", "hnad", "foot"]
    assert near_names("hand", names) == ["hand", "left_hand", "hand_x"]
    assert near_names("hadn", names) == ["hnad", "hand", "hand_x"]
    assert near_names("HAND_L", names) == ["Hand_l"]
    assert near_names("", names) == [] and near_names("wheel", names) == []


def test_documented_numbers() -> None:
    check_numbers("model.description", UNIT=1e-06)

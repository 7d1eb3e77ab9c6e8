"""Records of a description: poses, directions, chains of mimic joints, names that are looked up."""

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


def test_poses_are_read_as_users_write_them() -> None:
    """A position, position and quaternion xyzw, a 4x4 matrix; anything else is refused."""
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
def test_a_pose_and_its_placement_are_one(xyz: tuple, rpy: tuple) -> None:
    """Tuples to algebra and back, and through seven numbers or a matrix, is the same pose."""
    pose = Pose.at(xyz, rpy)
    assert Pose.of(pose.placement) == pose and Pose.of(pose) == pose
    assert np.allclose(homogeneous(Pose.of(homogeneous(pose))), homogeneous(pose), atol=0)
    half = Pose.of(Placement(as_matrix(pose.placement.R), pose.placement.p))
    assert half == pose


@given(ANGLES)
def test_fixed_axis_angles_turn_about_x_then_y_then_z(rpy: tuple) -> None:
    """Rz(yaw) Ry(pitch) Rx(roll), each the exponential of its axis."""
    axes = np.eye(3) * np.array(rpy)[:, None]
    X, Y, Z = (
        np.array(Pose.of([0, 0, 0, *quaternion_exp(axis.tolist())]).rotation) for axis in axes
    )
    assert np.abs(np.array(rpy_rotation(*rpy)) - Z @ Y @ X).max() <= ROUND_OFF


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3), st.floats(1e-3, 1e3))
def test_directions_have_length_one_whatever_their_size(u: tuple, scale: float) -> None:
    """unit_vector of a multiple is the same direction, and of itself itself; zero stays zero."""
    direction = unit_vector(u)
    if any(u):
        assert math.hypot(*direction) == pytest.approx(1.0, abs=ROUND_OFF)
        assert unit_vector(direction) == direction
        assert unit_vector([scale * x for x in u]) == pytest.approx(direction, abs=ROUND_OFF)
    assert unit_vector((0, 0, 0)) == (0.0, 0.0, 0.0)


def test_inertia_as_algebra_has_it() -> None:
    """`symmetric` has the rows of `inertia`; about the origin it gains m (c.c 1 - c c^T)."""
    rows = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    link = Link("a", 2.0, (0.1, 0.2, 0.3), rows)
    assert tuple(tuple(row) for row in link.symmetric.rows) == rows
    c = np.array(link.com)
    wanted = np.array(rows) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    assert np.allclose(
        [list(row) for row in link.spatial_inertia.J.rows], wanted, rtol=ROUND_OFF, atol=0
    )


def test_followers_stand_where_their_chain_puts_them(robot: Robot) -> None:
    """followed() is the chain of mimic relations composed; an independent joint follows itself."""
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


def test_limits_along_a_backward_axis_change_places() -> None:
    """lower and upper exchange and change sign; along the axis they stay."""
    limits = Limits(-1, 2, 3, 4)
    assert limits.along(-1) == Limits(-2, 1, 3, 4) and limits.along(1) is limits


def test_a_fixed_joint_holds_its_child() -> None:
    """It has no coordinates, and its pose is read as users write it."""
    joint = fixed_joint("j", "a", "b", homogeneous(TURN))
    assert not joint.kind.nv and joint.pose == TURN and not joint.is_bounded
    assert hand().joint("wrist").is_bounded and not hand().joint("slide").is_bounded
    assert replace(hand().joint("wrist"), limits=Limits()).is_bounded is False


def test_names_are_looked_up_with_near_ones_at_hand() -> None:
    """A KeyError offers what is near; what is no name, or one name for several, is a TypeError."""
    table = {"elbow": 1, "wrist": 2}
    assert look_up(table, "wrist", "joint", "arm") == 2
    with pytest.raises(KeyError, match="arm has no joint named 'elbwo'; did you mean 'elbow'"):
        look_up(table, "elbwo", "joint", "arm")
    with pytest.raises(TypeError, match="give the name of a joint, got 3"):
        look_up(table, 3, "joint", "arm")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r'for one name \["wrist"\]'):
        check_names("wrist")
    assert check_names(["wrist"]) == ["wrist"]


@pytest.mark.parametrize("library", [float, np.array, pytest.param("torch"), pytest.param("jax")])
def test_a_joint_clamps_its_position(library: object) -> None:
    """A number or an array of any library that clips; without limits it stays."""
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


def test_near_names_are_offered_first() -> None:
    """A part of a name finds the whole, the end of a name first; then comes what the robot has."""
    table = {"panda_link0": 0, "panda_hand_tcp": 1, "panda_hand": 2}
    known = "it has panda_link0, panda_hand_tcp, panda_hand"
    said = rf"named 'hand'; did you mean 'panda_hand' or 'panda_hand_tcp'\? {known}"
    with pytest.raises(KeyError, match=said):
        look_up(table, "hand", "link", "panda")
    with pytest.raises(KeyError, match=f"named 'wheel'; {known}"):
        look_up(table, "wheel", "link", "panda")
    with pytest.raises(KeyError, match=known):
        look_up(table, "", "link", "panda")


def test_what_there_is_ends_after_twelve_names() -> None:
    for count in (1, 12, 13, 40):
        table = {f"x{k}": k for k in range(count)}
        known = ", ".join([*list(table)[:12], *(["..."] if count > 12 else [])])
        with pytest.raises(KeyError) as error:
            look_up(table, "?", "link", "arm")
        assert error.value.args == (f"arm has no link named '?'; it has {known}",)


def test_three_names_are_near_at_most() -> None:
    """Those that contain the word, its end first and then the shorter ones; then those that are
    spelled like it."""
    names = ["left_hand_tip", "hand_x", "left_hand", "hand", "Hand_l", "hnad", "foot"]
    assert near_names("hand", names) == ["hand", "left_hand", "hand_x"]
    assert near_names("hadn", names) == ["hnad", "hand", "hand_x"]
    assert near_names("HAND_L", names) == ["Hand_l"]
    assert near_names("", names) == [] and near_names("wheel", names) == []


def test_documented_numbers() -> None:
    check_numbers("model.description", UNIT=1e-06)

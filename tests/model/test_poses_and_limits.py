"""Poses, directions, and limits along an axis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from documented_numbers import check_numbers
from hand_models import ROUND_OFF, homogeneous
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.algebra.quaternions import quaternion_exp
from warpdyn.algebra.spatial import Placement, as_matrix
from warpdyn.model.poses_and_limits import Limits, Pose, rpy_rotation, unit_vector

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


def test_limits_along_a_reversed_axis_are_exchanged() -> None:
    """lower and upper also change sign. Along the axis they do not change."""
    limits = Limits(-1, 2, 3, 4)
    assert limits.along(-1) == Limits(-2, 1, 3, 4) and limits.along(1) is limits


def test_documented_numbers() -> None:
    check_numbers("model.poses_and_limits", UNIT=1e-06, PERPENDICULAR=0.001, MOST=1000000000.0)

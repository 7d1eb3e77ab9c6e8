"""Odometry messages: how they are checked and used."""

from __future__ import annotations

import numpy as np
import pytest

from ros2_node.control.states.base_state import BaseMotion, BaseState

HERE = BaseMotion((1.0, 2.0, 0.3), (0.0, 0.0, 0.6, 0.8), (0.5, 0.1, 0.0), (0.0, 0.1, 0.7))


def test_a_message_gives_the_place_and_speed_of_the_base():
    """They are in the root's axes. The frame is named with or without the prefix, or not at all."""
    base = BaseState("trunk", "r0/")
    assert base.age(5.0) == np.inf
    for k, frame in enumerate(("trunk", "r0/trunk", "")):
        assert base.read(frame, HERE, k, 4.0 + k) is None
    np.testing.assert_array_equal(base.place, [1.0, 2.0, 0.3, 0.0, 0.0, 0.6, 0.8])
    np.testing.assert_array_equal(base.speed, [0.5, 0.1, 0.0, 0.0, 0.1, 0.7])
    assert base.age(6.5) == 0.5


def test_the_quaternion_is_normalised():
    base = BaseState("trunk")
    assert base.read("", HERE._replace(quaternion=(0.0, 0.0, 0.606, 0.808)), 0, 0.0) is None
    assert np.linalg.norm(base.place[3:]) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("frame", "change", "reason"),
    [
        ("base_footprint", {}, "odometry_other_frame"),
        ("", {"linear": (np.nan, 0.0, 0.0)}, "odometry_nonfinite"),
        ("", {"position": (0.0, np.inf, 0.0)}, "odometry_nonfinite"),
        ("", {"quaternion": (0.0, 0.0, 0.0, 0.0)}, "odometry_no_rotation"),
        ("", {"quaternion": (0.0, 0.0, np.nan, 1.0)}, "odometry_nonfinite"),
        ("", {"quaternion": (0.5, 0.5, 0.5, 0.6)}, "odometry_no_rotation"),
    ],
)
def test_a_bad_message_leaves_the_previous_state(frame, change, reason):
    base = BaseState("trunk")
    base.read("trunk", HERE, 1, 0.0)
    assert base.read(frame, HERE._replace(**change), 2, 1.0) == reason
    np.testing.assert_array_equal(base.speed, [0.5, 0.1, 0.0, 0.0, 0.1, 0.7])
    assert base.age(1.0) == 1.0


def test_a_repeated_message_does_not_refresh_the_state():
    """A message without a stamp does. A robot at rest sends new stamps."""
    base = BaseState("trunk")
    base.read("", HERE, 7, 0.0)
    assert base.read("", HERE, 7, 1.0) == "odometry_repeated" and base.age(1.0) == 1.0
    assert base.read("", HERE, 8, 1.0) is None and base.age(1.0) == 0.0
    base.read("", HERE, 0, 2.0)
    assert base.read("", HERE, 0, 3.0) is None


def test_messages_are_bounded():
    """The bounds are ten thousand m or m/s, and 0.02 between a quaternion's length and one."""
    for change, reason in (
        ({"position": (1e4, 0.0, 0.0)}, None),
        ({"position": (-1.0001e4, 0.0, 0.0)}, "odometry_nonfinite"),
        ({"angular": (0.0, 0.0, -1e4)}, None),
        ({"angular": (0.0, 0.0, 1.0001e4)}, "odometry_nonfinite"),
        ({"quaternion": (0.0, 0.0, 0.0, 1.019)}, None),
        ({"quaternion": (0.0, 0.0, 0.0, 1.021)}, "odometry_no_rotation"),
        ({"quaternion": (0.0, 0.0, 0.0, -0.981)}, None),
        ({"quaternion": (0.0, 0.0, 0.0, -0.979)}, "odometry_no_rotation"),
    ):
        assert BaseState("trunk").read("trunk", HERE._replace(**change), 1, 0.0) == reason


def test_the_base_is_at_the_origin_before_a_message():
    base = BaseState("trunk")
    np.testing.assert_array_equal(base.place, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert not base.speed.any()

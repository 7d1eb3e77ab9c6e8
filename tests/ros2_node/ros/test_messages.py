"""Conversion of arrays and poses to messages."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.ros.messages import (
    base_motion,
    fill_pose,
    labelled_array,
    numbers,
    topic_word,
    transform,
)

POSE = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_a_labelled_array_is_read_back_by_its_dimensions(shape):
    """The data reshaped to the sizes is the array. The stride of a dimension is the product of its
    size and those after it."""
    x = np.arange(float(np.prod(shape))).reshape(shape)
    message = labelled_array(x, [f"d{i}" for i in range(len(shape))])
    sizes = [d.size for d in message.layout.dim]
    np.testing.assert_array_equal(np.array(message.data).reshape(sizes), x)
    assert [d.label for d in message.layout.dim] == [f"d{i}" for i in range(len(shape))]
    for i, dim in enumerate(message.layout.dim):
        assert dim.stride == np.prod(shape[i:])


def test_a_labelled_array_is_always_row_major():
    """A transposed or a single-precision array gives the same numbers."""
    x = np.arange(6.0).reshape(2, 3)
    for other in (np.asfortranarray(x), x.astype(np.float32), x.T.copy().T):
        assert labelled_array(other, "ab").data == labelled_array(x, "ab").data
    assert numbers(x[0]).tolist() == [0.0, 1.0, 2.0]


def test_labels_must_fit():
    with pytest.raises(ValueError):
        labelled_array(np.zeros((2, 3)), ("one",))


def test_poses_and_transforms_have_position_and_quaternion_xyzw():
    pose = Pose()
    fill_pose(pose, POSE)
    position, turn = pose.position, pose.orientation
    assert [position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w] == POSE
    message = transform("base", "hand", POSE, Time(sec=3))
    move, turn = message.transform.translation, message.transform.rotation
    assert [move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w] == POSE
    assert (message.header.frame_id, message.child_frame_id) == ("base", "hand")
    assert message.header.stamp.sec == 3


@given(st.text(min_size=1))
def test_every_link_name_becomes_a_word_of_a_topic(name):
    """A word has letters, digits and underscores, and does not begin with a digit. A name that is a
    word already does not change."""
    word = topic_word(name)
    assert word.isascii() and word.isidentifier()
    assert topic_word(word) == word


def test_an_odometry_message_gives_a_pose_and_a_twist():
    """The quaternion is xyzw. The linear velocity comes before the angular one."""
    odometry = pytest.importorskip("nav_msgs.msg").Odometry()
    fill_pose(odometry.pose.pose, POSE)
    speed = odometry.twist.twist
    speed.linear.x, speed.linear.y, speed.linear.z = 4.0, 5.0, 6.0
    speed.angular.x, speed.angular.y, speed.angular.z = 7.0, 8.0, 9.0
    assert sum(base_motion(odometry), ()) == (*POSE, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)

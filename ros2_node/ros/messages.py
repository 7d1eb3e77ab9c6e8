"""Conversion of arrays and poses to messages, and back."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, TransformStamped
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ..control.states.base_state import BaseMotion


def labelled_array(data: np.ndarray, labels: Sequence[str]) -> Float64MultiArray:
    """An array as a message with named dimensions, row-major."""
    message = Float64MultiArray()
    sizes = data.shape
    strides = [int(np.prod(sizes[i:])) for i in range(len(sizes))]
    message.layout.dim = [
        MultiArrayDimension(label=label, size=size, stride=stride)
        for label, size, stride in zip(labels, sizes, strides, strict=True)
    ]
    message.data = numbers(np.ascontiguousarray(data, dtype=float))
    return message


def numbers(x: np.ndarray) -> array:
    """Numbers in the fastest form for a message's field; an ndarray would be copied number by
    number."""
    return array("d", x.tobytes())


def time_message(stamp: Any) -> Time:
    """Seconds and nanoseconds, from any kind of stamp, as a message."""
    return Time(sec=stamp.sec, nanosec=stamp.nanosec)


def fill_pose(message: Pose, pose: Sequence[float]) -> None:
    """Fill a message from `pose`: position and quaternion xyzw."""
    position, orientation = message.position, message.orientation
    position.x, position.y, position.z = pose[:3]
    orientation.x, orientation.y, orientation.z, orientation.w = pose[3:]


def transform(parent: str, child: str, pose: Sequence[float], stamp: Time) -> TransformStamped:
    """A transform from `pose`: position and quaternion xyzw of the child in the parent."""
    message = TransformStamped()
    message.header.stamp, message.header.frame_id, message.child_frame_id = stamp, parent, child
    move, turn = message.transform.translation, message.transform.rotation
    move.x, move.y, move.z = pose[:3]
    turn.x, turn.y, turn.z, turn.w = pose[3:]
    return message


def base_motion(odometry: Any) -> BaseMotion:
    """The numbers of an Odometry message."""
    place, speed = odometry.pose.pose, odometry.twist.twist
    p, o, v, w = place.position, place.orientation, speed.linear, speed.angular
    return BaseMotion((p.x, p.y, p.z), (o.x, o.y, o.z, o.w), (v.x, v.y, v.z), (w.x, w.y, w.z))


def topic_word(name: str) -> str:
    """A link's name as part of a topic: letters, digits, underscores, not starting with a digit."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return "_" + word if word[:1].isdigit() else word

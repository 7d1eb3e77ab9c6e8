"""Arrays and poses as messages, and the other way round."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, TransformStamped
from std_msgs.msg import Float64MultiArray, MultiArrayDimension


def labelled(data: np.ndarray, labels: Sequence[str]) -> Float64MultiArray:
    """An array with its dimensions named, row-major."""
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
    """The form that a message's field takes quickest; an ndarray would be copied number by number."""
    return array("d", x.tobytes())


def time_message(stamp: Any) -> Time:
    """Seconds and nanoseconds, however they were read, as a message."""
    return Time(sec=stamp.sec, nanosec=stamp.nanosec)


def fill_pose(message: Pose, pose: Sequence[float]) -> None:
    """`pose`: position and quaternion xyzw."""
    position, orientation = message.position, message.orientation
    position.x, position.y, position.z = pose[:3]
    orientation.x, orientation.y, orientation.z, orientation.w = pose[3:]


def transform(parent: str, child: str, pose: Sequence[float], stamp: Time) -> TransformStamped:
    """`pose`: position and quaternion xyzw of the child in the parent."""
    message = TransformStamped()
    message.header.stamp, message.header.frame_id, message.child_frame_id = stamp, parent, child
    move, turn = message.transform.translation, message.transform.rotation
    move.x, move.y, move.z = pose[:3]
    turn.x, turn.y, turn.z, turn.w = pose[3:]
    return message


def topic_word(name: str) -> str:
    """A link's name as part of a topic's: letters, digits, underscores, not beginning with a
    digit."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return "_" + word if word[:1].isdigit() else word


def nanoseconds(stamp: Time) -> int:
    """A stamp as one integer."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec

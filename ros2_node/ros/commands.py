"""The message of ~/commands, for an effort controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from std_msgs.msg import Float64MultiArray

EFFORT = "effort"
"""The interface of a JointCommand."""


def command_kind(command_type: str) -> type:
    """The message's class, from parameter `command_type`; ValueError if it is not installed."""
    if command_type == "float64_multi_array":
        return Float64MultiArray  # type: ignore[no-any-return]
    try:
        from control_msgs.msg import JointCommand
    except ImportError as error:
        raise ValueError(
            "command_type joint_command needs the message control_msgs/JointCommand, which this "
            "installation lacks: install the control_msgs of ROS 2 Rolling (2026) or later, or use "
            "command_type float64_multi_array"
        ) from error
    return JointCommand  # type: ignore[no-any-return]


def command_message(kind: type, joints: Sequence[str]) -> tuple[Any, str]:
    """A message of that class for these joints, and the name of its array of numbers."""
    if kind is Float64MultiArray:
        return kind(), "data"
    return kind(interface_name=EFFORT, joint_names=list(joints)), "values"

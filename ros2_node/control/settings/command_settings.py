"""Parameters of the outgoing commands: their message, receivers, priority and other publishers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .parameter import Parameter


@dataclass(frozen=True)
class CommandSettings:
    """A part of `Settings`, which says what an annotation means."""

    command_type: Annotated[
        str,
        Parameter(
            "float64_multi_array",
            "Message of ~/commands: std_msgs/Float64MultiArray, or the stamped control_msgs/JointCommand.",
            choices=("float64_multi_array", "joint_command"),
            fixed=True,
        ),
    ]
    command_controller: Annotated[
        str,
        Parameter(
            "",
            "Node of the controller, asked at ~/enable for its joints: another order is refused; empty = not asked.",
            fixed=True,
        ),
    ]
    allow_several_publishers: Annotated[
        bool,
        Parameter(
            False,
            "Let several nodes publish joint_states, odom or ~/commands, as arm and gripper each their part; "
            "else ~/enable is refused.",
        ),
    ]
    realtime: Annotated[
        bool,
        Parameter(
            False,
            "Ask for SCHED_FIFO, and for memory that stays in RAM, where allowed.",
            fixed=True,
        ),
    ]

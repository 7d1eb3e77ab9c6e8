"""Parameters of the outgoing commands: their message, receivers, priority and other publishers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .parameter import Parameter


@dataclass(frozen=True)
class CommandSettings:
    """Fields of `Settings`, each with its parameter."""

    command_type: Annotated[
        str,
        Parameter(
            "float64_multi_array",
            "Message type of ~/commands: std_msgs/Float64MultiArray, or the stamped control_msgs/JointCommand.",
            choices=("float64_multi_array", "joint_command"),
            fixed=True,
        ),
    ]
    torque_filter: Annotated[
        float,
        Parameter(
            0.0,
            "Low pass of the computed torques before the stages of a command: its cutoff. 0: none.",
            "Hz",
            low=0.0,
            high=1e4,
            fixed=True,
        ),
    ]
    command_controller: Annotated[
        str,
        Parameter(
            "",
            "Controller node whose joint order ~/enable checks. Another order is refused. Empty: not checked.",
            fixed=True,
        ),
    ]
    allow_several_publishers: Annotated[
        bool,
        Parameter(
            False,
            "Several nodes may publish joint_states, odom or ~/commands, for example an arm and a "
            "gripper. Otherwise ~/enable is refused.",
        ),
    ]
    realtime: Annotated[
        bool,
        Parameter(False, "Request SCHED_FIFO and memory locked in RAM, where allowed.", fixed=True),
    ]

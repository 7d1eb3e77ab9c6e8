"""Parameters of the outgoing commands: their message, receivers, priority and other publishers."""

from __future__ import annotations

from dataclasses import dataclass

from .parameter import declare


@dataclass(frozen=True)
class CommandSettings:
    """Fields of `Settings`, each with its parameter."""

    command_type: str = declare(
        "float64_multi_array",
        "Message type of ~/commands: std_msgs/Float64MultiArray, or the stamped control_msgs/JointCommand.",
        choices=("float64_multi_array", "joint_command"),
        fixed=True,
    )
    torque_filter: float = declare(
        0.0,
        "Cutoff of the low pass of the computed torques before scale, ramp and limits. 0: no "
        "filter.",
        "Hz",
        bounds=(0.0, 1e4),
        fixed=True,
    )
    command_controller: str = declare(
        "",
        "Controller node whose joint order ~/enable checks. Another order is refused. Empty: not checked.",
        fixed=True,
    )
    allow_several_publishers: bool = declare(
        False,
        "Several nodes may publish joint_states, odom or ~/commands, for example an arm and a "
        "gripper. Otherwise ~/enable is refused.",
    )
    realtime: bool = declare(
        False, "Request SCHED_FIFO and memory locked in RAM, where allowed.", fixed=True
    )

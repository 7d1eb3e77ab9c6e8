"""Parameters of the two arms of the teleoperation demo: a panda that is led, and a panda that
follows."""

from __future__ import annotations

from typing import Any

JOINTS = [f"panda_joint{k}" for k in range(1, 8)]
POSE = [0.0, -0.785398, 0.0, -2.356194, 0.0, 1.570796, 0.785398]
"""Franka's "ready" pose [rad]."""
FRICTION = 1.0
"""Coulomb friction of the simulated joints [N·m]; the leader's node compensates 0.8 of it."""
STIFFNESS = [300.0, 300.0, 200.0, 200.0, 60.0, 40.0, 20.0, 0.0]
"""Stiffness of the follower's joints [N·m/rad]; the last one is that of the fingers [N/m]."""


def _node() -> dict[str, Any]:
    return {
        "robot_description_file": "panda",
        "joints": JOINTS,
        "start_enabled": True,
        "ramp_time": 0.3,
        "state_timeout": 1.0,
        "max_state_age": 0.0,  # in lockstep the plant's stamps are simulated time
    }


def leader() -> dict[str, Any]:
    """Parameters of the node of the arm that a hand leads."""
    return {**_node(), "law": "teaching", "friction.scale": 0.8, "friction.coulomb": FRICTION}


def follower() -> dict[str, Any]:
    """Parameters of the node of the arm that follows."""
    return {
        **_node(),
        "law": "joint_impedance",
        "law_inputs.stiffness": STIFFNESS,
        "law_inputs.damping_ratio": 1.0,
        "reference_timeout": 0.2,
    }


def plant() -> dict[str, Any]:
    """Parameters of either simulated arm, whose steps wait for their commands."""
    return {
        "robot": "panda",
        "braked": True,
        "lockstep": True,
        "rate": 250.0,
        "friction": FRICTION,
        "command_joints": JOINTS,
        "pose_joints": JOINTS,
        "pose": POSE,
    }

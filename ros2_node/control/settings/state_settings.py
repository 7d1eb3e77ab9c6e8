"""Parameters of measured states: velocities, age, limits and missing joints."""

from __future__ import annotations

from dataclasses import dataclass

from .parameter import declare


@dataclass(frozen=True)
class StateSettings:
    """Fields of `Settings`, each with its parameter."""

    velocity_source: str = declare(
        "message",
        "Velocities: from joint_states, zero, or differences of the positions. Mode gravity needs none.",
        choices=("message", "zero", "finite_difference"),
    )
    velocity_cutoff: float = declare(
        50.0,
        "Cutoff of the low pass of finite-difference velocities. 0: no filter.",
        "Hz",
        bounds=(0.0, 1e4),
    )
    position_filter: float = declare(
        0.0,
        "Cutoff of the low pass of the positions between joint_states and the torques. 0: no "
        "filter.",
        "Hz",
        bounds=(0.0, 1e4),
        fixed=True,
    )
    velocity_filter: float = declare(
        0.0,
        "Cutoff of the low pass of the velocities between joint_states and the torques. 0: no "
        "filter.",
        "Hz",
        bounds=(0.0, 1e4),
        fixed=True,
    )
    state_timeout: float = declare(
        0.1, "A state or a wrench older than this is stale.", "s", bounds=(0.01, 60.0)
    )
    max_state_age: float = declare(
        0.5,
        "If a stamp is older than this by the node's clock, ~/enable is refused and the robot "
        "stops. 0: no limit.",
        "s",
        bounds=(0.0, 3600.0),
    )
    position_limit_margin: float = declare(
        0.1,
        "~/enable is refused while a joint is farther than this beyond its position limits. 0: not checked.",
        "rad or m",
        bounds=(0.0, 1e4),
    )
    missing_joint_policy: str = declare(
        "reject",
        "If a needed joint is in no fresh message, reject the state, or hold the joint's last "
        "position (zero if none).",
        choices=("reject", "hold"),
    )

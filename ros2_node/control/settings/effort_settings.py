"""Parameters of measured joint torques: observer, collisions, identification."""

from __future__ import annotations

from dataclasses import dataclass

from .parameter import Number, declare, declare_per_joint


@dataclass(frozen=True)
class EffortSettings:
    """Fields of `Settings`, each with its parameter."""

    effort_source: str = declare(
        "none",
        "Motor torques from which external torques are estimated: effort of joint_states, or "
        "the node's own commands.",
        choices=("none", "message", "command"),
        fixed=True,
    )
    observer_gain: float = declare(
        50.0,
        "Momentum observer: external torques follow with a delay of 1 / gain.",
        "1/s",
        bounds=(0.1, 1e4),
    )
    external_wrench_link: str = declare(
        "", "Link of ~/external_wrench_estimate. Empty: not published.", fixed=True
    )
    collision_threshold: Number = declare_per_joint(
        0.0,
        "External torque above which a joint is in collision. 0: no detection.",
        "N*m",
        bounds=(0.0, 1e6),
    )
    collision_speed_factor: float = declare(
        0.0,
        "Increase of collision_threshold per unit of joint speed.",
        "N*m*s/rad",
        bounds=(0.0, 1e4),
    )
    collision_reaction: str = declare(
        "stop",
        "At a collision, stop with a fault or let the arm float under gravity torques.",
        choices=("stop", "gravity"),
    )
    identification_time: float = declare(
        0.0,
        "Duration of the recording of ~/identify_payload. 0: until the next call.",
        "s",
        bounds=(0.0, 600.0),
    )
    identification_cutoff: float = declare(
        10.0,
        "~/identify_payload: cutoff of the low pass, above the frequencies of the motion.",
        "Hz",
        bounds=(0.1, 200.0),
    )
    identification_friction: bool = declare(
        True, "~/identify_payload: joints may have offsets and friction that the model lacks."
    )

    def __post_init__(self) -> None:
        if self.effort_source != "none":
            return
        limits = self.collision_threshold
        if any(limits if isinstance(limits, tuple) else (limits,)):
            raise ValueError("collision_threshold needs effort_source: message (or command)")
        if self.external_wrench_link:
            raise ValueError("external_wrench_link needs effort_source: message (or command)")

    @property
    def watches_efforts(self) -> bool:
        """True if external torques are computed."""
        return self.effort_source != "none"

"""Parameters of tracking, laws and friction compensation."""

from __future__ import annotations

from dataclasses import dataclass

from .parameter import Number, declare, declare_per_joint

LAWS = {
    name: f"ros2_node.laws.{name}:{name}"
    for name in ("joint_impedance", "cartesian_impedance", "admittance", "teaching")
}
"""The laws that come with the node, and their kernels."""


@dataclass(frozen=True)
class LawSettings:
    """Fields of `Settings`, each with its parameter."""

    kp: Number = declare_per_joint(
        100.0, "Mode computed_torque: gain on the position error.", "1/s^2", bounds=(0.0, 1e5)
    )
    kd: Number = declare_per_joint(
        20.0, "Mode computed_torque: gain on the velocity error.", "1/s", bounds=(0.0, 1e4)
    )
    max_tracking_error: Number = declare_per_joint(
        0.5,
        "Largest distance between reference and robot. Beyond it, the reference is refused or the "
        "robot stops (computed_torque, laws with q_desired). 0: no limit.",
        "rad or m",
        bounds=(0.0, 1e4),
    )
    max_reference_acceleration: float = declare(
        50.0,
        "Largest acceleration of a reference. 0: no limit. Velocities are bounded by the "
        "description's limits.",
        "rad/s^2 or m/s^2",
        bounds=(0.0, 1e4),
    )
    reference_violation: str = declare(
        "reject",
        "A reference faster than the limits is rejected, or its velocities and accelerations are clipped.",
        choices=("reject", "clip"),
    )
    trajectory_path_tolerance: Number = declare_per_joint(
        0.0,
        "~/trajectory is aborted, and the robot stays where it is, if a joint deviates from it by "
        "more than this. 0: only max_tracking_error counts.",
        "rad or m",
        name="trajectory.path_tolerance",
        bounds=(0.0, 1e4),
    )
    trajectory_goal_tolerance: Number = declare_per_joint(
        0.0,
        "~/trajectory succeeds when all its joints are within this distance of its last point. 0: "
        "at the end of its motion.",
        "rad or m",
        name="trajectory.goal_tolerance",
        bounds=(0.0, 1e4),
    )
    trajectory_stopped_velocity_tolerance: Number = declare_per_joint(
        0.0,
        "~/trajectory succeeds only when no joint moves faster than this. 0: at any speed.",
        "rad/s or m/s",
        name="trajectory.stopped_velocity_tolerance",
        bounds=(0.0, 1e4),
    )
    trajectory_goal_time: float = declare(
        0.0,
        "Time after the end of its motion within which ~/trajectory must succeed, or it is "
        "aborted. 0: no limit.",
        "s",
        name="trajectory.goal_time",
        bounds=(0.0, 3600.0),
    )
    joint_limit_repulsion: str = declare(
        "by_law",
        "When to push joints back before their position limits. by_law: in mode computed_torque "
        "and in the laws that come with the node. never: references may then exceed the limits "
        "too.",
        choices=("by_law", "always", "never"),
    )
    joint_limit_margin: Number = declare_per_joint(
        0.1,
        "Distance from the limit at which the push begins, at most a twentieth of the joint's "
        "range. 0: no push.",
        "rad or m",
        bounds=(0.0, 10.0),
    )
    joint_limit_effort: float = declare(
        0.5,
        "Share of the effort limit that pushes a joint back at the position limit itself. 0: no "
        "push.",
        bounds=(0.0, 1.0),
    )
    law_input_range: float = declare(
        2.0,
        "Impedance laws: largest value of an input on ~/law_inputs/<name>, as a multiple of its parameter. "
        "0: no such topics.",
        bounds=(0.0, 100.0),
        fixed=True,
    )
    law_input_time: float = declare(
        0.2,
        "Time in which an input on ~/law_inputs/<name> moves from 0 to its largest value. 0: at once.",
        "s",
        bounds=(0.0, 60.0),
    )
    max_pose_error: tuple[float, ...] = declare(
        (0.2, 0.5),
        "Laws with a pose reference: largest distance between reference and frame. Beyond it, the "
        "reference is refused or the robot stops. 0: no limit.",
        "m and rad",
        bounds=(0.0, 1e3),
    )
    pose_violation: str = declare(
        "reject",
        "A pose reference beyond max_pose_error is rejected, or clipped: the frame is led towards it.",
        choices=("reject", "clip"),
    )
    twist_link: str = declare(
        "",
        "Link that ~/twist moves. With a law that holds a frame, that frame. Empty: no ~/twist.",
        fixed=True,
    )
    twist_axes: str = declare(
        "root",
        "Axes of ~/twist if its frame_id is empty: those of the root link, or of twist_link.",
        choices=("root", "link"),
    )
    twist_timeout: float = declare(
        0.2, "The link decelerates when ~/twist is older than this.", "s", bounds=(0.01, 10.0)
    )
    twist_max_speed: tuple[float, ...] = declare(
        (0.25, 0.5),
        "Largest linear and angular velocity of ~/twist. A faster one is scaled down.",
        "m/s and rad/s",
        bounds=(0.0, 100.0),
    )
    twist_max_acceleration: tuple[float, ...] = declare(
        (1.0, 4.0),
        "Largest linear and angular acceleration with which the link follows ~/twist.",
        "m/s^2 and rad/s^2",
        bounds=(0.01, 1e3),
    )
    ft_link: str = declare(
        "",
        "Law admittance: link of the force-torque sensor on ~/ft_wrench. Empty: the law's frame.",
        fixed=True,
    )
    ft_cutoff: float = declare(
        30.0,
        "Cutoff of the low pass of the force-torque sensor. 0: no filter.",
        "Hz",
        bounds=(0.0, 1e4),
    )
    ft_deadband: tuple[float, ...] = declare(
        (1.0, 0.1),
        "Force and torque of the sensor that count as zero. Larger ones are reduced by this "
        "amount.",
        "N and N*m",
        bounds=(0.0, 1e4),
    )
    friction_scale: Number = declare_per_joint(
        0.0,
        "Share of the joints' friction that the torques compensate. 0: none. Not in mode gravity.",
        name="friction.scale",
        bounds=(0.0, 1.0),
    )
    friction_coulomb: Number = declare_per_joint(
        0.0,
        "Coulomb friction. 0: the value in the description's <dynamics>.",
        "N*m",
        name="friction.coulomb",
        bounds=(0.0, 1e4),
    )
    friction_viscous: Number = declare_per_joint(
        0.0,
        "Viscous friction. 0: the value in the description's <dynamics>.",
        "N*m*s/rad",
        name="friction.viscous",
        bounds=(0.0, 1e4),
    )
    friction_travel: Number = declare_per_joint(
        1.0,
        "Distance that a joint may move with compensated friction where no law holds a position. "
        "After that, its friction is compensated again once it has rested. 0: no limit.",
        "rad or m",
        name="friction.travel",
        bounds=(0.0, 1e4),
    )
    friction_speed: float = declare(
        0.05,
        "Speed around which the sign of Coulomb friction is smoothed.",
        "rad/s",
        name="friction.speed",
        bounds=(1e-3, 10.0),
    )

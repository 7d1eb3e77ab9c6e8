"""Parameters of tracking, laws and friction compensation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .parameter import Number, Parameter

LAWS = {
    name: f"ros2_node.laws.{name}:{name}"
    for name in ("joint_impedance", "cartesian_impedance", "admittance", "teaching")
}
"""The laws that come with the node, and their kernels."""


@dataclass(frozen=True)
class LawSettings:
    """Fields of `Settings`, each with its parameter."""

    kp: Annotated[
        Number,
        Parameter(
            100.0,
            "Mode computed_torque: gain on the position error.",
            "1/s^2",
            low=0.0,
            high=1e5,
            per_joint=True,
        ),
    ]
    kd: Annotated[
        Number,
        Parameter(
            20.0,
            "Mode computed_torque: gain on the velocity error.",
            "1/s",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    max_tracking_error: Annotated[
        Number,
        Parameter(
            0.5,
            "Largest distance between reference and robot. Beyond it, the reference is refused or "
            "the robot stops (computed_torque, laws with q_desired). 0: any.",
            "rad or m",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    max_reference_acceleration: Annotated[
        float,
        Parameter(
            50.0,
            "Largest acceleration of a reference. 0: any. The description's limits bound the velocities.",
            "rad/s^2 or m/s^2",
            low=0.0,
            high=1e4,
        ),
    ]
    reference_violation: Annotated[
        str,
        Parameter(
            "reject",
            "A reference faster than the limits is rejected, or its velocities and accelerations are clipped.",
            choices=("reject", "clip"),
        ),
    ]
    trajectory_path_tolerance: Annotated[
        Number,
        Parameter(
            0.0,
            "~/trajectory ends, and the robot stays where it is, if a joint is farther than this from it. "
            "0: max_tracking_error alone.",
            "rad or m",
            name="trajectory.path_tolerance",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    trajectory_goal_tolerance: Annotated[
        Number,
        Parameter(
            0.0,
            "~/trajectory has succeeded when all its joints are as near as this to its last point. 0: at its end.",
            "rad or m",
            name="trajectory.goal_tolerance",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    trajectory_stopped_velocity_tolerance: Annotated[
        Number,
        Parameter(
            0.0,
            "~/trajectory has succeeded when no joint moves faster than this, too. 0: at any speed.",
            "rad/s or m/s",
            name="trajectory.stopped_velocity_tolerance",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    trajectory_goal_time: Annotated[
        float,
        Parameter(
            0.0,
            "How long after its end a trajectory may take to succeed, before it is aborted. 0: any time.",
            "s",
            name="trajectory.goal_time",
            low=0.0,
            high=3600.0,
        ),
    ]
    joint_limit_repulsion: Annotated[
        str,
        Parameter(
            "by_law",
            "When joints are pushed back before their position limits. by_law: in mode "
            "computed_torque and in the laws that come with the node. never: references may then "
            "exceed the limits too.",
            choices=("by_law", "always", "never"),
        ),
    ]
    joint_limit_margin: Annotated[
        Number,
        Parameter(
            0.1,
            "Distance from the limit at which the push begins, at most a twentieth of the joint's "
            "range. 0: nowhere.",
            "rad or m",
            low=0.0,
            high=10.0,
            per_joint=True,
        ),
    ]
    joint_limit_effort: Annotated[
        float,
        Parameter(
            0.5,
            "Share of the effort limit that pushes a joint back at the position limit itself. 0: none.",
            low=0.0,
            high=1.0,
        ),
    ]
    law_input_range: Annotated[
        float,
        Parameter(
            2.0,
            "Impedance laws: largest value of an input on ~/law_inputs/<name>, as a multiple of its parameter. "
            "0: no such topics.",
            low=0.0,
            high=100.0,
            fixed=True,
        ),
    ]
    law_input_time: Annotated[
        float,
        Parameter(
            0.2,
            "Time in which an input on ~/law_inputs/<name> moves from 0 to its largest value. 0: at once.",
            "s",
            low=0.0,
            high=60.0,
        ),
    ]
    max_pose_error: Annotated[
        tuple[float, ...],
        Parameter(
            (0.2, 0.5),
            "Laws with a pose reference: largest distance between reference and frame. Beyond it, "
            "the reference is refused or the robot stops. 0: any.",
            "m and rad",
            low=0.0,
            high=1e3,
            length=2,
        ),
    ]
    pose_violation: Annotated[
        str,
        Parameter(
            "reject",
            "A pose reference beyond max_pose_error is rejected, or clipped: the frame is led towards it.",
            choices=("reject", "clip"),
        ),
    ]
    twist_link: Annotated[
        str,
        Parameter(
            "",
            "Link that ~/twist moves. With a law that holds a frame, that frame. Empty: no ~/twist.",
            fixed=True,
        ),
    ]
    twist_axes: Annotated[
        str,
        Parameter(
            "root",
            "Axes of ~/twist where its frame_id is empty: those of the root link, or of twist_link.",
            choices=("root", "link"),
        ),
    ]
    twist_timeout: Annotated[
        float,
        Parameter(
            0.2, "The link decelerates when ~/twist is older than this.", "s", low=0.01, high=10.0
        ),
    ]
    twist_max_speed: Annotated[
        tuple[float, ...],
        Parameter(
            (0.25, 0.5),
            "Largest linear and angular velocity of ~/twist. A faster one is scaled down.",
            "m/s and rad/s",
            low=0.0,
            high=100.0,
            length=2,
        ),
    ]
    twist_max_acceleration: Annotated[
        tuple[float, ...],
        Parameter(
            (1.0, 4.0),
            "Largest linear and angular acceleration with which the link follows ~/twist.",
            "m/s^2 and rad/s^2",
            low=0.01,
            high=1e3,
            length=2,
        ),
    ]
    ft_link: Annotated[
        str,
        Parameter(
            "",
            "Law admittance: link of the force-torque sensor on ~/ft_wrench. Empty: the law's frame.",
            fixed=True,
        ),
    ]
    ft_cutoff: Annotated[
        float,
        Parameter(30.0, "Low pass of the force-torque sensor. 0: none.", "Hz", low=0.0, high=1e4),
    ]
    ft_deadband: Annotated[
        tuple[float, ...],
        Parameter(
            (1.0, 0.1),
            "Force and torque of the sensor that count as none. Larger ones are reduced by as much.",
            "N and N*m",
            low=0.0,
            high=1e4,
            length=2,
        ),
    ]
    friction_scale: Annotated[
        Number,
        Parameter(
            0.0,
            "Share of the joints' friction that the torques compensate. 0: none. Not in mode gravity.",
            name="friction.scale",
            low=0.0,
            high=1.0,
            per_joint=True,
        ),
    ]
    friction_coulomb: Annotated[
        Number,
        Parameter(
            0.0,
            "Coulomb friction. 0: the value in the description's <dynamics>.",
            "N*m",
            name="friction.coulomb",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    friction_viscous: Annotated[
        Number,
        Parameter(
            0.0,
            "Viscous friction. 0: the value in the description's <dynamics>.",
            "N*m*s/rad",
            name="friction.viscous",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    friction_travel: Annotated[
        Number,
        Parameter(
            1.0,
            "How far a joint moves with compensated friction where no law holds a position. After "
            "that, its friction is compensated again once it has rested. 0: any.",
            "rad or m",
            name="friction.travel",
            low=0.0,
            high=1e4,
            per_joint=True,
        ),
    ]
    friction_speed: Annotated[
        float,
        Parameter(
            0.05,
            "Speed around which the sign of Coulomb friction is smoothed.",
            "rad/s",
            name="friction.speed",
            low=1e-3,
            high=10.0,
        ),
    ]

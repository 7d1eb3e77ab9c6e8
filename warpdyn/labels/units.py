"""Units and frames of labels for each function, as recorded in the outputs' metadata."""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """Unit of numbers, and frame of vectors; for a tuple of results, one after the other."""

    unit: str
    frame: str


JOINTS = "joint axes; a free base's columns in its own frame"
FREE = "by the option reference"
TORQUE, RATE, SECOND = "N·m, N", "rad/s, m/s", "rad/s², m/s²"
INERTIA = "kg·m², kg·m, kg"
MOMENTUM = "kg·m/s; kg·m²/s"
TWIST, WRENCH = "m/s; rad/s", "N; N·m"
PER_RATE = "m, rad per unit of v"
ROOT = "about the centre of mass, in the axes of the option reference"
CONFIGURATION = "m, rad; quaternions x y z w"

UNITS: dict[str, Unit] = {
    "momentum": Unit(MOMENTUM, FREE),
    "momentum_jacobian": Unit(f"{MOMENTUM} per unit of v", FREE),
    "centroidal_momentum": Unit(MOMENTUM, ROOT),
    "centroidal_momentum_matrix": Unit(f"{MOMENTUM} per unit of v", ROOT),
    "centroidal_momentum_matrix_derivative": Unit(f"{WRENCH} per unit of v", ROOT),
    "centroidal_momentum_rate": Unit(WRENCH, ROOT),
    "locked_inertia": Unit("kg; kg·m; kg·m²", FREE),
    "average_velocity": Unit(TWIST, FREE),
    "average_velocity_jacobian": Unit(PER_RATE, FREE),
    "average_centroidal_velocity": Unit(TWIST, ROOT),
    "average_centroidal_velocity_jacobian": Unit(PER_RATE, ROOT),
    "com": Unit("m", "world"),
    "com_velocity": Unit("m/s", "world"),
    "com_acceleration": Unit("m/s²", "world"),
    "com_bias_acceleration": Unit("m/s²", "world"),
    "com_jacobian": Unit("m per unit of v", "world"),
    "link_coms": Unit("m", "world"),
    "rnea": Unit(TORQUE, JOINTS),
    "crba": Unit(INERTIA, JOINTS),
    "aba": Unit(SECOND, JOINTS),
    "gravity_torques": Unit(TORQUE, JOINTS),
    "bias_forces": Unit(TORQUE, JOINTS),
    "effect_torques": Unit(TORQUE, JOINTS),
    "actuator_torques": Unit(TORQUE, JOINTS),
    "coriolis_matrix": Unit(f"{TORQUE} per unit of v", JOINTS),
    "mass_matrix_inverse": Unit("1/(kg·m²), 1/(kg·m), 1/kg", JOINTS),
    "solve": Unit(SECOND, JOINTS),
    "rnea_derivatives": Unit(f"{TORQUE} per unit of q; of v; {INERTIA}", JOINTS),
    "aba_derivatives": Unit(
        f"{SECOND}; per unit of q; per unit of v; 1/(kg·m²), 1/(kg·m), 1/kg", JOINTS
    ),
    "loop_errors": Unit("m, rad", "world"),
    "loop_jacobian": Unit("m, rad per unit of q", "world"),
    "loop_dynamics": Unit(f"{SECOND}; N, N·m", f"{JOINTS}; world"),
    "loop_inverse_dynamics": Unit(TORQUE, JOINTS),
    "close_loops": Unit("rad, m", JOINTS),
    "kinetic_energy": Unit("J", "world"),
    "potential_energy": Unit("J", "world; zero at its origin"),
    "mechanical_energy": Unit("J", "world; zero at its origin"),
    "contact_power": Unit("W", "no frame"),
    "joint_torque_regressor": Unit(
        f"{TORQUE} per unit of inertial parameter",
        "inertial parameters of each link in its own frame",
    ),
    "kinetic_energy_regressor": Unit(
        "J per unit of inertial parameter", "inertial parameters of each link in its own frame"
    ),
    "potential_energy_regressor": Unit(
        "J per unit of inertial parameter", "inertial parameters of each link in its own frame"
    ),
    "fk": Unit("m; rotation without unit", "link frame to world"),
    "jacobian": Unit(PER_RATE, FREE),
    "pose_and_jacobian": Unit(
        f"m, rotation without unit; {PER_RATE}", f"link frame to world; {FREE}"
    ),
    "frame_velocity": Unit(TWIST, FREE),
    "frame_acceleration": Unit("m/s²; rad/s²", FREE),
    "frame_bias_acceleration": Unit("m/s²; rad/s²", FREE),
    "jacobian_derivative": Unit("m/s, rad/s per unit of v", FREE),
    "kinematic_hessian": Unit("m, rad per unit of v and of q", FREE),
    "manipulability": Unit("product of the rows' units per unit of v", FREE),
    "integrate": Unit(CONFIGURATION, JOINTS),
    "difference": Unit("rad, m", JOINTS),
    "interpolate": Unit(CONFIGURATION, JOINTS),
    "configuration_rate": Unit("m/s, rad/s; quaternions 1/s", JOINTS),
    "normalize": Unit(CONFIGURATION, JOINTS),
    "clamp": Unit(CONFIGURATION, JOINTS),
    "operational_space": Unit("kg, kg·m, kg·m²; m/s², rad/s²; per unit of acceleration", FREE),
    "operational_space_inertia": Unit("kg, kg·m, kg·m²", FREE),
    "dynamically_consistent_inverse": Unit("per unit of the frame's acceleration", FREE),
    "convert_configuration": Unit("m, rad", "by the option target"),
    "convert_velocity": Unit(RATE, "by the option target"),
    "convert_acceleration": Unit(SECOND, "by the option target"),
    "convert_force": Unit(TORQUE, "by the option target"),
    "imu": Unit("m/s²; rad/s", "axes of the link, at its origin"),
    "state_derivative": Unit("q: m/s, rad/s; v: m/s², rad/s²", JOINTS),
    "step": Unit("q: m, rad; v: m/s, rad/s; torques: N·m, N", JOINTS),
    "height_scan": Unit("m", "world"),
    "point_positions": Unit("m", "world"),
    "point_velocities": Unit("m/s", "world"),
    "point_transforms": Unit("m; rotation without unit", "point to world"),
    "point_jacobians": Unit(PER_RATE, FREE),
    "point_jacobian_derivatives": Unit("m/s, rad/s per unit of v", FREE),
    "point_heights": Unit("m", "world"),
    "pair_distances": Unit("m", "no frame"),
    "in_contact": Unit("0 or 1", "no frame"),
    "contact_flags": Unit("0 or 1", "no frame"),
    "link_contact_forces": Unit(WRENCH, FREE),
    "external_wrench": Unit(WRENCH, FREE),
    "momentum_observer": Unit(f"N·m·s, N·s; {TORQUE}; {TORQUE}", JOINTS),
    "inverse_kinematics": Unit(CONFIGURATION, JOINTS),
}
"""Units by function; a user's kernel gives its unit in its docstring."""

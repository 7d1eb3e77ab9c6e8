"""Common names in robotics for functions that warpdyn calls by their algorithm."""

from __future__ import annotations

FIELD_WORDS = {
    "acceleration": "aba",
    "center_of_mass": "com",
    "composite_rigid_body": "crba",
    "coriolis": "coriolis_matrix",
    "fd": "aba",
    "forward_dynamics": "aba",
    "forward_kinematics": "fk",
    "gravity": "gravity_torques",
    "gravity_compensation": "gravity_torques",
    "id": "rnea",
    "ik": "inverse_kinematics",
    "inertia_matrix": "crba",
    "inverse_dynamics": "rnea",
    "mass_matrix": "crba",
    "nonlinear_effects": "bias_forces",
    "randomize": "randomise",
}
"""Names of functions by the names that users look for."""

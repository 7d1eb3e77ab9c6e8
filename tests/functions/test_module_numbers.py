"""Numbers with a name in the modules of functions: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "closed_loops": {
        "LISTED": 8,
        "RANK": 1e-06,
    },
    "identification.gravity_diagnosis": {
        "FELT": 3.0,
        "VARIED": 0.1,
        "LEAST_TORQUE": 0.02,
        "EXPLAINED": 0.8,
    },
    "identification.payload_identification": {
        "LENGTH": 0.1,
        "HIDDEN": 1e-08,
        "ROUGH_MASS": 0.2,
        "ROUGH_COM": 0.02,
        "ROUGH_INERTIA": 0.5,
        "PAUSE": 2.5,
        "MARGIN": 2,
    },
    "inertial": {
        "ROUNDING": 1e-09,
    },
    "pictures.robot_picture": {
        "ROUND": 16,
        "MESH_POINTS": 40,
        "CELL": 0.5,
    },
    "simulation.contact_estimates": {
        "SHARE_OF_HEIGHT": 0.01,
        "STIFFEST": 1000000.0,
        "MOST_DAMPED": 10000.0,
    },
    "simulation.contact_pairs": {
        "MESH_VERTICES": 16,
        "LARGEST_MESH": 32,
        "LISTED": 4,
    },
    "simulation.default_points": {
        "MOST_POINTS": 500,
        "SHORTEST_ENDING": 3,
        "LISTED": 4,
    },
    "simulation.described_softness": {"SINGULAR": 1e-12},
    "simulation.drives": {
        "PRESSED": 0.01,
        "STOPPING": 4.0,
    },
    "simulation.ground": {
        "FULL_DEPTH": 0.005,
        "LARGEST_EXPONENT": 4.0,
        "FRICTION": 0.8,
        "SOFT_FRICTION": 0.5,
        "DISSIPATION": 0.02,
    },
    "simulation.pair_arrays": {
        "MOST_CONTACTS": 1000,
        "UNBOUNDED": 1000000000000.0,
    },
    "simulation.point_checks": {
        "MOST_IN_LINE": 40,
        "MOST_ROWS": 64,
    },
    "simulation.simulation_step": {
        "LONGEST_STEP": 0.1,
    },
    "simulation.terrain": {
        "MOST_NODES": 16777216,
    },
    "simulation.terrain_tiles": {
        "PLATFORM": 1.0,
        "RIM": 0.25,
        "TREAD": 0.3,
        "BLOCK": 0.4,
        "DITCH": 1.0,
    },
    "states": {
        "VELOCITY_STREAM": 25214903917,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/functions") == NUMBERS

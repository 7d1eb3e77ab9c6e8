"""Numbers with a name in the modules of algorithms: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "closed_loops.closed_mass": {
        "SOFT": 0.0001,
    },
    "closed_loops.loop_closure": {
        "LONGEST": 0.5,
        "DAMPING": 0.1,
        "SMALL": 1e-30,
    },
    "closed_loops.loop_dynamics": {
        "TURNS": 3,
    },
    "collision.box_box": {
        "PREFERENCE": 1e-05,
        "EDGE_PREFERENCE": 3e-07,
        "ALIGNED": 0.9998,
        "PARALLEL_EDGES": 1e-12,
    },
    "collision.box_shapes": {
        "ON_THE_SURFACE": 1e-13,
    },
    "collision.capsule_box": {
        "LEAST_SLOPE": 1e-06,
        "NOWHERE": 1e9,
        "FLAT": 1e-12,
        "PARALLEL": 1e-12,
        "ACROSS": 0.5,
    },
    "collision.clipped_face": {
        "ROOM": 1.00001,
        "LEAST_SLOPE": 1e-09,
        "NOT_INSIDE": -1000000.0,
    },
    "collision.common_polygon": {
        "PENALTY": 5.0,
        "ON_EDGE": 1e-06,
        "LEAST_SLOPE": 1e-12,
        "LEAST_WIDTH": 0.001,
        "END": 1000000000.0,
    },
    "collision.contact": {
        "FAR": 1000.0,
        "NONE": -1.0,
        "COINCIDENT": 1e-20,
    },
    "collision.convex_gap": {
        "ITERATIONS": 16,
        "MARGIN": 0.001,
        "TINY": 1e-18,
        "SMALLEST": 1e-24,
        "FLAT": 1e-10,
        "NO_CANDIDATE": 1000000000.0,
    },
    "collision.distance": {
        "AS_FAR": 1e-07,
    },
    "collision.mesh_contacts": {
        "DEEPEST": 12.0,
    },
    "collision.point_choice": {
        "AS_LOW": 1e-06,
        "ALMOST_AS_LOW": 0.0001,
        "SAME_POINT": 1e-05,
        "NOT_THERE": -1000000.0,
    },
    "collision.round_shapes": {
        "NEARLY_CLOSEST": 5e-07,
        "CROSSED": 0.03,
        "CUTTING": 1e-12,
        "ONE_POINT": 1e-06,
        "PARALLEL": 1e-20,
    },
    "inverse_kinematics": {
        "DAMPING": 0.1,
        "LEAST_DAMPING": 1e-06,
        "SLOW": 0.95,
        "PATIENCE": 2,
        "EASED": 0.3,
        "RAISED": 10.0,
        "CLOSER": 0.9,
        "LOST": 1e30,
        "PROGRESS": 8,
    },
    "long_chains.chain_frames": {
        "Z": 2,
        "LONGEST_SHIFT": 2.0,
    },
    "long_chains.chain_rows": {
        "ENTRIES": 1200,
        "SHORT": 4,
        "LONGEST_PERIOD": 4,
        "PLACEMENT": 14,
    },
    "manipulability": {
        "SMALLEST": 1e-30,
        "LEAST": 1e-37,
    },
    "simulation.base_step": {
        "LARGEST_HALF": 0.6,
        "SLOW": 1e-20,
    },
    "simulation.compliant_contact": {
        "BETWEEN_BODIES": 0.1,
        "STICTION": 0.0001,
        "REBOUND": 19.62,
        "SMALL": 1e-20,
    },
    "simulation.constraint_sweeps": {
        "WAITING": 1.5,
    },
    "simulation.contact_rows": {
        "SHARED_FROM": 3,
    },
    "simulation.elliptic_contact": {
        "STEPS": 4,
    },
    "simulation.friction_moments": {
        "SMALLEST": 1e-28,
        "LEAST_COMPLIANCE": 1e-30,
    },
    "simulation.height_scan": {
        "SMALL": 1e-12,
    },
    "simulation.implicit_forces": {
        "SMALL_TORQUE": 1e-06,
        "LARGE_EFFORT": 1000000000.0,
        "GUARD": 1.0,
    },
    "simulation.joint_rows": {
        "RETURN": 1.0,
    },
    "simulation.loop_rows": {
        "RETURN": 1.0,
    },
    "simulation.pair_distances": {
        "VERTICES": 8,
        "SEPARATION": 25,
    },
    "simulation.pair_slots.ground_points": {
        "MARGIN": 0.002,
        "REACHES": 2.0,
    },
    "simulation.pair_slots.near_pairs": {
        "TOO_FLAT": 4.0,
    },
    "simulation.pair_slots.numbered_bodies": {
        "SIX": 6,
    },
    "simulation.pair_slots.pair_groups": {
        "BRANCHES": 6,
        "SHORTER": 0.6,
        "SPARE": 2,
    },
    "simulation.pair_slots.shape_rows": {
        "LEAST_LENGTH": 1e-10,
        "PLACED": 12,
    },
    "simulation.pair_slots.slot_rows": {
        "SHARED": 3,
    },
    "simulation.pair_slots.touching_contacts": {
        "ROW": 12,
        "FEW_PAIRS": 4,
    },
    "simulation.pyramid_contact": {
        "EDGES": 4,
    },
    "simulation.semi_implicit_step": {
        "LARGEST_TURN": 0.25,
    },
    "simulation.smooth_dynamics": {
        "FEW_COORDINATES": 30,
    },
    "simulation.soft_contact": {
        "LEAST_DEPTH": 2.220446049250313e-16,
        "SMALL": 1e-30,
    },
    "simulation.soft_stops": {
        "FREE": 1e30,
        "TINY": 1e-12,
        "NO_WIDTH": 1e-15,
        "LEAST_MIDPOINT": 0.0001,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/algorithms") == NUMBERS

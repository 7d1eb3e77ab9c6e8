"""Defaults of the arguments of public functions and classes."""

from __future__ import annotations

from module_numbers import default_numbers

DEFAULTS = {
    "closed_loops": {"close_loops.most_steps": 100, "close_loops.check": True},
    "export.exporting": {
        "export.libm": True,
        "export.bounded_loops": False,
        "export.overwrite": False,
        "exported_functions.bounded_loops": False,
    },
    "export.python_extension": {"export_python.overwrite": False},
    "identification.gravity_diagnosis": {
        "GravityDiagnosis.mass": 0.0,
        "GravityDiagnosis.com": (0.0, 0.0, 0.0),
        "GravityDiagnosis.explained": 0.0,
    },
    "identification.observers": {
        "momentum_observer.dt": 0.005,
        "momentum_observer.gain": 50.0,
        "external_wrench.damping": 0.01,
    },
    "identification.payload_identification": {
        "identify_payload.friction": False,
        "identify_payload_in_motion.cutoff": 10.0,
        "identify_payload_in_motion.friction": False,
    },
    "inverse_kinematics": {
        "inverse_kinematics.position_weight": 1.0,
        "inverse_kinematics.orientation_weight": 1.0,
        "inverse_kinematics.restarts": 32,
        "inverse_kinematics.iterations": 60,
        "inverse_kinematics.tolerance": (0.0001, 0.001),
        "inverse_kinematics.seed": 0,
    },
    "manifold": {"configuration_rate.baumgarte": 0.0, "random_configuration.seed": 0},
    "pictures.robot_picture": {
        "Sight.turn": -0.35,
        "Sight.rise": 0.25,
        "RobotPicture.ground.origin": (0.0, 0.0, 0.0),
    },
    "randomise": {"randomise.seed": 0},
    "simulation.contact_estimates": {
        "estimate_good_contact_parameters.friction": 0.5,
        "estimate_good_contact_parameters.active_points": 1,
        "estimate_good_contact_parameters.damping_ratio": 1.0,
        "estimate_good_contact_parameters.p": 0.5,
        "estimate_good_contact_parameters.q": 0.5,
        "estimate_good_contact_parameters.dt": 0.005,
    },
    "simulation.contact_pairs": {
        "PairContact.dissipation": 0.005,
        "PairContact.restitution": 0.0,
        "PairContact.push_out": 1.0,
    },
    "simulation.contact_points": {
        "ContactPoints.mesh_points": 16,
        "ContactPoints.with_sphere.centre": (0.0, 0.0, 0.0),
        "ContactPoints.with_sphere.radius": 0.0,
    },
    "simulation.described_softness": {
        "limits_of.in_mujoco_steps": False,
        "soft_bounds.in_mujoco_steps": False,
        "tendon_bounds_of.in_mujoco_steps": False,
        "soft_points.in_mujoco_steps": False,
    },
    "simulation.drives": {"PD.strength": 1.0},
    "simulation.ground": {
        "Ground.push_out": 1.0,
        "Ground.restitution": 0.0,
        "SoftGround.stiffness": 1000000.0,
        "SoftGround.damping": 2000.0,
        "SoftGround.p": 0.5,
        "SoftGround.q": 0.5,
    },
    "simulation.sensors": {"Sensors.threshold": 0.0, "contact_flags.threshold": 0.0},
    "simulation.simulation": {
        "Simulation.dt": 0.005,
        "Simulation.substeps": 4,
        "Simulation.sweeps": 4,
    },
    "simulation.simulation_step": {"step.dt": 0.005, "step.substeps": 1, "step.sweeps": 4},
    "simulation.state_derivative": {"state_derivative.baumgarte": 0.0},
    "simulation.step_options": {
        "StepOptions.dt": 0.005,
        "StepOptions.substeps": 1,
        "StepOptions.sweeps": 4,
    },
    "simulation.terrain": {
        "Plane.slope": (0.0, 0.0),
        "Plane.level": 0.0,
        "Plane.with_normal.level": 0.0,
        "HeightMap.generate.difficulty": 0.5,
        "HeightMap.generate.size": 8.0,
        "HeightMap.generate.cell": 0.05,
        "HeightMap.generate.seed": 0,
        "HeightMap.from_mjcf.includes": True,
        "HeightMap.tiles.levels": 5,
        "HeightMap.tiles.size": 8.0,
        "HeightMap.tiles.cell": 0.05,
        "HeightMap.tiles.seed": 0,
    },
    "simulation.varied_numbers": {"for_each.finite": False, "for_all.finite": False},
    "states": {"random_state.seed": 0},
    "whole_numbers": {"whole_number.least": 1},
}


def test_defaults_change_only_on_purpose() -> None:
    """They are in the documentation and in callers' results."""
    assert default_numbers("warpdyn/functions") == DEFAULTS

"""Defaults and bounds of the node's parameters, which of them are lists, and which are read at start only."""

from __future__ import annotations

from math import inf

from ros2_node.control.settings.node_settings import BY_NAME

PARAMETERS = {
    "command_type": ("float64_multi_array", -inf, inf, None, False, True),
    "torque_filter": (0.0, 0.0, 10000.0, None, False, True),
    "command_controller": ("", -inf, inf, None, False, True),
    "allow_several_publishers": (False, -inf, inf, None, False, False),
    "realtime": (False, -inf, inf, None, False, True),
    "effort_source": ("none", -inf, inf, None, False, True),
    "observer_gain": (50.0, 0.1, 10000.0, None, False, False),
    "external_wrench_link": ("", -inf, inf, None, False, True),
    "collision_threshold": (0.0, 0.0, 1000000.0, None, True, False),
    "collision_speed_factor": (0.0, 0.0, 10000.0, None, False, False),
    "collision_reaction": ("stop", -inf, inf, None, False, False),
    "identification_time": (0.0, 0.0, 600.0, None, False, False),
    "identification_cutoff": (10.0, 0.1, 200.0, None, False, False),
    "identification_friction": (True, -inf, inf, None, False, False),
    "velocity_source": ("message", -inf, inf, None, False, False),
    "velocity_cutoff": (50.0, 0.0, 10000.0, None, False, False),
    "position_filter": (0.0, 0.0, 10000.0, None, False, True),
    "velocity_filter": (0.0, 0.0, 10000.0, None, False, True),
    "state_timeout": (0.1, 0.01, 60.0, None, False, False),
    "max_state_age": (0.5, 0.0, 3600.0, None, False, False),
    "position_limit_margin": (0.1, 0.0, 10000.0, None, False, False),
    "missing_joint_policy": ("reject", -inf, inf, None, False, False),
    "kp": (100.0, 0.0, 100000.0, None, True, False),
    "kd": (20.0, 0.0, 10000.0, None, True, False),
    "max_tracking_error": (0.5, 0.0, 10000.0, None, True, False),
    "max_reference_acceleration": (50.0, 0.0, 10000.0, None, False, False),
    "reference_violation": ("reject", -inf, inf, None, False, False),
    "trajectory.path_tolerance": (0.0, 0.0, 10000.0, None, True, False),
    "trajectory.goal_tolerance": (0.0, 0.0, 10000.0, None, True, False),
    "trajectory.stopped_velocity_tolerance": (0.0, 0.0, 10000.0, None, True, False),
    "trajectory.goal_time": (0.0, 0.0, 3600.0, None, False, False),
    "joint_limit_repulsion": ("by_law", -inf, inf, None, False, False),
    "joint_limit_margin": (0.1, 0.0, 10.0, None, True, False),
    "joint_limit_effort": (0.5, 0.0, 1.0, None, False, False),
    "law_input_range": (2.0, 0.0, 100.0, None, False, True),
    "law_input_time": (0.2, 0.0, 60.0, None, False, False),
    "max_pose_error": ((0.2, 0.5), 0.0, 1000.0, 2, False, False),
    "pose_violation": ("reject", -inf, inf, None, False, False),
    "twist_link": ("", -inf, inf, None, False, True),
    "twist_axes": ("root", -inf, inf, None, False, False),
    "twist_timeout": (0.2, 0.01, 10.0, None, False, False),
    "twist_max_speed": ((0.25, 0.5), 0.0, 100.0, 2, False, False),
    "twist_max_acceleration": ((1.0, 4.0), 0.01, 1000.0, 2, False, False),
    "ft_link": ("", -inf, inf, None, False, True),
    "ft_cutoff": (30.0, 0.0, 10000.0, None, False, False),
    "ft_deadband": ((1.0, 0.1), 0.0, 10000.0, 2, False, False),
    "friction.scale": (0.0, 0.0, 1.0, None, True, False),
    "friction.coulomb": (0.0, 0.0, 10000.0, None, True, False),
    "friction.viscous": (0.0, 0.0, 10000.0, None, True, False),
    "friction.travel": (1.0, 0.0, 10000.0, None, True, False),
    "friction.speed": (0.05, 0.001, 10.0, None, False, False),
    "robot_description": ("", -inf, inf, None, False, False),
    "robot_description_file": ("", -inf, inf, None, False, False),
    "device": ("cpu", -inf, inf, None, False, True),
    "executor": ("events", -inf, inf, None, False, True),
    "mode": ("gravity", -inf, inf, None, False, False),
    "law": ("", -inf, inf, None, False, True),
    "law_options": ((), -inf, inf, None, False, True),
    "policy": ("", -inf, inf, None, False, True),
    "policy_task": ("", -inf, inf, None, False, True),
    "joints": ((), -inf, inf, None, False, True),
    "command_joints": ((), -inf, inf, None, False, True),
    "tip_links": ((), -inf, inf, None, False, True),
    "gravity": ((0.0, 0.0, -9.81), -1000.0, 1000.0, 3, False, False),
    "rate": (0.0, 0.0, 5000.0, None, False, True),
    "publish_frequency": (50.0, 0.0, 1000.0, None, False, True),
    "publish_link_poses": (True, -inf, inf, None, False, True),
    "publish_tf": (False, -inf, inf, None, False, True),
    "frame_prefix": ("", -inf, inf, None, False, True),
    "publish_mass_matrix": (False, -inf, inf, None, False, True),
    "jacobian_links": ((), -inf, inf, None, False, True),
    "reference_timeout": (0.5, 0.0, 3600.0, None, False, False),
    "stale_action": ("ramp_down", -inf, inf, None, False, False),
    "start_enabled": (False, -inf, inf, None, False, True),
    "ramp_time": (1.0, 0.0, 60.0, None, False, False),
    "torque_scale": (1.0, 0.0, 1.5, None, True, False),
    "effort_limit_scale": (1.0, 0.0, 1.0, None, False, False),
    "effort_limits": (0.0, 0.0, 1000000.0, None, True, False),
    "unlimited_effort": (False, -inf, inf, None, False, False),
    "max_torque_rate": (-1.0, -1.0, 1000000.0, None, True, False),
    "lock": ("enabled", -inf, inf, None, False, True),
    "payload.link": ("", -inf, inf, None, False, False),
    "payload.mass": (0.0, 0.0, 10000.0, None, False, False),
    "payload.com": ((0.0, 0.0, 0.0), -100.0, 100.0, 3, False, False),
    "payload.inertia": ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), -10000.0, 10000.0, 6, False, False),
    "diagnostics_period": (1.0, 0.1, 60.0, None, False, True),
    "namespaces": ((), -inf, inf, None, False, True),
}
"""Default, smallest and largest value, number of entries, whether each joint may have its own, and whether it is
fixed after the start."""


def test_numbers_change_only_on_purpose() -> None:
    """They are in the documentation and in users' files."""
    found = {
        name: (p.default, p.low, p.high, p.length, p.per_joint, p.fixed)
        for name, p in BY_NAME.items()
    }
    assert found == PARAMETERS

"""Words of the diagnostics for rejected messages and counted irregularities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

REJECTIONS = (
    "unreadable_message",
    "empty_message",
    "wrong_length",
    "duplicate_name",
    "no_known_joint",
    "missing_joint",
    "nonfinite_position",
    "position_out_of_range",
    "position_jump_dropped",
    "position_against_velocity_dropped",
    "missing_velocity",
    "nonfinite_velocity",
    "velocity_out_of_range",
)
"""Reasons for which a joint_states message is rejected."""
NOTICES = (
    "unknown_joint",
    "mimic_mismatch",
    "joint_held",
    "repeated_message",
    "stamp_backwards",
    "stamp_future",
    "stamp_old",
    "state_after_gap",
    "position_beyond_limit",
    "position_jump",
    "position_against_velocity",
    "reference_wrong_length",
    "reference_duplicate_name",
    "reference_unknown_joint",
    "reference_nonfinite",
    "reference_too_far",
    "reference_too_fast",
    "reference_clipped",
    "reference_beyond_limit",
    "trajectory_refused",
    "trajectory_aborted",
    "pose_other_frame",
    "pose_nonfinite",
    "pose_no_rotation",
    "pose_too_far",
    "pose_clipped",
    "law_input_refused",
    "twist_refused",
    "twist_clipped",
    "ft_wrench_refused",
    "wrench_unknown_link",
    "wrench_nonfinite",
    "odometry_other_frame",
    "odometry_nonfinite",
    "odometry_no_rotation",
    "odometry_repeated",
    "speed_nonfinite",
    "effort_missing",
    "effort_wrong_length",
    "effort_nonfinite",
    "effort_no_velocity",
    "effort_gap",
    "effort_time_jump",
    "collision",
    "policy_late",
    "batch_rejected",
    "batch_bad_robot",
    "qos_mismatch",
    "description_refused",
    "clock_jump",
)
"""Further counts: odd things that do not reject a state, and other inputs refused."""


def count_list(counts: Mapping[str, int], reasons: Sequence[str]) -> str:
    """The counted reasons, with their counts."""
    return ", ".join(f"{reason} {counts[reason]}" for reason in reasons if counts[reason])

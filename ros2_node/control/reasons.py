"""The words under which messages are rejected and oddities counted; the diagnostics show them."""

from __future__ import annotations

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
    "missing_velocity",
    "nonfinite_velocity",
    "velocity_out_of_range",
)
"""Why a joint_states message is rejected."""
NOTICES = (
    "unknown_joint",
    "mimic_mismatch",
    "repeated_message",
    "stamp_backwards",
    "stamp_future",
    "position_jump",
    "reference_wrong_length",
    "reference_duplicate_name",
    "reference_unknown_joint",
    "reference_nonfinite",
    "reference_too_far",
    "wrench_unknown_link",
    "wrench_nonfinite",
    "odometry_other_frame",
    "odometry_nonfinite",
    "odometry_no_rotation",
    "odometry_repeated",
    "speed_nonfinite",
    "policy_late",
    "batch_rejected",
    "batch_bad_robot",
    "qos_mismatch",
    "description_refused",
    "clock_jump",
)
"""What is counted besides: odd things that do not reject a state, and other inputs refused."""

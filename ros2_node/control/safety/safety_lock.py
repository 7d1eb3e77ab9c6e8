"""Parameters that bound a robot's actions. While locked, they can be narrowed but not widened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..settings.node_settings import BY_NAME, Settings


def _at_most(before: Any, after: Any) -> bool:
    """True if no number is larger than before."""
    try:
        return bool(np.all(np.asarray(after, float) <= np.asarray(before, float)))
    except ValueError:  # lists of different lengths, which are refused for that as well
        return False


def _at_most_but_zero_is_none(before: Any, after: Any) -> bool:
    """The same as `_at_most` for bounds of which 0 means no bound."""
    return _at_most(*(np.where(np.asarray(x) == 0, np.inf, x) for x in (before, after)))


def _at_most_of_rates(before: Any, after: Any) -> bool:
    """The same as `_at_most_but_zero_is_none` for rates of which a negative number means each
    robot's own bound. It is narrower than no bound, and not comparable with other rates."""
    old, new = (np.asarray(x, float) for x in (before, after))
    if old.ndim and new.ndim and old.shape != new.shape:
        return False
    within = np.where(old < 0.0, new == old, (new > 0.0) & (new <= old))
    return bool(np.all(within | (old == 0.0)))


def _at_least(before: Any, after: Any) -> bool:
    return _at_most(after, before)


def _never(before: Any, after: Any) -> bool:
    """False: every other value counts as wider."""
    return False


SAFETY: dict[str, Callable[[Any, Any], bool]] = {
    "robot_description": _never,
    "robot_description_file": _never,
    "torque_scale": _at_most,
    "effort_limit_scale": _at_most,
    "effort_limits": _at_most_but_zero_is_none,
    "unlimited_effort": _at_most,
    "max_torque_rate": _at_most_of_rates,
    "max_tracking_error": _at_most_but_zero_is_none,
    "max_pose_error": _at_most_but_zero_is_none,
    "ramp_time": _at_least,
    "stale_action": _never,
    "state_timeout": _at_most,
    "max_state_age": _at_most_but_zero_is_none,
    "position_limit_margin": _at_most_but_zero_is_none,
    "max_reference_acceleration": _at_most_but_zero_is_none,
    "reference_violation": _never,
    "trajectory.path_tolerance": _at_most_but_zero_is_none,
    "joint_limit_repulsion": _never,
    "joint_limit_margin": _at_least,
    "joint_limit_effort": _at_least,
    "reference_timeout": _at_most_but_zero_is_none,
    "missing_joint_policy": _never,
    "law_input_time": _at_least,
    "twist_timeout": _at_most,
    "twist_max_speed": _at_most,
    "twist_max_acceleration": _at_most,
    "pose_violation": _never,
    "friction.travel": _at_most_but_zero_is_none,
    "allow_several_publishers": _at_most,
    "collision_threshold": _at_most_but_zero_is_none,
    "collision_speed_factor": _at_most,
    "collision_reaction": _never,
}
"""Safety parameters, and the function that checks that a value is not wider than the previous
one."""


def check_lock(before: Settings, after: Settings, enabled: bool) -> None:
    """Raise ValueError if a change widens a locked safety parameter."""
    if before.lock == "never" or (before.lock == "enabled" and not enabled):
        return
    for name, narrower in SAFETY.items():
        old, new = (getattr(x, BY_NAME[name].field) for x in (before, after))
        if old != new and not narrower(old, new):
            reason, remedy = "lock is always", "set it in the launch file and restart the node"
            if before.lock == "enabled":
                reason, remedy = "a robot is enabled", "disable first, or start with lock: never"
            raise ValueError(f"{name} cannot be widened while {reason}: {remedy}")

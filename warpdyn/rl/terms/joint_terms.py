"""Costs of joints and actions: limits, torques, power, smoothness."""

from __future__ import annotations

from typing import Any

import numpy as np

from .reward_shapes import beyond

FAR = 1e6
"""Limit of joints without limits [rad]."""

GRAVITY = 9.81
"""Standard gravity, for the cost of transport [m/s²]."""


def joint_limits(q: Any, lower: Any, upper: Any, share: float = 0.9) -> Any:
    """The sum of the angles beyond the middle `share` of the joints' ranges [rad].

    q, lower, upper: (joints,) [rad]; an infinite limit costs nothing. A joint with only one limit
    has no middle: it costs the angle beyond this limit, whatever the share.
    """
    return np.sum(beyond(q, *middle_range(lower, upper, share)))


def middle_range(lower: Any, upper: Any, share: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the middle `share` of the joints' ranges, each (joints,) [rad]; the limit itself
    where a joint has only one, and ±share times FAR where it has none.

    ValueError: a limit is NaN, or a lower one is above the upper one.
    """
    lower, upper = np.asarray(lower, float), np.asarray(upper, float)
    if not np.all(lower <= upper):
        raise ValueError(f"limits must be numbers, lower <= upper; got {lower} and {upper}")
    bounded = np.isfinite(lower) & np.isfinite(upper)
    least, most = np.where(bounded, lower, -FAR), np.where(bounded, upper, FAR)
    middle, half = (least + most) / 2, (most - least) / 2
    return (
        np.where(np.isfinite(lower) & ~bounded, lower, middle - share * half),
        np.where(np.isfinite(upper) & ~bounded, upper, middle + share * half),
    )


def speed_limits(v: Any, largest: Any, share: float = 0.9) -> Any:
    """The sum of the joint speeds beyond a share of the largest ones [rad/s]."""
    most = share * np.asarray(largest, float)
    return np.sum(np.maximum(np.abs(v) - most, 0.0))


def torque_limits(torques: Any, largest: Any, share: float = 0.9) -> Any:
    """The sum of the torques beyond a share of the largest ones [N·m]."""
    most = share * np.asarray(largest, float)
    return np.sum(np.maximum(np.abs(torques) - most, 0.0))


def torque_cost(torques: Any, scale: Any = 1.0) -> Any:
    """The sum of the squared torques, relative to a scale [N²·m²]."""
    return np.sum((torques * (1.0 / np.asarray(scale))) ** 2)


def mechanical_power(torques: Any, v: Any) -> Any:
    """The sum of the absolute powers of all joints [W]: drives that brake cost as much as those
    that push."""
    return np.sum(np.abs(torques * v))


def motor_power(torques: Any, v: Any) -> Any:
    """The sum of the powers of those joints that push [W]: braking costs nothing and gives nothing
    back."""
    return np.sum(np.maximum(torques * v, 0.0))


def cost_of_transport(torques: Any, v: Any, mass: float, speed: Any) -> Any:
    """Energy per weight and distance, without unit: mechanical power over m g |speed|.

    speed: of the base [m/s]; below 0.1 m/s it counts as 0.1 m/s.
    """
    return mechanical_power(torques, v) / (mass * GRAVITY * np.maximum(np.abs(speed), 0.1))


def joint_acceleration(v: Any, last_v: Any, seconds: float) -> Any:
    """The sum of the squared accelerations between two steps [rad²/s⁴].

    seconds: the time between them (`task.step_seconds`).
    """
    return np.sum(((v - last_v) * (1.0 / seconds)) ** 2)


def deviation(q: Any, stance: Any, weights: Any = 1.0) -> Any:
    """The weighted sum of the squared differences from a stance [rad²]."""
    off = q - np.asarray(stance)
    return np.sum(np.asarray(weights) * off * off)


def action_rate(action: Any, last_action: Any) -> Any:
    """The sum of the squared changes of the actions between two steps."""
    return np.sum((action - last_action) ** 2)


def action_curvature(action: Any, last_action: Any, before_last: Any) -> Any:
    """The sum of the squared second differences of the actions over three steps.

    before_last: an action that the task carries itself.
    """
    return np.sum((action - 2.0 * last_action + before_last) ** 2)

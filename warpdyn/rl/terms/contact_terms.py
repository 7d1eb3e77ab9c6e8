"""Contacts of feet: which touch, for how long, how they slip, lift and land."""

from __future__ import annotations

from typing import Any

import numpy as np


def touching(forces: Any, threshold: float = 1.0) -> Any:
    """1 for each point that the ground carries, else 0 (points,).

    forces: (points, 3) in the world's axes [N] (`s.forces`). threshold: vertical force [N].
    """
    return np.where(forces[:, 2] > threshold, 1.0, 0.0)


def air_times(air: Any, touch: Any, seconds: float) -> Any:
    """Times for which the points have been in the air, after a step (points,) [s].

    air: before the step, carried by the task. touch: `touching` after the step. seconds: of a step.
    """
    return (air + seconds) * (1.0 - touch)


def contact_times(time: Any, touch: Any, seconds: float) -> Any:
    """Times for which the points have touched the ground, after a step (points,) [s]."""
    return (time + seconds) * touch


def landing_reward(air: Any, touch: Any, wanted: float, most: float = 0.5) -> Any:
    """The sum over the points that land in this step of their time in the air beyond `wanted`, at
    most `most` [s].

    air: the times before the step (points,) [s].
    """
    landed = np.where(air > 0.0, touch, 0.0)
    return np.sum(np.minimum(air - wanted, most) * landed)


def landing_speed(velocities: Any, touch: Any, last_touch: Any) -> Any:
    """The sum of the squared vertical speeds of the points that land in this step [m²/s²].

    velocities: (points, 3) before the step, in the world's axes.
    """
    return np.sum(velocities[:, 2] ** 2 * touch * (1.0 - last_touch))


def slip(velocities: Any, touch: Any) -> Any:
    """The sum of the squared horizontal speeds of the points that touch [m²/s²].

    velocities: (points, 3) in the world's axes (`robot.point_velocities`).
    """
    return np.sum((velocities[:, 0] ** 2 + velocities[:, 1] ** 2) * touch)


def foot_clearance(heights: Any, velocities: Any, wanted: float) -> Any:
    """The sum over the points of the squared difference from a wanted height, times the horizontal
    speed: a moving foot should be high [m³/s].

    heights: (points,) above the ground [m]. velocities: (points, 3) in the world's axes.
    """
    speeds = np.sqrt(velocities[:, 0] ** 2 + velocities[:, 1] ** 2 + 1e-12)
    return np.sum((heights - wanted) ** 2 * speeds)


def stumble(forces: Any, ratio: float = 4.0) -> Any:
    """The number of points with a horizontal force of more than `ratio` times the vertical one, as
    where a foot hits a step."""
    level = np.sqrt(forces[:, 0] ** 2 + forces[:, 1] ** 2 + 1e-12)
    return np.sum(np.where(level > ratio * np.abs(forces[:, 2]) + 1e-3, 1.0, 0.0))


def force_excess(forces: Any, largest: float) -> Any:
    """The sum of the contact forces beyond `largest` [N]."""
    sizes = np.sqrt(np.sum(forces * forces, axis=1) + 1e-12)
    return np.sum(np.maximum(sizes - largest, 0.0))


def shift_history(past: Any, now: Any) -> Any:
    """A history of contacts after a step: the oldest row leaves, and `now` is the last row.

    past: (steps, points), carried by the task.
    """
    return np.stack([*(past[k] for k in range(1, len(past))), now])


def touched_lately(past: Any) -> Any:
    """1 for each point with a contact in the history, else 0 (points,): filters contacts that
    bounce."""
    latest = past[0]
    for k in range(1, len(past)):
        latest = np.maximum(latest, past[k])
    return latest


def feet_too_near(places: Any, least: float) -> Any:
    """The sum over all pairs of points of the distance that they are nearer than `least` [m].

    places: (points, 2 or 3) [m].
    """
    total: Any = 0.0
    for k in range(len(places)):
        for j in range(k):
            off = places[k] - places[j]
            total = total + np.maximum(least - np.sqrt(np.sum(off * off) + 1e-12), 0.0)
    return total

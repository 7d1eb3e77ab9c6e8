"""Terms that several tasks use: quantities of a free base, and shapes of rewards."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.quaternions import quaternion_rotation


def rotation(q: Any) -> Any:
    """The rotation of a free base from q, base to world (3, 3)."""
    rows = quaternion_rotation([q[k] for k in range(3, 7)]).matrix.rows
    return np.stack([np.stack([*row]) for row in rows])


def world_to_base(q: Any, vector: Any) -> Any:
    """A vector of the world in a free base's axes (3,)."""
    return rotation(q).T @ vector


def gravity_in_base(q: Any) -> Any:
    """The direction of gravity in a free base's axes, of unit length (3,)."""
    return -rotation(q)[2]


def heading_quaternion(yaw: Any) -> Any:
    """The quaternion (x, y, z, w) of a level base with heading `yaw` [rad] (4,)."""
    return np.stack([0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])


def near(error: Any, width: float) -> Any:
    """exp(-error² / width²): 1 at zero error."""
    error = np.asarray(error) if not hasattr(error, "shape") else error
    return np.exp(-np.sum(error * error) / width**2)


def every(age: Any, steps: float) -> Any:
    """True if `age` is a multiple of `steps`, and not 0."""
    n = max(round(steps), 1)
    return (age > 0.5) & (age - n * np.floor(age * (1.0 / n) + 0.5 / n) < 0.5)

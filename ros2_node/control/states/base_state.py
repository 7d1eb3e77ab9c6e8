"""Position and velocity of a free base: an odometry message and its checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BOUND = 1e4
"""A position or velocity beyond this cannot be right [m, m/s, rad/s]."""
ROUNDING = 0.02
"""Largest difference between the length of a quaternion and 1."""


class BaseMotion(NamedTuple):
    """Numbers of an odometry message: position [m] and quaternion (x, y, z, w) in the world,
    velocity [m/s] and angular velocity [rad/s] in the axes of the moving frame."""

    position: Sequence[float]
    quaternion: Sequence[float]
    linear: Sequence[float]
    angular: Sequence[float]


class BaseState:
    """The latest odometry of one robot's root link.

    place (7,): position and unit quaternion (x, y, z, w). speed (6,): linear and angular velocity
    in the root's axes.
    """

    def __init__(self, root: str, prefix: str = "") -> None:
        self.place, self.speed = np.array([0.0] * 6 + [1.0]), np.zeros(6)
        self.arrived = -np.inf
        self._frames = ("", root, prefix + root)
        self._last = 0, BaseMotion((), (), (), ())

    def read(self, frame: str, motion: BaseMotion, stamp: int, now: float) -> str | None:
        """Use a message, with its stamp in nanoseconds, in place of the previous one. Returns the
        reason if it is refused."""
        if frame not in self._frames:
            return "odometry_other_frame"
        place, speed = (np.array([*a, *b], dtype=float) for a, b in (motion[:2], motion[2:]))
        if not (np.abs(place) <= BOUND).all() or not (np.abs(speed) <= BOUND).all():
            return "odometry_nonfinite"
        length = float(np.linalg.norm(place[3:]))
        if abs(length - 1.0) > ROUNDING:
            return "odometry_no_rotation"
        if stamp and (stamp, motion) == self._last:  # its publisher has lost the robot
            return "odometry_repeated"
        place[3:] /= length
        self.place[:], self.speed[:] = place, speed
        self._last, self.arrived = (stamp, motion), now
        return None

    def age(self, now: float) -> float:
        """Seconds since the last valid message."""
        return now - self.arrived

"""The velocity command of cmd_vel."""

from __future__ import annotations

import math

import numpy as np


class SpeedCommand:
    """Forward and sideways speed [m/s] and turning speed [rad/s]; zero if they are not refreshed."""

    def __init__(self) -> None:
        self._speeds = np.zeros(3)
        self.arrived = -np.inf

    def read(self, forward: float, sideways: float, turning: float, now: float) -> str | None:
        """Use a command in place of the previous one. Returns the reason if it is refused."""
        speeds = (forward, sideways, turning)
        if not all(map(math.isfinite, speeds)):
            return "speed_nonfinite"
        self._speeds[:], self.arrived = speeds, now
        return None

    def at(self, now: float, timeout: float) -> np.ndarray:
        """The speeds (3,) at this time; zero if the command is older than `timeout`. A timeout of 0
        turns this off."""
        if timeout and now - self.arrived > timeout:
            self._speeds[:] = 0.0
        return self._speeds

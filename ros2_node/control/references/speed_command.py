"""The speeds of cmd_vel."""

from __future__ import annotations

import math

import numpy as np


class SpeedCommand:
    """Forward and sideways speed [m/s] and turning speed [rad/s], zero when nobody refreshes them."""

    def __init__(self) -> None:
        self._speeds = np.zeros(3)
        self.arrived = -np.inf

    def read(self, forward: float, sideways: float, turning: float, now: float) -> str | None:
        """Use a command in place of the one before. Returns why it was refused."""
        speeds = (forward, sideways, turning)
        if not all(map(math.isfinite, speeds)):
            return "speed_nonfinite"
        self._speeds[:], self.arrived = speeds, now
        return None

    def at(self, now: float, timeout: float) -> np.ndarray:
        """The speeds (3,) wanted now; zero where the command is older than `timeout`, which 0 turns
        off."""
        if timeout and now - self.arrived > timeout:
            self._speeds[:] = 0.0
        return self._speeds

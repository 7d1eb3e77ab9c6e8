"""From computed torques to commands: scale, ramp, limits; and the way back to silence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from warpdyn import Model

from .settings import Number, Settings

STOP_TIME = 0.2
"""Longest ramp of a stop sequence [s]; SIGINT to exit has to fit into one second."""
LAST_COMMANDS = 5
"""A stop sequence ends with so many equal commands: an effort controller keeps the last one for
ever."""
STOP_PERIOD = 0.01
"""Between two commands of a stop sequence [s]."""


class TorqueOutput:
    """The commands of one robot, in the order of its command joints.

    A stop sequence scales the last command down, whatever the state says, and ends with equal
    commands: zeros, or the last command when `stale_action` is "hold". Neither the rate limit nor
    the state can delay it.
    """

    def __init__(self, model: Model, joints: Sequence[str], settings: Settings) -> None:
        self.joints = tuple(joints)
        columns = model.v_indices(joints)
        self._columns = (
            slice(None) if columns == list(range(model.nv)) else np.array(columns, dtype=int)
        )
        self._described = model.effort_limit[columns]
        self.command = np.zeros(len(self.joints))
        self.clamped = 0
        self.rate_limited = 0
        self.unlimited = tuple(
            j for j, x in zip(self.joints, self._described, strict=True) if not (0.0 < x < np.inf)
        )
        self.change(settings)
        self._started: float | None = None
        self._computed = 0.0
        self._offset = np.zeros(len(self.joints))
        self._offset_from: float | None = None
        self._stop_from: float | None = None
        self._stop_command = np.zeros(len(self.joints))
        self._last_left = 0

    def change(self, settings: Settings) -> None:
        """Take new parameters; ValueError when a list does not fit the joints."""
        n = len(self.joints)
        scale = per_joint("torque_scale", settings.torque_scale, n)
        rate = per_joint("max_torque_rate", settings.max_torque_rate, n)
        self._scale = scale
        self._rate = np.where(rate > 0.0, rate, np.inf)
        self._rate_is_limited = bool((rate > 0.0).any())
        described = np.where(
            (self._described > 0.0) & np.isfinite(self._described), self._described, np.inf
        )
        self.limit = np.where(
            np.isfinite(described), described * settings.effort_limit_scale, np.inf
        )
        self._bound = np.minimum(self.limit, np.finfo(float).max)
        self._ramp_time = settings.ramp_time
        self._action = settings.stale_action

    def start(self, now: float) -> None:
        """Begin the ramp from zero."""
        self.command[:] = 0.0
        self._started = self._computed = now
        self._offset_from = None
        self._stop_from = None
        self._last_left = 0

    def blend(self, now: float) -> None:
        """Go over from the present command to what comes next within the ramp time, as when the
        payload changes."""
        self._offset_from = now
        self._offset[:] = np.nan

    def compute(self, torque: np.ndarray, now: float) -> np.ndarray | None:
        """The command for computed torques (nv,); None when something is not finite. The array
        is used again."""
        wanted = torque[self._columns] * self._scale
        started = self._started if self._started is not None else now
        if now - started < self._ramp_time:
            wanted *= (now - started) / self._ramp_time
        if self._offset_from is not None:
            wanted = self._blended(wanted, now)
        if self._rate_is_limited:
            step = self._rate * min(now - self._computed, 0.1)
            limited = np.clip(wanted, self.command - step, self.command + step)
            self.rate_limited += bool((limited != wanted).any())
            wanted = limited
        self._computed = now
        if (np.abs(wanted) <= self._bound).all():  # false for NaN and infinity
            self.command[:] = wanted
        elif np.isfinite(wanted).all():
            np.clip(wanted, -self.limit, self.limit, out=self.command)
            self.clamped += 1
        else:
            return None
        return self.command

    def _blended(self, wanted: np.ndarray, now: float) -> np.ndarray:
        assert self._offset_from is not None
        if np.isnan(self._offset).any():
            self._offset[:] = self.command - wanted
        left = 1.0 - (now - self._offset_from) / self._ramp_time if self._ramp_time > 0.0 else 0.0
        if left <= 0.0:
            self._offset_from = None
            return wanted
        return wanted + left * self._offset

    # The stop sequence.

    def stop(self, now: float) -> None:
        """Begin the stop sequence; one that runs already goes on."""
        if self.stopping:
            return
        self._stop_from = now
        self._stop_command[:] = self.command
        self._last_left = LAST_COMMANDS

    @property
    def stopping(self) -> bool:
        return self._last_left > 0

    def stop_step(self, now: float) -> np.ndarray | None:
        """The next command of the stop sequence, None when it is over; call it every
        STOP_PERIOD."""
        if self._last_left == 0 or self._stop_from is None:
            return None
        ramp = min(self._ramp_time, STOP_TIME) if self._action == "ramp_down" else 0.0
        passed = now - self._stop_from
        if passed < ramp:
            self.command[:] = self._stop_command * (1.0 - passed / ramp)
            return self.command
        self.command[:] = self._stop_command if self._action == "hold" else 0.0
        self._last_left -= 1
        return self.command


def finite(x: np.ndarray) -> bool:
    """Whether all are finite; the sum of squares, which is quick, nearly always tells."""
    return math.isfinite(x @ x) or bool(np.isfinite(x).all())


def per_joint(name: str, value: Number, n: int) -> np.ndarray:
    """(n,) from one number or n of them."""
    if isinstance(value, tuple) and len(value) != n:
        raise ValueError(
            f"{name} has {len(value)} numbers but there are {n} command joints: give one, or {n}"
        )
    return np.broadcast_to(np.asarray(value, dtype=float), (n,)).copy()

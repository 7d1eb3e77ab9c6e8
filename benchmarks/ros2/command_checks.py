"""Check every command of a node under faults: finite, within limits, at a bounded rate, with a defined end."""

from __future__ import annotations

import numpy as np

RISE_TIME = 0.02
"""With the default `max_torque_rate`, the time in which a command may change by the effort limit [s]."""
SLACK = 3e-3
"""Largest error of the time between two commands, which is that of their stamps [s]."""
LAST = 5
"""Equal commands at the end of a stop sequence."""


class CommandChecks:
    """Counts of the commands that break a rule. limits: (n,), effort limits [N·m]."""

    def __init__(self, limits: np.ndarray) -> None:
        self._limits = limits
        self.last = np.full(len(limits), np.nan)
        self.number = self.not_finite = self.beyond = self.too_fast = 0
        self.largest_share = self.largest_rate = 0.0
        """Largest torque as a share of its limit, and largest rate as a share of the allowed rate."""
        self.ends = 0
        """Stop sequences that have ended with LAST zeros."""
        self._stamp, self._zeros = -np.inf, 0

    def look(self, command: np.ndarray, stamp: float) -> None:
        """Check one command and its stamp [s]."""
        before, passed = self.last, stamp - self._stamp
        self.last, self._stamp = command, stamp
        self._zeros = 0 if command.any() else self._zeros + 1
        self.ends += self._zeros == LAST
        self.number += 1
        if len(command) != len(self._limits) or not np.isfinite(command).all():
            self.not_finite += 1
            return
        share = float(np.abs(command / self._limits).max())
        self.largest_share = max(self.largest_share, share)
        self.beyond += share > 1.0 + 1e-12
        if np.isfinite(before).all():
            allowed = self._limits * (max(passed, 0.0) + SLACK) / RISE_TIME
            rate = float((np.abs(command - before) / allowed).max())
            self.largest_rate = max(self.largest_rate, rate)
            self.too_fast += rate > 1.0

    def bad(self) -> int:
        """Number of commands that broke a rule."""
        return self.not_finite + self.beyond + self.too_fast

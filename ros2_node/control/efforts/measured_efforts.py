"""Motor torques of one robot by joint, and the time between two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..states.joint_states import JointStates
from ..states.name_maps import NameMap

EFFORT_BOUND = 1e6
"""An effort beyond this cannot be right [N, N·m]."""
LONGEST = 0.1
"""Longest pause between two states; after a longer one the observer starts again [s]."""


class Efforts:
    """Reader of the efforts in joint_states, or of the commands, with the time between states.

    Irregularities are counted: `effort_missing`, `effort_wrong_length`, `effort_nonfinite`,
    `effort_no_velocity`, `effort_gap`, `effort_time_jump`.
    """

    def __init__(self, nv: int, states: JointStates, counts: Counter[str]) -> None:
        self.tau = np.zeros(nv)
        """(nv,), 0 where unknown [N, N·m]"""
        self.known = np.zeros(nv, dtype=bool)
        """The joints whose torques are known."""
        self._states, self._counts = states, counts
        self._stamp, self._now = 0, -np.inf
        self._told_by: NameMap | None = None
        """Joints of the message with that stamp: arm and gripper may publish separately."""

    def forget(self) -> None:
        """Start again, for example after a jump of the clock."""
        self._stamp, self._now = 0, -np.inf

    def read(self, effort: Sequence[float]) -> None:
        """Read the efforts of the message that `JointStates` accepted."""
        m = self._states.recent
        if m is None or len(effort) not in (0, len(m.names)):
            self._counts["effort_wrong_length"] += 1
            self.known[:] = False
        elif len(effort) == 0:
            # A gripper that publishes separately may have none; only its joints are unknown then.
            self._counts["effort_missing"] += 1
            self._take(m, np.full(len(m.names), np.nan))
        else:
            self._take(m, np.asarray(effort, dtype=float))

    def _take(self, m: NameMap, effort: np.ndarray) -> None:
        values = effort[m.entries]
        good = np.abs(values) <= EFFORT_BOUND  # the observer would keep what is larger for ever
        if len(effort) and not good.all() and np.isfinite(effort).any():
            self._counts["effort_nonfinite"] += 1
        self.tau[m.v_columns] = np.where(good, values, 0.0)
        self.known[m.v_columns] = good

    def command(self, columns: np.ndarray, command: np.ndarray | None) -> None:
        """Use the last command in place of measured efforts; None if nothing was sent."""
        self.known[:] = False
        if command is not None:
            self.known[columns], self.tau[columns] = True, command

    def time_since_last(self, stamp: int, now: float) -> float | None:
        """Seconds since the previous state, from stamps [ns] if there are any, else from arrival
        times `now` [s]; 0 if the observer has to start, None if no time has passed."""
        by_stamp = stamp > 0 and self._stamp > 0
        dt = (stamp - self._stamp) * 1e-9 if by_stamp else now - self._now
        if -LONGEST < dt < 0.0 and self._states.recent is not self._told_by:
            return None  # another publisher's, whose states come later
        self._stamp, self._now, self._told_by = stamp, now, self._states.recent
        if dt == 0.0:
            return None
        if dt < 0.0:
            self._counts["effort_time_jump"] += 1
            return 0.0
        if dt > LONGEST:
            if np.isfinite(dt):
                self._counts["effort_gap"] += 1
            return 0.0
        return dt

"""Joint states with a low pass between message and torques."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warpdyn.model import Model

from ..settings.node_settings import Settings
from .finite_difference import Index
from .joint_states import JointStates
from .low_pass import LONGEST_STEP, LowPass
from .state import State


class FilteredStates(JointStates):
    """Joint states with the low passes `position_filter` and `velocity_filter`. `state` gets
    filtered positions and velocities; the checks use the unfiltered messages.

    Here q and v are those of the messages. A message filters its own joints, because arm and
    gripper may publish with different clocks. The time between two messages of a joint is that of
    their stamps, or of their arrivals where the stamps do not advance, or advance by more than the
    longest step of a filter.
    """

    def __init__(
        self, model: Model, settings: Settings, state: State, counts: Counter[str]
    ) -> None:
        own = replace(state, q=state.q.copy(), v=state.v.copy())
        super().__init__(model, settings, own, counts)
        state.q[:], state.v[:] = self.q, self.v
        turns = self._continuous if self._continuous.any() else None
        self._position = _low_pass(settings.position_filter, model.nq, turns)
        self._velocity = _low_pass(settings.velocity_filter, model.nv, None)
        if self._position is not None:
            self._position.value[:] = self.q
        self._into = state
        self._stamp = np.zeros(model.nq, dtype=np.int64)
        """Stamp of each coordinate's last message [ns]."""
        self._at = np.full(model.nq, -np.inf)
        """Arrival of each coordinate's last message [s]."""

    def take(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
    ) -> str | None:
        """Check one message and write its filtered positions and velocities."""
        reason = super().take(names, position, velocity, stamp, now)
        m = self.recent
        if reason is not None or m is None:
            return reason
        columns, q, v = m.columns, self._position, self._velocity
        passed = self._time_since_last(columns, stamp, now)
        self._into.q[:] = self.q if q is None else q.follow(self.q, passed, columns)
        self._into.v[:] = self.v if v is None else v.follow(self.v, passed, m.v_columns)
        if not m.complete:
            # A held joint rests where it was, without the lag of the filter.
            pauses = self._needed_q[now - self._at[self._needed_q] > LONGEST_STEP]
            rows = self._v_of_q[pauses]
            self._into.q[pauses], self._into.v[rows] = self.q[pauses], self.v[rows]
        return None

    def _time_since_last(self, columns: Index, stamp: int, now: float) -> np.ndarray:
        """The time since the last message of each coordinate [s]."""
        before = self._stamp[columns]
        by_stamps = (stamp - before) * 1e-9
        advances = (before > 0) & (by_stamps > 0.0) & (by_stamps <= LONGEST_STEP)
        passed = np.where(advances, by_stamps, now - self._at[columns])
        self._stamp[columns], self._at[columns] = stamp, now
        return passed

    def forget(self) -> None:
        """Start again, for example after a jump of the clock."""
        super().forget()
        for part in (self._position, self._velocity):
            if part is not None:
                part.forget()

    def change(self, settings: Settings) -> None:
        """Use new parameters. A mode without velocities does not filter them."""
        super().change(settings)
        if not settings.needs_velocity:
            self._into.v[:] = 0.0
            if self._velocity is not None:
                self._velocity.forget()


def _low_pass(cutoff: float, n: int, turns: np.ndarray | None) -> LowPass | None:
    return LowPass(cutoff, n, turns) if cutoff else None

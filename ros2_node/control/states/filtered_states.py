"""Joint states with a low pass between message and torques."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warpdyn.model import Model

from ..settings.node_settings import Settings
from .joint_states import JointStates
from .low_pass import LowPass
from .state import State


class FilteredStates(JointStates):
    """Joint states with the low passes `position_filter` and `velocity_filter`. `state` gets
    filtered positions and velocities; the checks use the unfiltered messages.

    Here q and v are those of the messages. The time between two messages is that of their stamps, or of their arrivals
    where the stamps do not advance.
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
        self._into = state
        self._last_stamp, self._last_arrival = 0, -np.inf

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
        if reason is not None:
            return reason
        by_stamps = stamp > self._last_stamp > 0
        passed = (stamp - self._last_stamp) * 1e-9 if by_stamps else now - self._last_arrival
        self._last_stamp, self._last_arrival = stamp, now
        q, v = self._position, self._velocity
        self._into.q[:] = self.q if q is None else q.follow(self.q, passed)
        self._into.v[:] = self.v if v is None else v.follow(self.v, passed)
        return None

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

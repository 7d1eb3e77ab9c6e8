"""The wanted motion: the point of ~/reference that the torques are to produce or to track."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warpdyn import Model

SETPOINT_BOUND = 1e4
"""A reference beyond this is nonsense [rad, rad/s, rad/s^2 and m likewise]."""
Point = tuple[Sequence[float], Sequence[float], Sequence[float]]
"""Positions, velocities, accelerations; each may be empty."""


class Setpoint:
    """The wanted position, velocity and acceleration of one robot: rows q (nq,), v and a (nv,)."""

    def __init__(self, model: Model, joints: Sequence[str], counts: Counter[str]) -> None:
        self.q, self.v, self.a = model.neutral.copy(), np.zeros(model.nv), np.zeros(model.nv)
        self.arrived = -np.inf
        self._counts = counts
        self._q_of = dict(zip(joints, model.q_indices(joints), strict=True))
        self._v_of = dict(zip(joints, model.v_indices(joints), strict=True))
        self._placed = False

    def read(self, names: Sequence[str], point: Point, now: float) -> str | None:
        """Use a point for the named joints. Returns why it was refused."""
        reason = self._read(names, point, now)
        if reason is not None:
            self._counts[reason] += 1
        return reason

    def _read(self, names: Sequence[str], point: Point, now: float) -> str | None:
        if not names or any(len(part) not in (0, len(names)) for part in point):
            return "reference_wrong_length"
        if len(set(names)) != len(names):
            return "reference_duplicate_name"
        if any(name not in self._q_of for name in names):
            return "reference_unknown_joint"
        position, velocity, acceleration = (np.array(part, dtype=float) for part in point)
        if not all(
            (np.abs(part) <= SETPOINT_BOUND).all() for part in (position, velocity, acceleration)
        ):
            return "reference_nonfinite"
        columns = [self._v_of[name] for name in names]
        if len(position):
            self.q[[self._q_of[name] for name in names]] = position
            self._placed = True
        self.v[:], self.a[:] = 0.0, 0.0
        if len(velocity):
            self.v[columns] = velocity
        if len(acceleration):
            self.a[columns] = acceleration
        self.arrived = now
        return None

    def stay(self, q: np.ndarray) -> None:
        """The present position is the wanted one."""
        self.q[:], self.v[:], self.a[:] = q, 0.0, 0.0
        self.arrived = -np.inf
        self._placed = True

    def rest(self) -> None:
        """Nobody refreshes the reference any more: stay where it was."""
        self.v[:], self.a[:] = 0.0, 0.0

    @property
    def placed(self) -> bool:
        """Whether there is a position to track."""
        return self._placed

"""Inputs besides the state: the reference to follow and the wrench to compensate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warpdyn import Model

from .settings import Settings

BOUND = 1e4
"""A reference beyond this is nonsense [rad, rad/s, rad/s^2 and m likewise]."""
Point = tuple[Sequence[float], Sequence[float], Sequence[float]]
"""Positions, velocities, accelerations; each may be empty."""


class Reference:
    """The wanted position, velocity and acceleration of one robot: rows q (nq,), v and a (nv,)."""

    def __init__(self, model: Model, joints: Sequence[str], counts: Counter[str]) -> None:
        self.q, self.v, self.a = model.neutral.copy(), np.zeros(model.nv), np.zeros(model.nv)
        self.arrived = -np.inf
        self._counts = counts
        self._q_of = dict(zip(joints, model.q_indices(joints), strict=True))
        self._v_of = dict(zip(joints, model.v_indices(joints), strict=True))
        self._placed = False

    def read(self, names: Sequence[str], point: Point, now: float) -> str | None:
        """Take a point for the named joints. Returns why it was refused."""
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
        if not all((np.abs(part) <= BOUND).all() for part in (position, velocity, acceleration)):
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
        """Take the present position as the wanted one."""
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


class Wrench:
    """An outside force and torque on a link: (nlinks, 6), force then torque about the link's origin, in its frame."""

    def __init__(
        self, model: Model, rows: np.ndarray, settings: Settings, counts: Counter[str]
    ) -> None:
        self.rows = rows
        self.arrived = -np.inf
        self._links = {settings.frame_prefix + name: i for i, name in enumerate(model.link_names)}
        self._links.update({name: i for i, name in enumerate(model.link_names)})
        self._counts = counts
        self._row: int | None = None

    def read(
        self, link: str, force: Sequence[float], torque: Sequence[float], now: float
    ) -> str | None:
        """Take a wrench; it replaces the one before. Returns a refusal's reason."""
        value = np.array((*force, *torque), dtype=float)
        if link not in self._links:
            self._counts["wrench_unknown_link"] += 1
            return "wrench_unknown_link"
        if not (np.abs(value) <= BOUND).all():
            self._counts["wrench_nonfinite"] += 1
            return "wrench_nonfinite"
        self.clear()
        self._row = self._links[link]
        self.rows[self._row] = value
        self.arrived = now
        return None

    def refresh(self, now: float, timeout: float) -> None:
        """Forget a wrench that is no longer fresh."""
        if self._row is not None and now - self.arrived > timeout:
            self.clear()

    def clear(self) -> None:
        if self._row is not None:
            self.rows[self._row] = 0.0
            self._row = None

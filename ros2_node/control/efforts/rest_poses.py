"""Poses at which a robot has rested, with the torques that held it there."""

from __future__ import annotations

import numpy as np

STILL = 0.01
"""Speed below which a joint rests [rad/s, m/s]."""
SETTLING, AVERAGED = 0.3, 0.5
"""Time at rest before the average, and time over which torques are averaged [s]."""
APART = 0.1
"""Poses closer than this are the same one [rad, m]."""
MOST = 100


class RestPoses:
    """Collection of rest poses while the robot is moved around, by hand or by a controller."""

    def __init__(self, nq: int, nv: int) -> None:
        self._poses: list[tuple[np.ndarray, np.ndarray]] = []
        self._q, self._tau, self._known = np.zeros(nq), np.zeros(nv), np.zeros(nv, dtype=bool)
        self._rested, self._weight = 0.0, 0.0

    def forget(self) -> None:
        """Drop all poses, because the load or the model has changed."""
        self._poses.clear()
        self._rested = self._weight = 0.0

    def add(
        self, dt: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray, known: np.ndarray
    ) -> None:
        """Add a state, dt [s] after the previous one."""
        if not np.array_equal(known, self._known):
            self.forget()
            self._known[:] = known
        if dt <= 0.0 or not (np.abs(v) < STILL).all():
            self._rested = self._weight = 0.0
            return
        self._rested += dt
        if self._rested < SETTLING:
            return
        self._weight += dt
        share = dt / self._weight
        self._q += share * (q - self._q) if self._weight > dt else q - self._q
        self._tau += share * (tau - self._tau) if self._weight > dt else tau - self._tau
        if self._weight >= AVERAGED:
            self._keep()
            self._weight = 0.0

    def _keep(self) -> None:
        pose = (self._q.copy(), self._tau.copy())
        self._poses = [p for p in self._poses if np.abs(p[0] - pose[0]).max() >= APART][-MOST + 1 :]
        self._poses.append(pose)

    def __len__(self) -> int:
        return len(self._poses)

    @property
    def q(self) -> np.ndarray:
        """Positions (poses, nq)."""
        return np.array([q for q, _ in self._poses])

    @property
    def tau(self) -> np.ndarray:
        """Torques (poses, nv)."""
        return np.array([tau for _, tau in self._poses])

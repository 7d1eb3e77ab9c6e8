"""Detection of collisions by thresholds of external torques."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..settings.node_settings import Settings
from ..settings.parameter import per_joint


class CollisionGuard:
    """Compares external torques (nv,) of the command joints with their thresholds.

    columns: columns of the joints in v.
    """

    def __init__(self, joints: Sequence[str], columns: Sequence[int], settings: Settings) -> None:
        self._joints, self._columns = tuple(joints), np.array(columns, dtype=int)
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Use other thresholds; ValueError if a list does not fit the joints."""
        n = len(self._joints)
        threshold = per_joint("collision_threshold", settings.collision_threshold, n)
        self._threshold = np.where(threshold > 0.0, threshold, np.inf)
        self._factor = settings.collision_speed_factor
        self.watching = bool((threshold > 0.0).any())

    def unguarded_joints(self, known: np.ndarray) -> list[str]:
        """Joints that have a threshold and no known external torque."""
        lacks = np.isfinite(self._threshold) & ~known[self._columns]
        return [self._joints[k] for k in np.flatnonzero(lacks)]

    def watches(self, known: np.ndarray) -> bool:
        """True if a joint with a known external torque has a threshold."""
        return self.watching and bool((np.isfinite(self._threshold) & known[self._columns]).any())

    def collision(self, external: np.ndarray, v: np.ndarray, known: np.ndarray) -> str:
        """The message of a collision with joint, torque and threshold; empty without one."""
        if not self.watching:
            return ""
        size = np.where(known[self._columns], np.abs(external[self._columns]), 0.0)
        limit = self._threshold + self._factor * np.abs(v[self._columns])
        if (size <= limit).all():
            return ""
        k = int(np.argmax(size / limit))
        return (
            f"collision: external torque of {self._joints[k]} is {external[self._columns[k]]:.3g} N·m, "
            f"more than its threshold {limit[k]:.3g}"
        )

"""The external wrench on a link, which the torques compensate while it is fresh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warpdyn.model import Model

from ..blend_spacing import BlendSpacing
from ..settings.node_settings import Settings
from .state import State

WRENCH_BOUND = 1e4
"""A wrench beyond this cannot be right [N, N·m]."""


class ExternalWrench:
    """A force and torque that act on a link from outside, in the wrench rows of a robot's state."""

    def __init__(
        self, model: Model, state: State, settings: Settings, counts: Counter[str]
    ) -> None:
        self._state = state
        self.arrived = -np.inf
        self._links = {settings.frame_prefix + name: i for i, name in enumerate(model.link_names)}
        self._links.update({name: i for i, name in enumerate(model.link_names)})
        self._counts = counts
        self._row: int | None = None
        self._is_new = False
        """True if a wrench has appeared since the last `refresh`."""
        self._spacing = BlendSpacing()
        self.active = False
        """False if `refresh` has nothing to do."""

    def read(
        self, link: str, force: Sequence[float], torque: Sequence[float], now: float
    ) -> str | None:
        """Use a wrench in place of the previous one. Returns the reason if it is refused."""
        value = np.array((*force, *torque), dtype=float)
        if link not in self._links:
            self._counts["wrench_unknown_link"] += 1
            return "wrench_unknown_link"
        if not (np.abs(value) <= WRENCH_BOUND).all():
            self._counts["wrench_nonfinite"] += 1
            return "wrench_nonfinite"
        row = self._links[link]
        self._is_new |= row != self._row
        self.clear()
        self._row = row
        self._state.wrench[self._row] = value
        self.arrived, self.active = now, True
        return None

    def refresh(self, now: float, timeout: float) -> bool:
        """Remove a wrench that is no longer fresh. Returns true if the torques jump and may blend:
        at each wrench that disappears, and at wrenches that appear (`BlendSpacing`)."""
        has_expired = self._row is not None and now - self.arrived > timeout
        if has_expired:
            self.clear()
        has_appeared, self._is_new = self._is_new and not has_expired, False
        self.active = self._row is not None
        return has_expired or (has_appeared and self._spacing.may_blend(now))

    def clear(self) -> None:
        """Remove the wrench."""
        if self._row is not None:
            self._state.wrench[self._row] = 0.0
            self._row = None

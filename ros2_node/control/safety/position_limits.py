"""Position limits of joints by their names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpdyn.model import Model


def position_limits(model: Model, joints: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper position limits (n,) of some joints; infinite for joints without limits."""
    columns = model.q_indices(joints)
    lower, upper = model.position_lower[columns].copy(), model.position_upper[columns].copy()
    endless = np.array([model.joint(j).kind.name == "continuous" for j in joints], dtype=bool)
    none = endless | ~(lower < upper)
    lower[none], upper[none] = -np.inf, np.inf
    return lower, upper

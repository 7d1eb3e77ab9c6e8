"""A number that stands for an array, for files of reference numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def number_of(x: Any) -> float:
    """A single number as it is, else a sum whose weights distinguish the entries."""
    flat = np.asarray(x, float).ravel()
    return float(flat[0] if flat.size == 1 else flat @ np.cos(1.0 + np.arange(flat.size)))

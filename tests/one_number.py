"""One number for an array, for files of published numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def number_of(x: Any) -> float:
    """One number for an array: a number itself, else a sum with weights that tell its entries apart."""
    flat = np.asarray(x, float).ravel()
    return float(flat[0] if flat.size == 1 else flat @ np.cos(1.0 + np.arange(flat.size)))

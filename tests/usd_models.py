"""Models of USD texts, and the expected placements of their links."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.formats.usd.usd import load_usd
from warpdyn.model import Model
from warpdyn.model.names import ModelError

SINGLE = 1e-6
"""Relative; numbers of USD's physics are of single precision."""


def load(text: str, **options: object) -> Model:
    """Load; a warning fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_usd(text, **options)  # type: ignore[arg-type]


def refusal(text: str, **options: object) -> str:
    with pytest.raises(ModelError) as caught:
        load_usd(text, **options)  # type: ignore[arg-type]
    return str(caught.value)


def pose(model: Model, q: object, frame: str) -> np.ndarray:
    return np.asarray(wd.oracle(wd.fk, model, np.array(q, dtype=float), frame=frame))


def turn(axis: str, angle: float) -> np.ndarray:
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    T = np.eye(4)
    T[i, i] = T[j, j] = math.cos(angle)
    T[i, j], T[j, i] = -math.sin(angle), math.sin(angle)
    return T


def shift(x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T

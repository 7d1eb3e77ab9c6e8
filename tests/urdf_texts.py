"""URDF text for the tests of its reader."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from warpdyn.formats.urdf import load_urdf
from warpdyn.model import Model
from warpdyn.model.names import ModelError, ModelWarning

ROUND_OFF = 1e-15
"""Entries of a product of rotation matrices: a few units in the last place of 1."""

PINOCCHIO = 1e-12
"""Relative; Pinocchio sums and normalises in another order."""

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def robot(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


def links(*names: str) -> str:
    return "".join(f'<link name="{name}"/>' for name in names)


def joint(
    name: str = "j",
    kind: str = "revolute",
    parent: str = "a",
    child: str = "b",
    inside: str = LIMIT,
) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def body(inside: str, name: str = "a") -> str:
    return f'<link name="{name}"><inertial>{inside}</inertial></link>'


def inertia(
    ixx: float, iyy: float, izz: float, ixy: float = 0.0, ixz: float = 0.0, iyz: float = 0.0
) -> str:
    return f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}" ixz="{ixz}" iyz="{iyz}"/>'


def load(text: str | bytes, **options: object) -> Model:
    """Load; a warning fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_urdf(text, **options)  # type: ignore[arg-type]


def remarks(text: str) -> tuple[str, ...]:
    with pytest.warns(ModelWarning):
        return load_urdf(text).warnings


def refusal(source: str | bytes | Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_urdf(source)
    return str(caught.value)


def urdf_rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    def about(axis: int, angle: float) -> np.ndarray:
        turn, (i, j) = np.eye(3), ((axis + 1) % 3, (axis + 2) % 3)
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[i, j], turn[j, i] = -math.sin(angle), math.sin(angle)
        return turn

    return about(2, yaw) @ about(1, pitch) @ about(0, roll)

"""Random vectors, rotations, placements and inertias, and their matrices, for the tests of the algebra."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from warpdyn.algebra.quaternions import quaternion_exp, quaternion_rotation
from warpdyn.algebra.spatial import (
    IDENTITY,
    AxisRotation,
    Force,
    Inertia,
    Motion,
    Placement,
    Symmetric,
    TwoRotations,
    Vector,
    as_matrix,
)

ROUND_OFF = 1e-13
"""Absolute, on numbers of size one to ten: a dozen roundings."""


def close(a: object, b: object) -> None:
    assert np.asarray(a, dtype=float) == pytest.approx(np.asarray(b, dtype=float), abs=ROUND_OFF)


def vector(draw: np.random.Generator) -> Vector:
    return Vector(*draw.uniform(-2, 2, 3).tolist())


def motion(draw: np.random.Generator) -> Motion:
    return Motion(vector(draw), vector(draw))


def force(draw: np.random.Generator) -> Force:
    return Force(vector(draw), vector(draw))


def placement(draw: np.random.Generator) -> Placement:
    """A rotation of one of the kinds that joints have, and a translation."""
    angle = draw.uniform(-3, 3)
    full = quaternion_rotation(quaternion_exp(draw.uniform(-1.5, 1.5, 3).tolist()))
    about = AxisRotation(int(draw.integers(3)), math.cos(angle), math.sin(angle))
    return Placement(
        [IDENTITY, full, about, TwoRotations(full, about)][draw.integers(4)], vector(draw)
    )


def inertia(draw: np.random.Generator) -> Inertia:
    A = draw.normal(size=(3, 3))
    J = A @ A.T
    return Inertia.at_com(
        draw.uniform(0.5, 3),
        vector(draw),
        Symmetric(J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]),
    )


def rows(M: Sequence) -> np.ndarray:
    return np.array([list(row) for row in M])


def matrix(X: Placement) -> np.ndarray:
    """The homogeneous matrix, from child to parent."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rows(as_matrix(X.R).matrix.rows), list(X.p)
    return T


def six(linear_map, kind) -> np.ndarray:
    """The 6x6 matrix of a linear map of motions or forces, column by column."""
    columns = [list(linear_map(kind(Vector(*e[:3]), Vector(*e[3:])))) for e in np.eye(6).tolist()]
    return np.array(columns).T

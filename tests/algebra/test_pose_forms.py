"""Placements as numbers: each form is converted back, in every branch of the quaternion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpdyn.algebra.pose_forms import (
    from_homogeneous,
    from_position_and_quaternion,
    homogeneous,
    position_and_quaternion,
    rotation_quaternion,
)
from warpdyn.algebra.quaternions import quaternion_rotation
from warpdyn.algebra.spatial import AxisRotation, Placement, TwoRotations, Vector

ROUND_OFF = 1e-14
"""Absolute, of numbers of size one."""


def quaternions() -> np.ndarray:
    """Unit quaternions with w >= 0: random ones, no rotation, half turns and close to them."""
    draw = np.random.default_rng(0).normal(size=(40, 4))
    near_half = [[*np.eye(3)[k], w] for k in range(3) for w in (0.0, 1e-12, 1e-6, 1e-2)]
    q = np.array([*draw, [0, 0, 0, 1], *near_half, [1, 1, 0, 0], [0, -1, 1, 0], [1, 1, 1, 1]])
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return q * np.where(q[:, 3:] < 0, -1.0, 1.0)


def test_a_pose_is_converted_back() -> None:
    """Position exactly, quaternion with the sign for which w >= 0."""
    for n, q in enumerate(quaternions()):
        pose = [0.1 * n, -2.0, 3.0, *q.tolist()]
        found = position_and_quaternion(from_position_and_quaternion(pose))
        assert found[:3] == pose[:3] and found[6] >= 0.0
        turn = np.array(found[3:])
        assert turn * np.sign(turn @ q) == pytest.approx(q, abs=ROUND_OFF)


def test_a_matrix_is_converted_back_exactly() -> None:
    """Entries are taken unchanged, and the last row is 0 0 0 1."""
    for q in quaternions():
        T = homogeneous(from_position_and_quaternion([1.0, 2.0, 3.0, *q.tolist()]))
        assert homogeneous(from_homogeneous(T)) == T and T[3] == [0.0, 0.0, 0.0, 1.0]


def test_the_rotation_of_a_quaternion_has_that_quaternion() -> None:
    """The rotation is a matrix, a rotation about an axis, or a product of two rotations."""
    for angle in np.linspace(-3.1, 3.1, 13).tolist():
        half = [math.sin(angle / 2), math.cos(angle / 2)]
        for axis in range(3):
            R = AxisRotation(axis, math.cos(angle), math.sin(angle))
            wanted = [0.0, 0.0, 0.0, half[1]]
            wanted[axis] = half[0]
            assert rotation_quaternion(R) == pytest.approx(wanted, abs=ROUND_OFF)
            there_and_back = TwoRotations(R, AxisRotation(axis, math.cos(angle), -math.sin(angle)))
            assert rotation_quaternion(there_and_back) == pytest.approx([0, 0, 0, 1], abs=ROUND_OFF)


def test_errors_of_a_matrix_give_equal_errors_of_the_quaternion() -> None:
    """Errors of 1e-9 stay of that size, also at half turns."""
    noise = 1e-9 * np.random.default_rng(1).uniform(-1, 1, (3, 3))
    for q in quaternions():
        rows = np.array([list(r) for r in quaternion_rotation(q.tolist()).matrix.rows]) + noise
        T = np.eye(4)
        T[:3, :3] = rows
        turn = np.array(rotation_quaternion(from_homogeneous(T.tolist()).R))
        assert turn * np.sign(turn @ q) == pytest.approx(q, abs=4e-9)


def test_a_quarter_turn_has_its_known_forms() -> None:
    """The rotation is a quarter turn about z, the position is one metre up."""
    quarter = Placement(AxisRotation(2, 0.0, 1.0), Vector(0.0, 0.0, 1.0))
    assert homogeneous(quarter) == [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    root = math.sqrt(0.5)
    assert position_and_quaternion(quarter) == pytest.approx([0, 0, 1, 0, 0, root, root])

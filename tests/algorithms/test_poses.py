"""Poses and rotations in other forms: both directions, every branch of the quaternion, MuJoCo."""

from __future__ import annotations

import math

import numpy as np
import pytest
import warp as wp
from states import error

from warpdyn.algorithms import poses as texts
from warpdyn.functions import poses

ROUND_OFF = {"float64": 1e-14, "float32": 1e-6}

FUNCTIONS = (
    (poses.matrix_to_pose, "matrix"),
    (poses.pose_to_matrix, "pose"),
    (poses.matrix_to_quaternion, "rotation"),
    (poses.quaternion_to_matrix, "quaternion"),
)


def examples(order: str = "xyzw") -> dict[str, np.ndarray]:
    """Unit quaternions with qw >= 0: random ones, half turns and close to them, no rotation.

    With their other forms.
    """
    draw = np.random.default_rng(1).normal(size=(20, 4))
    close = [[*np.eye(3)[k], w] for k in range(3) for w in (0.0, 1e-9, 1e-3)]
    half = [[1, 1, 0, 0], [1, 0, -1, 0], [0, 1, 1, 1e-12], [1, 1, 1, 0]]
    q = np.array(
        [*draw, *close, *half, [0, 0, 0, 1], [1e-9, 0, 0, 1], [1, 1, 1, 1], [-1, 1, -1, 1]]
    )
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    q *= np.where(q[:, 3:] < 0, -1.0, 1.0)
    R = np.array([rotation_matrix(*x) for x in q])
    T = np.tile(np.eye(4), (len(q), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = R, np.random.default_rng(2).uniform(-3, 3, (len(q), 3))
    ordered = q if order == "xyzw" else np.roll(q, 1, axis=1)
    return {
        "quaternion": ordered,
        "rotation": R,
        "matrix": T,
        "pose": np.hstack([T[:, :3, 3], ordered]),
    }


def rotation_matrix(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Rodrigues' formula for the quaternion's axis and angle."""
    s = math.sqrt(x * x + y * y + z * z)
    if s == 0.0:
        return np.eye(3)
    angle = 2 * math.atan2(s, w)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) / s
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def same(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """`found` with quaternions of qw = 0 in the sign of `wanted`."""
    if found.ndim == 3:
        return found
    flip = np.sum(found[:, -4:] * wanted[:, -4:], axis=1, keepdims=True) < 0
    return np.hstack([found[:, :-4], np.where(flip, -found[:, -4:], found[:, -4:])])


@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
def test_each_form_is_converted_to_the_other(order: str) -> None:
    """The algorithms on numbers, compared with axis and angle."""
    e = examples(order)
    for name, given, wanted in (
        ("matrix_to_pose", "matrix", "pose"),
        ("pose_to_matrix", "pose", "matrix"),
        ("matrix_to_quaternion", "rotation", "quaternion"),
        ("quaternion_to_matrix", "quaternion", "rotation"),
    ):
        found = np.array([getattr(texts, name)(None, x.tolist(), order) for x in e[given]])
        assert error(same(found, e[wanted]), e[wanted]) <= ROUND_OFF["float64"]
        if wanted == "quaternion":
            assert np.all(found[:, order.index("w")] >= 0)


@pytest.mark.parametrize("function, given", FUNCTIONS, ids=lambda x: getattr(x, "__name__", x))
def test_kernels_equal_the_algorithms(function, given: str, device: str, dtype) -> None:
    """Kernels on the device are compared in one dtype, for a batch and for one."""
    rounded = examples("wxyz")[given].astype(dtype).astype(float)
    kind = wp.float64 if dtype == np.float64 else wp.float32
    found = function(wp.array(rounded, dtype=kind, device=device), order="wxyz").numpy()
    wanted = np.array(
        [getattr(texts, function.__name__)(None, x.tolist(), "wxyz") for x in rounded]
    )
    assert error(same(found, wanted), wanted) <= ROUND_OFF[str(dtype)]
    one = function(wp.array(rounded[5], dtype=kind, device=device), order="wxyz").numpy()
    assert np.array_equal(one, found[5])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrices_that_are_no_rotations_are_nan(dtype: str) -> None:
    """Twice a rotation, reflections, zeros, and transposed poses, next to a good one."""
    flip = np.diag([1.0, 1.0, -1.0])
    matrices = np.array([np.eye(3), 2.0 * np.eye(3), -np.eye(3), flip, np.zeros((3, 3))], dtype)
    found = poses.matrix_to_quaternion(matrices)
    assert np.array_equal(found[0], [0.0, 0.0, 0.0, 1.0]) and np.isnan(found[1:]).all()
    whole = np.tile(np.eye(4, dtype=dtype), (6, 1, 1))
    whole[:5, :3, :3] = matrices
    whole[:, :3, 3] = (1.0, 2.0, 3.0)
    whole[5] = whole[5].T
    found = poses.matrix_to_pose(whole)
    assert np.array_equal(found[0], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])
    assert np.isnan(found[1:5, 3:]).all() and np.isnan(found[5, :3]).all()


def test_quaternions_of_other_lengths_count_by_their_direction() -> None:
    """Also rotations that are written with three digits give unit quaternions."""
    e = examples("xyzw")
    longer = e["quaternion"] * 3.0
    assert error(poses.quaternion_to_matrix(longer), e["rotation"]) <= ROUND_OFF["float64"]
    position = np.ones((len(longer), 3))
    found = poses.pose_to_matrix(np.hstack([position, longer]))[:, :3, :3]
    assert error(found, e["rotation"]) <= ROUND_OFF["float64"]
    rounded = poses.matrix_to_quaternion(e["rotation"].round(3))
    assert error(np.linalg.norm(rounded, axis=1), np.ones(len(rounded))) <= ROUND_OFF["float64"]


def test_conversions_equal_mujocos() -> None:
    """mju_quat2Mat and mju_mat2Quat."""
    mujoco = pytest.importorskip("mujoco")
    e = examples("wxyz")
    R, q = np.zeros((len(e["quaternion"]), 9)), np.zeros((len(e["quaternion"]), 4))
    for k, x in enumerate(e["quaternion"]):
        mujoco.mju_quat2Mat(R[k], x)
        mujoco.mju_mat2Quat(q[k], R[k])
    R = R.reshape(-1, 3, 3)
    assert (
        error(poses.quaternion_to_matrix(e["quaternion"], order="wxyz"), R) <= ROUND_OFF["float64"]
    )
    assert (
        error(same(poses.matrix_to_quaternion(R, order="wxyz"), q), q) <= 1e-8
    )  # MuJoCo loses half the digits

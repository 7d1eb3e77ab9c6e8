"""Public conversions of poses: orders of quaternions, shapes, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_defaults, check_shapes
from states import error

import warpdyn as wd
from warpdyn.functions import poses

ROUND_OFF = 1e-14
"""Relative to the largest entry."""


def quaternions(count: int = 6) -> np.ndarray:
    """Unit quaternions xyzw with qw >= 0."""
    q = np.random.default_rng(0).normal(size=(count, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return q * np.where(q[:, 3:] < 0, -1.0, 1.0)


Q = quaternions()
POSE = np.hstack([np.random.default_rng(1).uniform(-2, 2, (6, 3)), Q])
R, T = wd.oracle(wd.convert.quaternion_to_matrix, Q), wd.oracle(wd.convert.pose_to_matrix, POSE)
GIVEN = {
    "matrix_to_pose": (T, (7,)),
    "pose_to_matrix": (POSE, (4, 4)),
    "matrix_to_quaternion": (R, (4,)),
    "quaternion_to_matrix": (Q, (3, 3)),
}
"""Array and shape of the result of each function with an order."""


@pytest.mark.parametrize("name", GIVEN)
def test_conversions_of_poses_have_their_shapes(name: str) -> None:
    """The functions convert poses, quaternions and matrices."""
    given, shape = GIVEN[name]
    check_shapes(getattr(wd.convert, name), given, shapes=shape)
    check_defaults(getattr(wd.convert, name), given, order="xyzw")


def test_quaternions_have_four_numbers_in_either_order() -> None:
    """(B, 4)."""
    check_shapes(wd.convert.quaternion, Q, shapes=(4,), source="xyzw", target="wxyz")


def test_conversions_accept_one_pose_a_batch_and_out() -> None:
    """Both precisions are tested."""
    check_call(wd.convert.matrix_to_pose, T)
    check_call(wd.convert.quaternion, Q, source="xyzw", target="wxyz")


@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
def test_conversions_are_inverse_to_each_other(order: str) -> None:
    """The pairs are matrices and quaternions, and matrices and poses."""
    turn = Q if order == "xyzw" else np.roll(Q, 1, axis=1)
    pose = np.hstack([POSE[:, :3], turn])
    assert error(wd.oracle(wd.convert.quaternion_to_matrix, turn, order=order), R) <= ROUND_OFF
    assert error(wd.oracle(wd.convert.matrix_to_quaternion, R, order=order), turn) <= ROUND_OFF
    assert error(wd.oracle(wd.convert.pose_to_matrix, pose, order=order), T) <= ROUND_OFF
    assert error(wd.oracle(wd.convert.matrix_to_pose, T, order=order), pose) <= ROUND_OFF


def test_a_homogeneous_matrix_contains_rotation_and_position() -> None:
    """The last row is 0 0 0 1, the last column the position."""
    assert np.array_equal(T[:, :3, :3], R) and np.array_equal(T[:, :3, 3], POSE[:, :3])
    assert np.array_equal(T[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (6, 1)))


def test_chain_product_equals_numpys_product() -> None:
    """It also equals forward kinematics for the poses of a chain's links in each other."""
    chains = T.reshape(2, 3, 4, 4)
    product = np.array([np.linalg.multi_dot(list(chain)) for chain in chains])
    assert error(wd.oracle(wd.chain_product, chains), product) <= ROUND_OFF
    check_shapes(wd.chain_product, chains, shapes=(4, 4))
    check_call(wd.chain_product, chains)
    model = wd.load_robot("double_pendulum")
    q, names = np.array([0.4, -1.1]), model.link_names
    steps = [
        wd.oracle(wd.fk, model, q, frame=name, relative_to=model.parent(name)) for name in names[1:]
    ]
    end = wd.oracle(wd.fk, model, q, frame=names[-1], relative_to=names[0])
    assert error(wd.oracle(wd.chain_product, np.array(steps)), end) <= ROUND_OFF


def test_chain_product_takes_a_list_of_matrices() -> None:
    """It was refused as an array without a shape."""
    one = wd.convert.pose_to_matrix(np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8]))
    assert np.allclose(wd.chain_product([one, one]), one @ one)
    assert np.allclose(wd.chain_product([one.tolist(), one.tolist()]), one @ one)


def test_chain_product_needs_at_least_one_matrix() -> None:
    """An empty chain is refused."""
    for given in (np.eye(4), np.zeros((0, 4, 4))):
        with pytest.raises(ValueError, match=r"must be \(B, n, 4, 4\) with n at least 1"):
            wd.chain_product(given)


# Refusals.


def test_quaternions_are_converted_between_both_orders() -> None:
    """xyzw and wxyz are the same four numbers."""
    q = Q
    turned = poses.convert_quaternion(q, source="xyzw", target="wxyz")
    assert np.array_equal(turned, np.roll(q, 1, axis=1))
    assert np.array_equal(poses.convert_quaternion(turned, source="wxyz", target="xyzw"), q)
    with pytest.raises(ValueError, match='must be "xyzw" or "wxyz"'):
        poses.convert_quaternion(q, source="wxzy", target="xyzw")


@pytest.mark.parametrize("name", GIVEN)
def test_an_unknown_order_of_quaternions_is_refused(name: str) -> None:
    """The message names both known ones."""
    with pytest.raises(
        ValueError, match='the order of a quaternion must be "xyzw" or "wxyz", got \'zyxw\''
    ):
        getattr(wd.convert, name)(GIVEN[name][0], order="zyxw")


def test_an_unknown_target_order_is_refused() -> None:
    """An unknown source order is refused, too."""
    with pytest.raises(ValueError, match="got 'XYZW'"):
        wd.convert.quaternion(Q, source="xyzw", target="XYZW")


@pytest.mark.parametrize("name", GIVEN)
def test_arrays_of_wrong_shape_are_refused(name: str) -> None:
    """The message gives the required last dimensions."""
    argument = {
        "matrix_to_pose": "matrix",
        "pose_to_matrix": "pose",
        "matrix_to_quaternion": "matrix",
    }
    with pytest.raises(
        ValueError,
        match=rf"^{argument.get(name, 'quaternion')} must be \((B|\.\.\.), .*got \(2, 5, 5\)",
    ):
        getattr(wd.convert, name)(np.zeros((2, 5, 5)))

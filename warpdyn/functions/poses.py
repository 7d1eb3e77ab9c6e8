"""Conversions between forms of poses and rotations, without a robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from ..algorithms import poses as _poses
from ..arrays import A, Array
from ..arrays.stacking import shape_of
from ..execution.batched import batched
from ..execution.request.call import Call
from ..model import Model
from ..model.description import Link
from ..model.structure import QuaternionOrder

SPACE = Model("space", (Link("world"),), ())
"""A robot without joints, for functions that do not depend on a robot."""


@batched
def matrix_to_pose(
    matrix: Array[A], *, order: QuaternionOrder = "xyzw", out: Array[A] | None = None
) -> Call[A]:
    """Homogeneous 4x4 matrices as [x y z qx qy qz qw].

    matrix: (B, 4, 4), its upper left a rotation.  Returns (B, 7); `order="wxyz"` puts qw first; qw
    >= 0. A matrix that is far from a rotation has NaN for its quaternion, and one that is
    transposed NaN for its position.
    Shepperd, J. Guidance and Control 1 (1978); Bar-Itzhack (2000).
    """
    return _call(_poses.matrix_to_pose, {"matrix": matrix}, shape=(4, 4), order=order, out=out)


@batched
def pose_to_matrix(
    pose: Array[A], *, order: QuaternionOrder = "xyzw", out: Array[A] | None = None
) -> Call[A]:
    """Poses [x y z qx qy qz qw] as homogeneous 4x4 matrices.

    pose: (B, 7), quaternions of any length; `order="wxyz"` has qw first.  Returns (B, 4, 4).  RBDA 4.12.
    """
    return _call(_poses.pose_to_matrix, {"pose": pose}, shape=(7,), order=order, out=out)


@batched
def matrix_to_quaternion(
    matrix: Array[A], *, order: QuaternionOrder = "xyzw", out: Array[A] | None = None
) -> Call[A]:
    """Rotation matrices (B, 3, 3) as unit quaternions (B, 4), `order` "xyzw" or "wxyz"; qw >= 0.

    A matrix that is far from a rotation, such as a reflection or a scaled one, gives NaN.
    """
    return _call(
        _poses.matrix_to_quaternion, {"matrix": matrix}, shape=(3, 3), order=order, out=out
    )


@batched
def quaternion_to_matrix(
    quaternion: Array[A], *, order: QuaternionOrder = "xyzw", out: Array[A] | None = None
) -> Call[A]:
    """Unit quaternions (B, 4), `order` "xyzw" or "wxyz", as rotation matrices (B, 3, 3). Those of
    other lengths count by their direction.  RBDA 4.12."""
    return _call(
        _poses.quaternion_to_matrix, {"quaternion": quaternion}, shape=(4,), order=order, out=out
    )


@batched
def convert_quaternion(
    quaternion: Array[A],
    *,
    source: QuaternionOrder,
    target: QuaternionOrder,
    out: Array[A] | None = None,
) -> Call[A]:
    """Quaternions (B, 4) from one order to the other: `source` and `target` "xyzw" or "wxyz"."""
    return Call.of(
        _poses.convert_quaternion,
        SPACE,
        {"quaternion": quaternion},
        out=out,
        options=(("source", _order(source)), ("target", _order(target))),
        shapes={"quaternion": (4,)},
    )


@batched
def chain_product(matrices: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """The pose at the end of a chain of poses, T_1 T_2 .. T_n.

    matrices: (B, n, 4, 4) homogeneous, each relative to the previous one.  Returns (B, 4, 4).  RBDA
    2.8.
    """
    shape = shape_of(matrices)
    if len(shape) < 3 or not shape[-3]:
        raise ValueError(f"matrices must be (B, n, 4, 4) with n at least 1, got {shape}")
    return Call.of(
        _poses.chain_product,
        SPACE,
        {"matrices": matrices},
        out=out,
        shapes={"matrices": (shape[-3], 4, 4)},
    )


def _call(
    algorithm: Callable[..., Any],
    arrays: dict[str, Array[A]],
    *,
    shape: tuple[int, ...],
    order: QuaternionOrder,
    out: Array[A] | None,
) -> Call[A]:
    shapes, options = dict.fromkeys(arrays, shape), (("order", _order(order)),)
    return Call.of(algorithm, SPACE, arrays, out=out, options=options, shapes=shapes)


def _order(order: QuaternionOrder) -> QuaternionOrder:
    if order not in get_args(QuaternionOrder):
        raise ValueError(f'the order of a quaternion must be "xyzw" or "wxyz", got {order!r}')
    return order

"""Difference of two orientations: the logarithm of rotations and its derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd


def rotation_vector(robot: wd.kernels.Robot, R: Any) -> tuple[Any, Any]:
    """The logarithm of a rotation matrix (3, 3), axis times angle [rad], at most half a turn; and
    half the angle divided by its tangent, which `moment_of` needs.

    Solà, Deray, Atchuthan, A micro Lie theory for state estimation in robotics (2018), equation
    133.
    """
    quaternion = robot.matrix_to_quaternion(R)
    imaginary, real = quaternion[:3], quaternion[3]
    sine = np.sqrt(imaginary @ imaginary + 1e-30)
    half = np.arctan2(sine, real)
    return (2.0 * half / sine) * imaginary, half * real / sine


def moment_of(slope: Any, turn: Any, half_by_tangent: Any) -> Any:
    """The moment [N·m] of a potential of the rotation vector `turn`, whose gradient by it is
    `slope`: Jl⁻¹(turn) slope, with the left Jacobian of the group of rotations.

    Solà, Deray, Atchuthan (2018), equation 146. With the same stiffness about all axes, it equals
    `slope`.
    """
    angle_squared = turn @ turn + 1e-30
    across = np.cross(turn, slope)
    share = (1.0 - half_by_tangent) / angle_squared
    return slope - 0.5 * across + share * np.cross(turn, across)

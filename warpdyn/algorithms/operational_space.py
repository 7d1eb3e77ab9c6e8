"""Dynamics as a frame of the robot feels them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.linear import Factors, factorise, inverse_symmetric, transposed
from ..algebra.scalar import Scalar
from ..model.tree import Tree
from .crba import crba
from .frame_motion import frame_bias_acceleration, frame_bias_acceleration_turned
from .frames import PARTS
from .jacobian import jacobian
from .rnea import rnea

Rows = list[list[Scalar]]


def operational_space(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    frame: str,
    reference: str,
    part: str,
) -> tuple[Rows, list[Scalar], Rows]:
    """Inertia Λ (6 by 6), bias force (6) and dynamically consistent inverse J̄ (nv by 6) of a frame, or of a part of its
    velocity.

    With A the rate of the frame's velocity J v, a force f on it gives Λ A + bias = f: Λ = (J M⁻¹ Jᵀ)⁻¹, J̄ = M⁻¹ Jᵀ Λ,
    bias = J̄ᵀ h - Λ J̇ v, h all that moving with zero acceleration takes.
    Khatib, IEEE J. Robotics and Automation RA-3 (1987), on redundant manipulators.
    """
    inertia, inverse = _of_frame(tree, q, frame, reference, part)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    moving = frame_bias_acceleration if reference == "local" else frame_bias_acceleration_turned
    A = moving(tree, q, v, frames=[frame], reference=reference)[0][PARTS[part]]
    bias = [_dot(column, h) - _dot(row, A) for column, row in zip(inverse, inertia, strict=True)]
    return inertia, bias, transposed(inverse)


def operational_space_inertia(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> Rows:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, 6 by 6."""
    return _inertia(*_half(tree, q, frame, reference, part))


def dynamically_consistent_inverse(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> Rows:
    """J̄ = M⁻¹ Jᵀ Λ, nv by 6: J J̄ = 1, and of all such inverses the one of least kinetic energy."""
    return transposed(_of_frame(tree, q, frame, reference, part)[1])


def _half(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> tuple[Factors, Rows]:
    """M = Lᵀ D L, and the columns of L⁻ᵀ Jᵀ."""
    factors = factorise(crba(tree, q))
    return factors, [
        factors.transposed_solve(row) for row in jacobian(tree, q, frame, reference, part=part)
    ]


def _inertia(factors: Factors, half: Rows) -> Rows:
    mobility: Rows = [[0.0] * len(half) for _ in half]
    for i, row in enumerate(half):
        weighted = factors.scaled(row)
        for j in range(i + 1):
            mobility[i][j] = mobility[j][i] = _dot(weighted, half[j])
    return inverse_symmetric(mobility)


def _of_frame(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> tuple[Rows, Rows]:
    """Λ and the rows of J̄ᵀ."""
    factors, half = _half(tree, q, frame, reference, part)
    inertia = _inertia(factors, half)
    columns = transposed(half)
    combined = [[_dot(row, column) for column in columns] for row in inertia]
    return inertia, [factors.solve(factors.scaled(row)) for row in combined]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total

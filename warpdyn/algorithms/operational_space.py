"""Operational-space dynamics: inertia, bias force and inverse of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.linear import Factors, dot, factorise, inverse_symmetric, transposed
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
    """Inertia Λ, bias force and dynamically consistent inverse J̄ of a frame.

    q: nq [m, rad].  v: nv.  gravity, f_ext: as in `rnea`.
    Returns 6 by 6, 6 and nv by 6; 3 in place of 6 for a part of the frame's velocity.
    With A the rate of the frame's velocity J v, a force f on it gives Λ A + bias = f:
    Λ = (J M⁻¹ Jᵀ)⁻¹, J̄ = M⁻¹ Jᵀ Λ, bias = J̄ᵀ h - Λ J̇ v, h all that moving with zero acceleration
    takes.
    Khatib, IEEE J. Robotics and Automation RA-3 (1987), on redundant manipulators.
    """
    inertia, inverse = _inertia_and_inverse(tree, q, frame, reference, part)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    moving = frame_bias_acceleration if reference == "local" else frame_bias_acceleration_turned
    A = moving(tree, q, v, frames=[frame], reference=reference)[0][PARTS[part]]
    bias = [dot(column, h) - dot(row, A) for column, row in zip(inverse, inertia, strict=True)]
    return inertia, bias, transposed(inverse)


def operational_space_inertia(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> Rows:
    """Inertia that a frame opposes to forces on it, Λ = (J M⁻¹ Jᵀ)⁻¹.

    6 by 6, 3 by 3 of a part (Khatib 1987).
    """
    return _inertia(*_half(tree, q, frame, reference, part))


def dynamically_consistent_inverse(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> Rows:
    """Dynamically consistent inverse J̄ = M⁻¹ Jᵀ Λ, nv by 6, nv by 3 of a part (Khatib 1987).

    J J̄ = 1, and of all such inverses it is the one of least kinetic energy.
    """
    return transposed(_inertia_and_inverse(tree, q, frame, reference, part)[1])


def _half(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> tuple[Factors, Rows]:
    """Factors of M = Lᵀ D L, and the columns of L⁻ᵀ Jᵀ."""
    factors = factorise(crba(tree, q))
    return factors, [
        factors.transposed_solve(row) for row in jacobian(tree, q, frame, reference, part=part)
    ]


def _inertia(factors: Factors, half: Rows) -> Rows:
    """Inertia Λ from Λ⁻¹ = (L⁻ᵀ Jᵀ)ᵀ D⁻¹ (L⁻ᵀ Jᵀ).

    Half the solves of M⁻¹ Jᵀ, and symmetric to the last digit.
    """
    mobility: Rows = [[0.0] * len(half) for _ in half]
    for i, row in enumerate(half):
        weighted = factors.scaled(row)
        for j in range(i + 1):
            mobility[i][j] = mobility[j][i] = dot(weighted, half[j])
    return inverse_symmetric(mobility)


def _inertia_and_inverse(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> tuple[Rows, Rows]:
    """Inertia Λ, and the rows of J̄ᵀ = Λ J M⁻¹."""
    factors, half = _half(tree, q, frame, reference, part)
    inertia = _inertia(factors, half)
    columns = transposed(half)
    combined = [[dot(row, column) for column in columns] for row in inertia]
    return inertia, [factors.solve(factors.scaled(row)) for row in combined]

"""Operational-space dynamics: inertia, bias force and inverse of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..algebra.linear import Factors, dot, factorise, transpose
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
    Λ = (J M⁻¹ Jᵀ)⁻¹, J̄ = M⁻¹ Jᵀ Λ, bias = J̄ᵀ h - Λ J̇ v, with h the joint forces of motion
    without acceleration. Khatib, IEEE J. Robotics and Automation RA-3 (1987), on redundant
    manipulators.
    """
    inertia, inverse = _inertia_and_inverse(tree, q, frame, reference, part)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    moving = frame_bias_acceleration if reference == "local" else frame_bias_acceleration_turned
    A = moving(tree, q, v, frames=[frame], reference=reference)[0][PARTS[part]]
    bias = [dot(column, h) - dot(row, A) for column, row in zip(inverse, inertia, strict=True)]
    return inertia, bias, transpose(inverse)


def operational_space_inertia(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> Rows:
    """Inertia of a frame against forces on it, Λ = (J M⁻¹ Jᵀ)⁻¹.

    6 by 6, 3 by 3 of a part (Khatib 1987).
    """
    return _orthogonalise(tree, q, frame, reference, part).inertia


def dynamically_consistent_inverse(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> Rows:
    """Dynamically consistent inverse J̄ = M⁻¹ Jᵀ Λ, nv by 6, nv by 3 of a part (Khatib 1987).

    J J̄ = 1, and it is the inverse with the least kinetic energy.
    """
    return transpose(_inertia_and_inverse(tree, q, frame, reference, part)[1])


@dataclass(frozen=True)
class _OrthogonalFactors:
    """Y = L⁻ᵀ Jᵀ = Q R with M = Lᵀ D L, columns of Q orthogonal in that qᵢᵀ D⁻¹ qⱼ = 0, R unit upper
    triangular."""

    factors: Factors
    weighted: Rows
    """Columns of D⁻¹ Q N⁻¹, N the diagonal of qᵢᵀ D⁻¹ qᵢ."""
    reciprocal: list[Scalar]
    """1 / N."""
    R_inverse: Rows
    """Columns of R⁻¹, down to the diagonal."""

    @property
    def inertia(self) -> Rows:
        """Inertia Λ = (Yᵀ D⁻¹ Y)⁻¹ = R⁻¹ N⁻¹ R⁻ᵀ, symmetric to the last digit."""
        n = len(self.R_inverse)
        inertia: Rows = [[0.0] * n for _ in range(n)]
        for column, r in zip(self.R_inverse, self.reciprocal, strict=True):
            for i, x in enumerate(column):
                for j in range(i + 1):
                    inertia[i][j] = inertia[i][j] + x * r * column[j]
        return [[inertia[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]

    @property
    def inverse(self) -> Rows:
        """Columns of J̄ = M⁻¹ Jᵀ Λ = L⁻¹ D⁻¹ Q N⁻¹ R⁻ᵀ."""
        nv = len(self.factors.L)
        columns: Rows = [[0.0] * nv for _ in self.R_inverse]
        for w, column in zip(self.weighted, self.R_inverse, strict=True):
            for i, x in enumerate(column):
                columns[i] = [a + x * b for a, b in zip(columns[i], w, strict=True)]
        return [self.factors.solve(column) for column in columns]


def _orthogonalise(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> _OrthogonalFactors:
    """Y of a frame's Jacobian by the modified Gram-Schmidt process (Björck 1967).

    Forming and inverting Λ⁻¹ = Yᵀ D⁻¹ Y would square the condition of Y: close to a singular
    configuration of a ur5e that lost 5e-3 of the largest entry in float32, compared with 2e-6 here.
    """
    factors = factorise(crba(tree, q))
    orthogonal: Rows = []
    weighted: Rows = []
    reciprocal: list[Scalar] = []
    R_inverse: Rows = []
    for k, row in enumerate(jacobian(tree, q, frame, reference, part=part)):
        y = factors.solve_transposed(row)
        column: list[Scalar] = [*[0.0] * k, 1.0]
        # Twice is enough (Kahan): the second pass removes the remainders of earlier directions that
        # the first pass leaves, which are large near a singular configuration.
        for i in (*range(k), *range(k)):
            r = dot(weighted[i], y)
            y = [a - r * b for a, b in zip(y, orthogonal[i], strict=True)]
            for j, b in enumerate(R_inverse[i]):
                column[j] = column[j] - r * b
        scaled = factors.divide_by_diagonal(y)
        reciprocal.append(1.0 / dot(scaled, y))
        weighted.append([x * reciprocal[k] for x in scaled])
        orthogonal.append(y)
        R_inverse.append(column)
    return _OrthogonalFactors(factors, weighted, reciprocal, R_inverse)


def _inertia_and_inverse(
    tree: Tree, q: Sequence[Scalar], frame: str, reference: str, part: str
) -> tuple[Rows, Rows]:
    """Inertia Λ, and the rows of J̄ᵀ = Λ J M⁻¹."""
    found = _orthogonalise(tree, q, frame, reference, part)
    return found.inertia, found.inverse

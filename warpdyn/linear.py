"""Small symmetric linear systems over any scalar."""

from __future__ import annotations

from collections.abc import Sequence

from .scalar import Scalar


def solve_symmetric(H: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with H x = b, H symmetric positive definite, by H = Lᵀ D L from the last row up (RBDA section 6.5).

    Eliminating leaves first keeps the zeros that branches leave in H; on symbols they then cost nothing.
    """
    n = len(b)
    L = [list(row) for row in H]
    reciprocal: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        reciprocal[k] = 1.0 / L[k][k]
        factor = [L[k][i] * reciprocal[k] for i in range(k)]
        for i in range(k):
            for j in range(i + 1):
                L[i][j] = L[i][j] - factor[i] * L[k][j]
        L[k][:k] = factor
    x = list(b)
    for k in reversed(range(n)):  # x = L⁻ᵀ b
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    x = [value * r for value, r in zip(x, reciprocal, strict=True)]
    for k in range(n):  # x = L⁻¹ D⁻¹ L⁻ᵀ b
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x

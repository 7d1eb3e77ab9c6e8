"""Factors and products of small matrices in kernels, in forms that keep small entries exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class UnitFactors(NamedTuple):
    """M = L D Lᵀ of a symmetric positive definite matrix (n, n)."""

    L: Any
    """Unit upper triangular (n, n)."""
    d: Any
    """The diagonal of D (n,), positive."""


def factorise(M: Any) -> UnitFactors:
    """The factors of M, from its last row up, as in RBDA table 6.3.

    A branch of joints keeps the zeros that it has in a mass matrix. The relative error of a small
    entry of D does not depend on the large ones.
    """
    n = M.shape[0]
    L = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    d: list[Any] = [0.0] * n
    rest = [[M[i, j] for j in range(n)] for i in range(n)]
    for k in reversed(range(n)):
        d[k] = rest[k][k]
        for i in range(k):
            L[i][k] = rest[i][k] / d[k]
        for i in range(k):
            for j in range(i, k):
                rest[i][j] = rest[i][j] - L[i][k] * rest[j][k]
    return UnitFactors(matrix(L), np.stack(d))


def matrix(rows: Sequence[Sequence[Any]]) -> Any:
    """A matrix from rows of single values."""
    return np.stack([np.stack(row) for row in rows])


def solve_upper(L: Any, b: Any) -> Any:
    """x with L x = b, for a unit upper triangular L (n, n) and b (n,) or (n, k)."""
    x = [b[i] for i in range(L.shape[0])]
    for j in reversed(range(len(x))):
        for i in range(j):
            x[i] = x[i] - L[i, j] * x[j]
    return np.stack(x)


def solve_upper_transposed(L: Any, b: Any) -> Any:
    """x with Lᵀ x = b, for a unit upper triangular L (n, n) and b (n,) or (n, k)."""
    x = [b[i] for i in range(L.shape[0])]
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            x[j] = x[j] - L[i, j] * x[i]
    return np.stack(x)


def dot(a: Any, b: Any) -> Any:
    """The scalar product of two rows (n,). It is summed in halves, so that few additions depend on
    each other."""
    terms = [a[k] * b[k] for k in range(a.shape[0])]
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        pairs = [terms[k] + terms[k + half] for k in range(len(terms) - half)]
        terms = pairs + terms[len(pairs) : half]
    return terms[0]


def symmetric(n: int, entry: Callable[[int, int], Any]) -> Any:
    """The symmetric matrix (n, n) of these entries, of which those with i <= j are computed."""
    upper = {(i, j): entry(i, j) for i in range(n) for j in range(i, n)}
    return matrix([[upper[min(i, j), max(i, j)] for j in range(n)] for i in range(n)])


def congruent(R: Any, K: Any) -> Any:
    """R K Rᵀ (m, m) of a symmetric K (n, n) and R (m, n)."""
    both = R @ K
    return symmetric(R.shape[0], lambda i, j: R[j] @ both[i])

"""Damping for a stiffness and an inertia, independent of the axes in which they are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpdyn import kernels

from .matrix_factors import dot, factorise, solve_upper, symmetric

ROUNDS = 20
"""Largest number of rounds of the mean; an eigenvalue that tends to zero is then a millionth of its
first value."""
CLOSE = 1e-10
"""Relative accuracy at which the rounds end; the mean lies between the two means. Seven rounds are
enough for panda's joints."""


def damping_by_ratio(inertia: Any, stiffness: Any, ratio: Any) -> Any:
    """Damping that gives each mode of inertia and stiffness the same damping ratio.

    inertia: (n, n), positive definite; stiffness: (n, n), positive semidefinite; ratio: one number,
    1 is critical. Returns (n, n), symmetric and positive semidefinite.
    The double diagonalisation of Albu-Schäffer, Ott, Frese, Hirzinger, Cartesian Impedance Control
    of Redundant Robots, ICRA (2003), II.B: with inertia = Q Qᵀ and stiffness = Q K0 Qᵀ it is
    2 ratio Q √K0 Qᵀ. That is twice the ratio times the geometric mean of the two, which needs no
    eigenvectors.
    """
    return 2.0 * ratio * geometric_mean(inertia, stiffness)


def geometric_mean(A: Any, B: Any) -> Any:
    """A # B = A½ (A-½ B A-½)½ A½, the mean of two matrices that does not depend on the axes.

    A: (n, n), positive definite; B: (n, n), positive semidefinite. The limit of repeated arithmetic
    and harmonic means, each of the previous two: Ando, Li, Mathias, Geometric Means, Linear Algebra
    and its Applications 385 (2004), section 2.
    """
    n = A.shape[0]
    # In axes in which A has ones on its diagonal and B has them on average, few rounds are enough.
    size = np.sqrt(np.diag(A))
    both = np.outer(size, size)
    scaled = B / both
    share = np.trace(scaled) / n + 1e-30

    def closer(means: Any) -> Any:
        arithmetic, harmonic = (_unfold(x, n) for x in means)
        middle = 0.5 * (arithmetic + harmonic)
        # A M⁻¹ H with A = 2 M - H, in a form in which nothing cancels, because M >= H.
        L, d = factorise(middle)
        X = solve_upper(L, harmonic)
        weighted = X / d[:, None]
        lower = symmetric(n, lambda i, j: 2.0 * harmonic[i, j] - dot(X[:, i], weighted[:, j]))
        return _fold(middle), _fold(lower)

    def are_close(means: Any) -> Any:
        arithmetic, harmonic = (np.trace(_unfold(x, n)) for x in means)
        return arithmetic - harmonic < CLOSE * arithmetic

    # Of two matrices of which neither is the smaller one, the harmonic mean is a product.
    first, second = A / both, scaled / share
    middle = 0.5 * (first + second)
    product = first @ kernels.solve_symmetric(middle, second)
    means = _fold(middle), _fold(0.5 * (product + product.T))
    arithmetic, harmonic = kernels.repeat(ROUNDS - 1, closer, means, until=are_close)
    return np.sqrt(share) * both * _unfold(0.5 * (arithmetic + harmonic), n)


def _fold(A: Any) -> Any:
    """The entries of a symmetric matrix on and above its diagonal."""
    return np.stack([A[i, j] for i in range(A.shape[0]) for j in range(i, A.shape[0])])


def _unfold(entries: Any, n: int) -> Any:
    """The symmetric matrix (n, n) of these entries."""
    places = iter(range(n * (n + 1) // 2))
    return symmetric(n, lambda i, j: entries[next(places)])

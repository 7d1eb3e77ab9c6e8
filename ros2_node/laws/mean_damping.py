"""Damping for a stiffness and an inertia, independent of the axes in which they are written."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd

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
        arithmetic, harmonic = means
        middle = 0.5 * (arithmetic + harmonic)
        product = arithmetic @ wd.kernels.solve_symmetric(middle, harmonic)
        return middle, 0.5 * (product + product.T)

    def are_close(means: Any) -> Any:
        arithmetic, harmonic = means
        return np.trace(arithmetic) - np.trace(harmonic) < CLOSE * np.trace(arithmetic)

    mean, _ = wd.kernels.repeat(ROUNDS, closer, (A / both, scaled / share), until=are_close)
    return np.sqrt(share) * both * mean

"""Small symmetric linear systems over any scalar.

H is symmetric and positive definite; only its lower triangle and diagonal are read. Eliminating the
last row first keeps the zeros that branches leave in a mass matrix (RBDA section 6.5). On symbols
these zeros then cost nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .scalar import Scalar, select_less


@dataclass(frozen=True)
class Factors:
    """The factors of H = Lᵀ D L: `L` unit lower triangular (entries on and above the diagonal are
    not used), and 1 / D."""

    L: list[list[Scalar]]
    reciprocal: list[Scalar]

    @property
    def rows_of_coordinates(self) -> Sequence[int]:
        """The row of each coordinate: all rows."""
        return range(len(self.reciprocal))

    @property
    def signs(self) -> list[float]:
        """The signs of D: 1, because H is positive definite."""
        return [1.0] * len(self.reciprocal)

    def solve_transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x = L⁻ᵀ b."""
        x = list(b)
        for i in reversed(range(len(x))):
            for k in reversed(range(i + 1, len(x))):
                x[i] = x[i] - self.L[k][i] * x[k]
        return x

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x = L⁻¹ b."""
        x = list(b)
        for k in range(len(x)):
            for i in range(k):
                x[k] = x[k] - self.L[k][i] * x[i]
        return x

    def divide_by_diagonal(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The product x = D⁻¹ b."""
        return [value * r for value, r in zip(b, self.reciprocal, strict=True)]

    def softness(self, k: int) -> Scalar:
        """Compliance of a stop of coordinate k, in addition to its response: zero."""
        return 0.0

    def inverse(self) -> list[list[Scalar]]:
        """The rows of L⁻¹, each up to its diagonal: zero except at the ancestors of its row."""
        rows: list[list[Scalar]] = []
        for i, of_L in enumerate(self.L):
            row: list[Scalar] = [*[0.0] * i, 1.0]
            for j in range(i):
                for k in range(j, i):
                    row[j] = row[j] - of_L[k] * rows[k][j]
            rows.append(row)
        return rows

    def inverse_times(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The solution x of H x = b: x = L⁻¹ D⁻¹ L⁻ᵀ b."""
        return self.solve(self.divide_by_diagonal(self.solve_transposed(b)))


SHARE, LEAST = 1e-6, 1e-9
"""Added to the diagonal of a matrix that may be singular: a share of each entry, and a least
number."""

SMALL_SHARE, SMALL_LEAST = 1e-10, 1e-13
"""The same two numbers in double precision, for solutions that must be accurate even if the matrix
is close to a singular one."""


def factorise(
    H: Sequence[Sequence[Scalar]], redundant: Collection[int] = (), share_in_double: float = SHARE
) -> Factors:
    """The factors of H = Lᵀ D L, computed from the last row up (RBDA table 6.3).

    `redundant`: rows that may be linearly dependent. A sequence of such rows is a run. After all
    rows behind a run are eliminated, its diagonal grows by the share `SHARE`, or by
    `share_in_double` in double precision.
    """
    n = len(H)
    L = [list(row) for row in H]
    reciprocal: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        if k in redundant and k + 1 not in redundant:
            i = k
            while i in redundant:
                L[i][i] = L[i][i] * (1.0 + _by_precision(L[i][i], share_in_double, SHARE))
                i -= 1
        reciprocal[k] = 1.0 / L[k][k]
        factor = [L[k][i] * reciprocal[k] for i in range(k)]
        for i in range(k):
            for j in range(i + 1):
                L[i][j] = L[i][j] - factor[i] * L[k][j]
        L[k][:k] = factor
    return Factors(L, reciprocal)


def _by_precision(x: Scalar, in_double: float, otherwise: float) -> Scalar:
    """`in_double` if x has double precision, else `otherwise`. In single precision the product
    rounds to the square, so the comparison fails."""
    if in_double == otherwise:
        return otherwise
    square = x * x
    return select_less(square, square * (1.0 + SMALL_SHARE), in_double, otherwise)


def factorise_redundant(
    G: Sequence[Sequence[Scalar]], share_in_double: float = SHARE, least_in_double: float = LEAST
) -> Factors:
    """The factors of G = J H⁻¹ Jᵀ with a small share added to its diagonal, because rows of J may be
    redundant."""
    shifted = [list(row) for row in G]
    for k, row in enumerate(shifted):
        row[k] = row[k] + _by_precision(row[k], least_in_double, LEAST)
    return factorise(shifted, range(len(shifted)), share_in_double)


def solve_redundant(G: Sequence[Sequence[Scalar]], b: Sequence[Scalar], turns: int) -> list[Scalar]:
    """A solution x of G x = b, for a matrix that may be singular and a b in its range.

    Each turn after the first reduces the error of the shifted diagonal by its share: the proximal
    iteration of Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained
    dynamic equations, RSS 2021.
    """
    factors = factorise_redundant(G, SMALL_SHARE, SMALL_LEAST)
    x = factors.inverse_times(b)
    for _ in range(turns - 1):
        left = [y - dot(row, x) for y, row in zip(b, G, strict=True)]
        x = [a + d for a, d in zip(x, factors.inverse_times(left), strict=True)]
    return x


def solve_symmetric(H: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """The solution x of H x = b."""
    return factorise(H).inverse_times(b)


def inverse_symmetric(H: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The inverse H⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ, each entry computed once.

    Row i of L⁻¹ is zero except at the ancestors of i, so an entry is a sum over the ancestors that
    i and j share.
    """
    n, factors = len(H), factorise(H)
    rows = factors.inverse()
    inverse: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i, row in enumerate(rows):
        weighted = [x * r for x, r in zip(row, factors.reciprocal, strict=False)]
        for j in range(i + 1):
            entry: Scalar = 0.0
            for k in range(j + 1):
                entry = entry + weighted[k] * rows[j][k]
            inverse[i][j] = inverse[j][i] = entry
    return inverse


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of a_i b_i."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def add(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Sums a_i + b_i."""
    return [x + y for x, y in zip(a, b, strict=True)]


def transpose(rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The columns of a matrix."""
    return [list(column) for column in zip(*rows, strict=True)]

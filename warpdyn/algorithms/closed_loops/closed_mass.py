"""Mass matrix and equations of closed loops as one matrix, which is factorised once.

    K = | M   -Jᵀ |    K | x | = | b |    M x - Jᵀ f = b,   J x = c
        | -J   0  |      | f |   | -c |

The equations of a loop are eliminated after the coordinates that they contain, and before those that
carry the loop. Loops of different branches then have no entries in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...algebra.constant_values import as_constants
from ...algebra.linear import LEAST, SHARE, Factors, factorise
from ...algebra.scalar import Scalar, is_zero, minimum

SOFT = 1e-4
"""Softness of stops in closed loops, relative to the response of the joint in the open tree."""


@dataclass(frozen=True)
class ClosedMass(Factors):
    """Factors of K, whose rows are coordinates and equations in the order of elimination.

    It has the methods of the factors of M: `solve_transposed` takes nv numbers, and `solve` returns
    nv. Vectors between the two have the length of K.

    `coordinates`: the row of K of each coordinate. `equations`: the row of each equation.
    """

    coordinates: Sequence[int]
    equations: Sequence[int]

    @classmethod
    def of(
        cls,
        M: Sequence[Sequence[Scalar]],
        J: Sequence[Sequence[Scalar]],
        share_in_double: float = SHARE,
    ) -> ClosedMass:
        """The factors for a mass matrix, whose lower triangle is read, and rows J that may be
        redundant, with the share of `factorise`."""
        nv = len(M)
        first = [next(k for k in range(nv) if not is_zero(row[k])) for row in J]
        order = sorted([(k, 1, k) for k in range(nv)] + [(k, 0, e) for e, k in enumerate(first)])
        index = {(kind, number): row for row, (_, kind, number) in enumerate(order)}
        coordinates = [index[1, k] for k in range(nv)]
        equations = [index[0, e] for e in range(len(J))]
        K: list[list[Scalar]] = [[0.0] * len(order) for _ in order]
        for k in range(nv):
            for i in range(k + 1):
                K[coordinates[k]][coordinates[i]] = M[k][i]
        least = _least_response(M, J)
        for e, row in zip(equations, J, strict=True):
            K[e][e] = -least
            for k, x in zip(coordinates, row, strict=True):
                if not is_zero(x):
                    K[k][e] = -x
        factors = factorise(K, frozenset(equations), share_in_double)
        return cls(factors.L, factors.reciprocal, coordinates, equations)

    @property
    def rows_of_coordinates(self) -> Sequence[int]:
        """The row of K of each coordinate."""
        return self.coordinates

    @property
    def signs(self) -> list[float]:
        """The signs of D: -1 for the equations."""
        return [-1.0 if k in self.equations else 1.0 for k in range(len(self.reciprocal))]

    def as_constants(self) -> ClosedMass:
        """The same factors without derivatives."""
        L = [as_constants(row) for row in self.L]
        return replace(self, L=L, reciprocal=as_constants(self.reciprocal))

    def softness(self, k: int) -> Scalar:
        """A share of the response of coordinate k in the open tree. Loops may hold a joint still
        beyond its limit, and a rigid stop would then tear them open."""
        return self.reciprocal[self.coordinates[k]] * SOFT

    def solve_transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L⁻ᵀ of a row of coordinates, as long as K."""
        return super().solve_transposed(self._vector(b, [0.0] * len(self.equations)))

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L⁻¹ b of the coordinates."""
        return self._parts(b)[0]

    def forces(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L⁻¹ b of the equations."""
        return self._parts(b)[1]

    def solution(
        self, b: Sequence[Scalar], c: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """The x and f with M x - Jᵀ f = b and J x = c. Redundant equations share their forces."""
        y = super().solve_transposed(self._vector(b, [-x for x in c]))
        return self._parts(self.divide_by_diagonal(y))

    def _vector(self, b: Sequence[Scalar], c: Sequence[Scalar]) -> list[Scalar]:
        x: list[Scalar] = [0.0] * len(self.reciprocal)
        for k, value in zip((*self.coordinates, *self.equations), (*b, *c), strict=True):
            x[k] = value
        return x

    def _parts(self, b: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        x = super().solve(b)
        return [x[k] for k in self.coordinates], [x[k] for k in self.equations]


def _least_response(M: Sequence[Sequence[Scalar]], J: Sequence[Sequence[Scalar]]) -> Scalar:
    """A small number that is added to the response J M⁻¹ Jᵀ of each row, so that a row of zeros has a
    response. It is `LEAST` times the mean response, estimated with the diagonal of M, and at most
    `LEAST`, because the responses of heavy robots are small."""
    inverse = [1.0 / M[k][k] for k in range(len(M))]
    responses = [x * x * inverse[k] for row in J for k, x in enumerate(row) if not is_zero(x)]
    mean = sum(responses, 0.0) * (1.0 / max(len(J), 1))
    return minimum(mean, 1.0) * LEAST

"""Split of joint motions and torques into those of a frame and those that leave it at rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .matrix_factors import (
    UnitFactors,
    congruent,
    dot,
    factorise,
    matrix,
    solve_upper,
    solve_upper_transposed,
)
from .mean_damping import geometric_mean

HEAVIEST = 10.0
"""Largest inertia of the frame, as a multiple of the robot's mass. Beyond it, where the arm is
almost singular, the inverse of its mobility is damped."""


class Columns(NamedTuple):
    """Columns of a matrix, made orthogonal: A = P R."""

    P: list[Any]
    """Columns (m,), orthogonal to each other."""
    squares: list[Any]
    """Their squared lengths."""
    R: Any
    """Unit upper triangular (k, k)."""


class FrameSplit:
    """The inertia Λ of a frame and its null space, without the inverse of J M⁻¹ Jᵀ.

    That inverse has the square of the condition of its factor, and it enlarges rounding near
    singular poses by five digits. Here M = L D Lᵀ gives joint velocities v coordinates
    y = D½ Lᵀ v, in which the kinetic energy is ½ yᵀ y, and joint torques the coordinates D-½ L⁻¹ tau.
    A = D-½ L⁻¹ Jᵀ has the forces of the frame in its columns. They are made orthogonal, A = P R, so that
    Jᵀ Λ J v is the part of y along P.

    Use J in the axes of the frame. There the columns of the last joints are constant, and the light
    last links do not disturb the others by their rounding.
    """

    def __init__(self, M: Any, J: Any, heaviest: Any) -> None:
        """M: mass matrix (n, n) [kg m²]. J: Jacobian (6, n), linear rows first. heaviest: the inertia
        of the frame [kg] beyond which it is damped.

        From there the damping grows quadratically from zero, as in Nakamura and Hanafusa, Inverse
        Kinematic Solutions With Singularity Robustness, J. Dynamic Systems, Measurement and Control
        108 (1986).
        """
        self._M: UnitFactors = factorise(M)
        self._roots = np.sqrt(self._M.d)
        # Angular columns come first: they are the long ones, and the order keeps the others exact.
        A = solve_upper(self._M.L, _angular_first(J).T) / self._roots[:, None]
        columns = [A[:, k] for k in range(6)]
        least = 1.0 / heaviest
        lacks = np.clip(1.0 - _lightness(columns) / least, 0.0, 1.0)
        damper = np.sqrt(least) * lacks * np.eye(6)
        damped = [np.concatenate([x, damper[k]]) for k, x in enumerate(columns)]
        self._damped = orthogonalise(damped, 1e-30)
        self._n = M.shape[0]

    def parts(self, y: Any) -> tuple[Any, Any]:
        """The coordinates of y (n,) along the columns (6,), and its part orthogonal to them (n,)."""
        P, squares, _ = self._damped
        rest = np.concatenate([y, np.zeros(6)])
        along = []
        for p, square in zip(P, squares, strict=True):
            along.append(dot(p, rest) / square)
            rest = rest - along[-1] * p
        # Once more in reverse order: Björck and Paige, Loss and Recapture of Orthogonality in the
        # Modified Gram-Schmidt Algorithm, SIAM J. Matrix Analysis 13 (1992).
        for p, square in zip(reversed(P), reversed(squares), strict=True):
            rest = rest - (dot(p, rest) / square) * p
        return np.stack(along), rest[: self._n]

    def velocity(self, v: Any) -> Any:
        """y of joint velocities v (n,)."""
        return self._roots * (self._M.L.T @ v)

    def free_velocity(self, rest: Any) -> Any:
        """Joint velocities (n,) of the part of y that leaves the frame at rest: Nᵀ v."""
        return solve_upper_transposed(self._M.L, rest / self._roots)

    def free_torque(self, torque: Any) -> Any:
        """The part N torque of joint torques (n,) that does not accelerate the frame, in the
        coordinates of torques."""
        return self.parts(solve_upper(self._M.L, torque) / self._roots)[1]

    def torques(self, coordinates: Any) -> Any:
        """Joint torques (n,) from their coordinates."""
        return self._M.L @ (self._roots * coordinates)

    def damping(self, K: Any, ratio: Any, along: Any) -> Any:
        """Coordinates of the torques Jᵀ D J v, for the part of y along the columns (6,).

        K: stiffness (6, 6) in the axes of J, linear first. D = 2 ratio Λ # K gives each mode the
        damping ratio `ratio` (see `damping_by_ratio`).
        """
        _, lengths, R = self._damped
        K = _angular_first(_angular_first(K).T)
        squares = np.stack(lengths)
        D = geometric_mean(np.diag(1.0 / squares), congruent(R, K))
        return self._across(2.0 * ratio * (D @ (squares * along)))

    def inertial(self, acceleration: Any) -> Any:
        """Coordinates of the torques Jᵀ Λ a for an acceleration of the frame (6,), linear first."""
        _, squares, R = self._damped
        return self._across(
            solve_upper_transposed(R, _angular_first(acceleration)) / np.stack(squares)
        )

    def _across(self, weights: Any) -> Any:
        """The sum of the columns with these weights, in the coordinates of torques."""
        total = weights[0] * self._damped.P[0]
        for k in range(1, 6):
            total = total + weights[k] * self._damped.P[k]
        return total[: self._n]


def orthogonalise(columns: list[Any], tiny: Any) -> Columns:
    """Orthogonal columns (m,) of the same space, by the modified Gram-Schmidt method.

    tiny: added to the squared lengths, so that a column without a direction of its own is none.
    """
    columns, k = list(columns), len(columns)
    R = [[1.0 if i == j else 0.0 for j in range(k)] for i in range(k)]
    squares = []
    for i in range(k):
        squares.append(dot(columns[i], columns[i]) + tiny)
        for j in range(i + 1, k):
            R[i][j] = dot(columns[i], columns[j]) / squares[i]
            columns[j] = columns[j] - R[i][j] * columns[i]
    return Columns(columns, squares, matrix(R))


def _lightness(columns: list[Any]) -> Any:
    """1 / trace Λ, for Λ⁻¹ = Aᵀ A of these columns."""
    total = sum(dot(x, x) for x in columns)
    _, squares, R = orthogonalise(columns, 1e-12 * total + 1e-30)
    inverse = solve_upper(R, np.eye(6))
    lengths = [dot(inverse[:, k], inverse[:, k]) / square for k, square in enumerate(squares)]
    return 1.0 / sum(lengths)


def _angular_first(x: Any) -> Any:
    return np.concatenate([x[3:], x[:3]])

"""Derivatives by the implicit rule, for a call that solves a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...algebra.linear import solve_symmetric
from ...algebra.scalar import Scalar
from ...recording.differentiation import pullback, pushforward
from .inputs import Nested
from .named_values import by_name, flat_of


class SolvedEquation(NamedTuple):
    """An equation `residual = right` at its solution."""

    inputs: Mapping[str, Nested]
    """The values that the residual depends on, by name, with the unknown in place of the right side."""
    residual: list[Scalar]
    matrix: Nested
    """Derivative of the residual by the unknown, symmetric."""
    right: str
    """Name of the right side among the arguments of the call."""


def solution_vjp(
    equation: SolvedEquation, wrt: Sequence[str], cotangent: Nested
) -> dict[str, Nested]:
    """Adjoint by the implicit rule: with multipliers l = matrix⁻ᵀ w, l for the right side and -(d
    residual)ᵀ l for all other inputs."""
    at, residual, matrix, right = equation
    multipliers = solve_symmetric(matrix, cotangent)
    others = [name for name in wrt if name != right]
    bars = pullback(flat_of(at, others), residual, [-x for x in multipliers])
    named = {right: multipliers, **by_name(bars, at, others)}
    return {name: named[name] for name in wrt}


def solution_jvp(
    equation: SolvedEquation, wrt: Sequence[str], tangents: Mapping[str, Nested]
) -> Nested:
    """Tangent by the implicit rule: matrix⁻¹ (d right - d residual)."""
    at, residual, matrix, right = equation
    others = [name for name in wrt if name != right]
    moved = pushforward(flat_of(at, others), flat_of(tangents, others), residual)
    ahead = tangents.get(right, [0.0] * len(moved))
    return solve_symmetric(matrix, [t - r for t, r in zip(ahead, moved, strict=True)])

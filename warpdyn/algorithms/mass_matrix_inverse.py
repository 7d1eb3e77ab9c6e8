"""The inverse of the joint-space inertia matrix, and systems with it."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.linear import inverse_symmetric, solve_symmetric
from ..algebra.scalar import Scalar
from ..model.tree import Tree
from .aba import articulated
from .crba import crba
from .passive_forces import without_effects
from .rnea import rnea


def mass_matrix_inverse(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """M(q)⁻¹, nv by nv: composite inertias, factorised from the leaves up (RBDA sections 6.2 and 6.5)."""
    return inverse_symmetric(crba(tree, q))


def solve(tree: Tree, q: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """x with M(q) x = b, by M = Lᵀ D L (RBDA table 6.3)."""
    return solve_symmetric(crba(tree, q), b)


def solve_articulated(tree: Tree, q: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The same x as the acceleration that forces b give the robot at rest in free fall, by articulated bodies."""
    return articulated(tree, q, [0.0] * tree.nv, b, (0.0, 0.0, 0.0), {})


def product(tree: Tree, q: Sequence[Scalar], x: Sequence[Scalar]) -> list[Scalar]:
    """M(q) x, the forces that accelerate the robot at rest in free fall by x."""
    return rnea(without_effects(tree), q, [0.0] * tree.nv, x, (0.0, 0.0, 0.0), {})

"""The inverse of the joint-space inertia matrix, and systems with it."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.linear import inverse_symmetric, solve_symmetric
from ..algebra.scalar import Scalar
from ..model.tree import Tree
from .aba import articulated_accelerations
from .crba import crba
from .passive_forces import without_passive_forces
from .rnea import rnea


def mass_matrix_inverse(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Inverse of the joint-space inertia matrix, M(q)⁻¹, both triangles.

    q: nq [m, rad].  Returns nv by nv.
    Composite inertias, factorised from the leaves up (RBDA sections 6.2 and 6.5).
    """
    return inverse_symmetric(crba(tree, q))


def solve(tree: Tree, q: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of M(q) x = b, by M = Lᵀ D L.

    b: nv [N, N·m].  Returns nv [m/s², rad/s²].  RBDA table 6.3.
    """
    return solve_symmetric(crba(tree, q), b)


def solve_articulated(tree: Tree, q: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of M(q) x = b, the acceleration that b gives the robot at rest in free fall.

    By articulated bodies (RBDA table 7.1); not for robots whose joints share coordinates.
    """
    return articulated_accelerations(tree, q, [0.0] * tree.nv, b, (0.0, 0.0, 0.0), {})


def product(tree: Tree, q: Sequence[Scalar], x: Sequence[Scalar]) -> list[Scalar]:
    """Product M(q) x, the joint forces that accelerate the robot at rest in free fall by x."""
    return rnea(without_passive_forces(tree), q, [0.0] * tree.nv, x, (0.0, 0.0, 0.0), {})

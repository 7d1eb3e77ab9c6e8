"""Joint-space inertia matrix: the composite-rigid-body algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO_INERTIA, Inertia, Placement
from ..model.tree import WORLD, Tree
from .long_chains.chain_rows import is_long_chain
from .long_chains.crba_in_sweeps import crba_in_sweeps
from .tendon_forces import tendon_inertia


def crba(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Joint-space inertia matrix M(q), both triangles.

    q: nq [m, rad].  Returns nv by nv [kg, kg·m, kg·m²].
    Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.2.
    """
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for row, column, x in tendon_inertia(tree):
        M[row][column] = M[row][column] + x
    if is_long_chain(tree):
        for row, column, x in crba_in_sweeps(tree, q):
            M[row][column] = M[row][column] + x
            M[column][row] = M[row][column]
        for body in tree.bodies:
            for k, _ in body.subspace:
                M[k][k] = M[k][k] + body.rotor_inertia
        return M

    X: dict[int, Placement] = {}
    inertia: dict[int, Inertia] = {WORLD: ZERO_INERTIA}
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        inertia[i] = body.inertia

    for i, body in reversed(list(enumerate(tree.bodies))):
        inertia[body.parent] = inertia[body.parent] + X[i].inertia_to_parent(inertia[i])
        for k, S in body.subspace:
            M[k][k] = M[k][k] + body.rotor_inertia
            F = inertia[i] @ S
            for other, S_other in body.subspace:
                M[other][k] = M[other][k] + S_other.dot(F)
            below = i
            for j in tree.ancestors(i):
                F, below = X[below].force_to_parent(F), j
                # Unlike in the book, entries are added up and not set: two joints may share a
                # coordinate (mimic), and a pair of bodies on one branch then counts twice in one
                # entry, as M = Gᵀ M_full G requires.
                for column, S_ancestor in tree.bodies[j].subspace:
                    entry = S_ancestor.dot(F)
                    M[column][k] = M[column][k] + entry
                    M[k][column] = M[k][column] + entry
    return M

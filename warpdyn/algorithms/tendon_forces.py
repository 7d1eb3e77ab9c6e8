"""Contributions of fixed tendons to the mass matrix and to joint forces.

A tendon of length L = c · q has the Jacobian c: its armature m is m c cᵀ in the mass matrix, its
force f is f c on the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..algebra.scalar import Scalar, maximum, minimum, select_less
from ..model.tree import Cable, Tree

Entry = tuple[int, int, Scalar]


def tendon_inertia(tree: Tree) -> Iterator[Entry]:
    """Entries of armature c cᵀ by row and column of the mass matrix [kg, kg·m, kg·m²]."""
    for cable in tree.cables:
        if cable.armature:
            for i, _, c in cable.columns:
                for j, _, d in cable.columns:
                    yield i, j, cable.armature * c * d


def tendon_forces(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]
) -> Iterator[tuple[int, Scalar]]:
    """Index in v and joint force required by springs and dampers of tendons: c (k (L - slack) + b c
    · v) [N, N·m]."""
    for cable in tree.cables:
        spring, damping = cable.effects.spring, cable.effects.viscous
        force = _stretch(cable, q) * spring + cable.rate(v) * damping
        for k, _, c in cable.columns:
            yield k, force * c


def tendon_force_derivatives(
    tree: Tree, q: Sequence[Scalar]
) -> Iterator[tuple[int, int, Scalar, Scalar]]:
    """Row, column, and derivatives of these forces with respect to q and v."""
    for cable in tree.cables:
        spring, damping = cable.effects.spring, cable.effects.viscous
        low, high = cable.slack
        taut: Scalar = 1.0
        if low != high:
            length = cable.length(q)
            taut = select_less(length, low, 1.0, select_less(high, length, 1.0, 0.0))
        for i, _, c in cable.columns:
            for j, _, d in cable.columns:
                yield i, j, taut * (spring * c * d), damping * c * d


def _stretch(cable: Cable, q: Sequence[Scalar]) -> Scalar:
    """Length of a tendon beyond the range in which it is slack."""
    low, high = cable.slack
    length = cable.length(q)
    if low == high:
        return length - low
    return minimum(length - low, 0.0) + maximum(length - high, 0.0)

"""Configurations whose loops are closed, by Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.linear import dot, factorise_redundant
from ...algebra.scalar import Scalar, minimum, repeat, rsqrt
from ...model.tree import Tree
from ..manifold import integrate
from .loop_equations import LoopRows

LONGEST = 0.5
"""Length of the longest step [rad, m]: the equations are nearly linear over it."""

SMALL = 1e-30
"""Added to the square of a step's length, which may be zero."""


def loop_closure(tree: Tree, q: Sequence[Scalar], moved: Sequence[int], steps: int) -> list[Scalar]:
    """The configuration after the steps, nq.

    moved: coordinates of v that may change. Each step is the shortest one that closes the loops to
    first order: d = -Jᵀ (J Jᵀ)⁻¹ r.
    """

    def step(now: list[Scalar]) -> list[Scalar]:
        loops = LoopRows.at(tree, now)
        J = [[row[k] for k in moved] for row in loops.J]
        G = [[dot(one, other) for other in J] for one in J]
        pull = factorise_redundant(G).inverse_times([-r for r in loops.errors])
        d = [dot(column, pull) for column in zip(*J, strict=True)]
        share = minimum(rsqrt(dot(d, d) + SMALL) * LONGEST, 1.0)
        way: list[Scalar] = [0.0] * tree.nv
        for k, x in zip(moved, d, strict=True):
            way[k] = x * share
        return integrate(tree, now, way)

    return repeat(step, list(q), steps) if tree.loops else list(q)

"""Configurations whose loops are closed, by Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.linear import add, dot, factorise_redundant
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
        return closing_step(tree, now, moved, LONGEST)

    return repeat(step, list(q), steps) if tree.loops else list(q)


def closing_step(
    tree: Tree, q: Sequence[Scalar], moved: Sequence[int], longest: float
) -> list[Scalar]:
    """The configuration after one step, of at most the length `longest` [rad, m]."""
    loops = LoopRows.at(tree, q)
    J = [[row[k] for k in moved] for row in loops.J]
    d = _shortest(J, [-r for r in loops.errors])
    share = minimum(rsqrt(dot(d, d) + SMALL) * longest, 1.0)
    way: list[Scalar] = [0.0] * tree.nv
    for k, x in zip(moved, d, strict=True):
        way[k] = x * share
    return integrate(tree, q, way)


def closed_velocities(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """The velocities nearest to v that keep the loops closed: J v = 0."""
    J = LoopRows.at(tree, q).J
    return add(v, _shortest(J, [-dot(row, v) for row in J]))


def _shortest(J: Sequence[Sequence[Scalar]], wanted: Sequence[Scalar]) -> list[Scalar]:
    """The shortest d with J d = wanted."""
    G = [[dot(one, other) for other in J] for one in J]
    pull = factorise_redundant(G).inverse_times(wanted)
    return [dot(column, pull) for column in zip(*J, strict=True)]

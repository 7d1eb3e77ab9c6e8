"""Closed loops in a step: their equations as rows of velocities, solved exactly and eliminated.

The loops are one block. It is solved before the sweeps, and the mass matrix is then that of the
closed mechanism: contacts, stops and dry friction push a robot whose loops stay closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.linear import Factors, factorise_redundant
from ...algebra.scalar import Scalar, is_zero, maximum, minimum
from ...model.tree import Tree
from ..closed_loops.loop_equations import LoopRows
from .constraint_sweeps import ConstraintRows, rows_of, sparse_dot

RETURN = 1.0
"""Largest speed at which an open loop closes [m/s, rad/s]; the gap that a step leaves is gone after
the next one."""


@dataclass(frozen=True)
class ClosedMechanism:
    """A robot whose loops are closed, within one step.

    `velocities`: v_free after the loops' impulses, without those of contacts. `of_loops`: these
    impulses by row. `mass`: the factors with which rows see the closed mechanism.
    """

    loops: LoopRows
    velocities: list[Scalar]
    of_loops: list[Scalar]
    mass: MassOnLoops

    def impulses(self, pushed: Sequence[Scalar]) -> list[Scalar]:
        """Impulses of the loops as forces and moments in the world's axes, six for each loop [N s,
        N m s], after all other constraints pushed the coordinates by Jᵀ l = `pushed`, if any."""
        total = list(self.of_loops)
        if pushed:
            total = [t - x for t, x in zip(total, self.mass.share(pushed), strict=True)]
        return [x for force in self.loops.forces(total) for x in force]


@dataclass(frozen=True)
class MassOnLoops(Factors):
    """Factors of M^ that give constraint rows the responses of the closed mechanism.

    An impulse on a row J_c also changes the loops' impulses, by -G⁻¹ G_ec, so that
    Y_c' = Y_c - Y_e G⁻¹ G_ec.
    """

    loops: ConstraintRows
    G: Factors

    def solve_transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """Y_c' of a row b."""
        y = super().solve_transposed(b)
        for row, k in zip(self.loops.Y, self.share(b), strict=True):
            if not is_zero(k):
                y = [a if is_zero(e) else a - e * k for a, e in zip(y, row, strict=True)]
        return y

    def share(self, b: Sequence[Scalar]) -> list[Scalar]:
        """G⁻¹ G_ec of a row b."""
        y = super().solve_transposed(b)
        return self.G.inverse_times([sparse_dot(z, y) for z in self.loops.Z])


def close_loops(
    tree: Tree, q: Sequence[Scalar], mass: Factors, free: Sequence[Scalar], h: float
) -> ClosedMechanism:
    """Solve the block of all loops: G l = -r / h - J v_free,  v = v_free + M^⁻¹ Jᵀ l.

    Its G has a small share on the diagonal, because rows may be redundant.
    """
    loops = LoopRows.at(tree, q)
    rows = rows_of(loops.J, mass)
    G = factorise_redundant(rows.G)
    speeds = (maximum(minimum(r * (1.0 / h), RETURN), -RETURN) for r in loops.errors)
    wanted = [-x - now for x, now in zip(speeds, rows.of(free), strict=True)]
    impulses = G.inverse_times(wanted)
    change = mass.solve(rows.on_coordinates(impulses))
    closed = [v + dv for v, dv in zip(free, change, strict=True)]
    on_loops = MassOnLoops(mass.L, mass.reciprocal, rows, G)
    return ClosedMechanism(loops, closed, impulses, on_loops)

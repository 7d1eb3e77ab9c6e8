"""Closed loops in a step: their equations as rows of velocities, solved exactly and eliminated.

The loops are one block. It is solved before the sweeps, and the mass matrix is then that of the
closed mechanism: contacts, stops and dry friction push a robot whose loops stay closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.scalar import Scalar, maximum, minimum
from ...model.tree import Tree
from ..closed_loops.closed_mass import ClosedMass
from ..closed_loops.loop_equations import LoopRows
from .constraint_sweeps import sparse_dot

RETURN = 1.0
"""Largest speed at which an open loop closes [m/s, rad/s]; the error of one step is removed by the
next one."""


@dataclass(frozen=True)
class ClosedMechanism:
    """A robot whose loops are closed, within one step.

    `velocities`: those after joint forces and the loops' impulses, without those of contacts.
    `of_loops`: these impulses by row. `mass`: the factors with which rows see the closed mechanism.
    """

    loops: LoopRows
    velocities: list[Scalar]
    of_loops: list[Scalar]
    mass: ClosedMass

    def impulses(self, reaction: Sequence[Scalar]) -> list[Scalar]:
        """Impulses of the loops as forces and moments in the world's axes, six for each loop [N s,
        N m s], after the reaction s = Z l of all other constraints, if there are some."""
        total = self.of_loops
        if reaction:
            total = [x + dx for x, dx in zip(total, self.mass.forces(reaction), strict=True)]
        return [x for force in self.loops.forces(total) for x in force]


def close_loops(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    M: Sequence[Sequence[Scalar]],
    push: Sequence[Scalar],
    h: float,
) -> ClosedMechanism:
    """Solve the step of all coordinates and loops: M^ (v' - v) - Jᵀ l = h push,  J v' = -r / h."""
    loops = LoopRows.at(tree, q)
    J = loops.J
    mass = ClosedMass.of(M, J)
    speeds = (maximum(minimum(r * (1.0 / h), RETURN), -RETURN) for r in loops.errors)
    wanted = [-x - sparse_dot(row, v) for x, row in zip(speeds, J, strict=True)]
    change, impulses = mass.solution([p * h for p in push], wanted)
    closed = [x + dx for x, dx in zip(v, change, strict=True)]
    return ClosedMechanism(loops, closed, impulses, mass)

"""Dynamics of a robot with closed loops: accelerations, forces of the loops, and joint forces.

M a + h = tau + Jᵀ f,  J a = -dJ/dt v. RBDA section 8.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...algebra.linear import dot, solve_redundant
from ...algebra.scalar import Scalar
from ...model.tree import Tree
from ..crba import crba
from ..rnea import rnea
from .closed_mass import ClosedMass
from .loop_equations import LoopRows, loop_bias

TURNS = 3
"""Turns of the solution for the loops' forces, each of which reduces its error by a millionth."""


def loop_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Accelerations that the joint forces produce in the closed mechanism, nv, and the forces of the
    loops: force on the second end and moment, in the world's axes, six for each loop.

    M a - Jᵀ f = tau - h,  J a = -dJ/dt v. The turns after the first are those of a proximal
    iteration, which reduces the error that redundant equations leave.
    """
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    loops = LoopRows.at(tree, q)
    J, bias = loops.J, loops.rows_of(loop_bias(tree, q, v))
    mass = ClosedMass.of(crba(tree, q), J)
    a, f = mass.solution([t - b for t, b in zip(tau, h, strict=True)], [-b for b in bias])
    for _ in range(TURNS - 1):
        left = [-b - dot(row, a) for b, row in zip(bias, J, strict=True)]
        more = mass.solution([0.0] * tree.nv, left)
        a, f = (
            [x + dx for x, dx in zip(*each, strict=True)] for each in zip((a, f), more, strict=True)
        )
    return a, loops.forces(f)


def loop_inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    actuated: Sequence[int],
) -> list[Scalar]:
    """Joint forces that produce the acceleration in the closed mechanism, zero on coordinates that
    are not `actuated`: the loops' forces carry what these lack."""
    tau = rnea(tree, q, v, a, gravity, f_ext)
    J = LoopRows.at(tree, q).J
    passive = [k for k in range(tree.nv) if k not in actuated]
    J_passive = [[row[k] for k in passive] for row in J]
    G = [[dot(one, other) for other in J_passive] for one in J_passive]
    forces = solve_redundant(G, [dot(row, [tau[k] for k in passive]) for row in J_passive], TURNS)
    needed: list[Scalar] = [0.0] * tree.nv
    for k in actuated:
        needed[k] = tau[k] - dot([row[k] for row in J], forces)
    return needed

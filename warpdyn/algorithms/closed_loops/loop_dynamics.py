"""Dynamics of a robot with closed loops: accelerations, forces of the loops, and joint forces.

M a + h = tau + Jᵀ f,  J a = -dJ/dt v. RBDA section 8.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...algebra.linear import dot, factorise, solve_redundant
from ...algebra.scalar import Scalar
from ...model.tree import Tree
from ..crba import crba
from ..rnea import rnea
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

    G f = -(dJ/dt v + J a_free),  G = J M⁻¹ Jᵀ,  a = a_free + M⁻¹ Jᵀ f.
    """
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    mass = factorise(crba(tree, q))
    free = mass.inverse_times([t - b for t, b in zip(tau, h, strict=True)])
    loops = LoopRows.at(tree, q)
    J, bias = loops.J, loops.rows_of(loop_bias(tree, q, v))
    Y = [mass.solve_transposed(row) for row in J]
    Z = [mass.divide_by_diagonal(y) for y in Y]
    G = [[dot(z, y) for y in Y] for z in Z]
    wanted = [-b - dot(row, free) for b, row in zip(bias, J, strict=True)]
    forces = solve_redundant(G, wanted, TURNS)
    push: list[Scalar] = [0.0] * tree.nv
    for z, f in zip(Z, forces, strict=True):
        push = [s + e * f for s, e in zip(push, z, strict=True)]
    a = [x + dx for x, dx in zip(free, mass.solve(push), strict=True)]
    return a, loops.forces(forces)


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

"""Dynamics of a robot with closed loops: accelerations, forces of the loops, and joint forces.

M a + h = tau + Jᵀ f,  J a = -dJ/dt v. RBDA section 8.1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ...algebra.constant_values import as_constants
from ...algebra.linear import SMALL_SHARE, add, dot, solve_redundant
from ...algebra.scalar import Scalar, is_zero
from ...model.tree import WORLD, LoopEnd, Tree
from ..crba import crba
from ..rnea import rnea
from .closed_mass import ClosedMass
from .loop_equations import LoopRows, loop_bias

TURNS = 3
"""Turns of the solution for the loops' forces. Each reduces the error in a direction to the part that the
share of `factorise` has in its eigenvalue."""


def loop_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Accelerations of the closed mechanism under the joint forces, nv, and the forces of the
    loops: force on the second end and moment, in the world's axes, six for each loop.

    M a - Jᵀ f = tau - h,  J a = -dJ/dt v. The turns after the first are those of a proximal
    iteration, which reduces the error that redundant equations leave.
    """
    return _Solution.of(tree, q, v, tau, gravity, f_ext).results


def loop_dynamics_by_implicit_rule(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """The same results, from which first derivatives are recorded.

    The solution x of K x = b and its K are constants. The derivative of the correction of a further
    turn, K⁻¹ (b - K x), is then that of the solution: dx = K⁻¹ (db - dK x). The residual is that of
    inverse dynamics.
    """
    there = _Solution.of(tree, q, v, tau, gravity, f_ext)
    a, f = as_constants(there.a), as_constants(there.f)
    h = rnea(tree, q, v, a, gravity, f_ext)
    pushed = [dot(column, f) for column in zip(*there.J, strict=True)] or [0.0] * tree.nv
    left = [t - x + y for t, x, y in zip(tau, h, pushed, strict=True)]
    opening = [-b - dot(row, a) for b, row in zip(there.bias, there.J, strict=True)]
    mass, J = there.mass.as_constants(), [as_constants(row) for row in there.J]
    da, df = _in_turns(mass, J, left, opening, TURNS)
    return replace(there, a=add(a, da), f=add(f, df)).results


@dataclass(frozen=True)
class _Solution:
    """Accelerations `a` and forces `f` of the rows `J`, whose velocity terms are `bias`."""

    loops: LoopRows
    J: list[list[Scalar]]
    bias: list[Scalar]
    mass: ClosedMass
    a: list[Scalar]
    f: list[Scalar]

    @classmethod
    def of(
        cls,
        tree: Tree,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        tau: Sequence[Scalar],
        gravity: Sequence[Scalar],
        f_ext: Mapping[str, Sequence[Scalar]],
    ) -> _Solution:
        """The solution after all turns."""
        h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
        loops = LoopRows.at(tree, q)
        J, bias = loops.J, loops.rows_of(loop_bias(tree, q, v))
        mass = ClosedMass.of(crba(tree, q), J, SMALL_SHARE)
        push = [t - b for t, b in zip(tau, h, strict=True)]
        return cls(loops, J, bias, mass, *_in_turns(mass, J, push, [-b for b in bias], TURNS))

    @property
    def results(self) -> tuple[list[Scalar], list[list[Scalar]]]:
        """The accelerations, and the forces of each loop in the world's axes."""
        return self.a, self.loops.forces(self.f)


def _in_turns(
    mass: ClosedMass,
    J: Sequence[Sequence[Scalar]],
    b: Sequence[Scalar],
    c: Sequence[Scalar],
    turns: int,
) -> tuple[list[Scalar], list[Scalar]]:
    """The x and f with M x - Jᵀ f = b and J x = c. Each turn after the first solves for the rest of
    c: the proximal iteration of `solve_redundant`."""
    x, f = mass.solution(b, c)
    for _ in range(turns - 1):
        left = [y - dot(row, x) for y, row in zip(c, J, strict=True)]
        dx, df = mass.solution([0.0] * len(b), left)
        x, f = add(x, dx), add(f, df)
    return x, f


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
    are not `actuated`: the loops' forces replace them. Rods without a drive spin as they do without
    a torque, whatever `a` is."""
    tau = rnea(tree, q, v, a, gravity, f_ext)
    rods = free_rods(tree, actuated)
    M = crba(tree, q) if rods else []
    for columns, axis in rods:
        response = [dot([row[k] for k in columns], axis) for row in M]
        left = dot([tau[k] for k in columns], axis)
        turn = left * (1.0 / dot([response[k] for k in columns], axis))
        tau = [t - r * turn for t, r in zip(tau, response, strict=True)]
    J = LoopRows.at(tree, q).J
    passive = [k for k in range(tree.nv) if k not in actuated]
    J_passive = [[row[k] for k in passive] for row in J]
    G = [[dot(one, other) for other in J_passive] for one in J_passive]
    forces = solve_redundant(G, [dot(row, [tau[k] for k in passive]) for row in J_passive], TURNS)
    needed: list[Scalar] = [0.0] * tree.nv
    for k in actuated:
        needed[k] = tau[k] - dot([row[k] for row in J], forces)
    return needed


def free_rods(
    tree: Tree, actuated: Collection[int] = ()
) -> list[tuple[Sequence[int], tuple[Scalar, ...]]]:
    """Rods between two ball joints, the second of which is a connect, that carry nothing else and
    are not actuated: coordinates of v of each, and its axis in its own frame. It turns freely about
    this axis."""
    ends: dict[int, list[tuple[LoopEnd, int]]] = {}
    for loop in tree.loops:
        if loop.frames is not None:
            for end in (loop.frames.first, loop.frames.second):
                ends.setdefault(end.body, []).append((end, loop.frames.turns))
    carriers = {body.parent for body in tree.bodies}
    found: list[tuple[Sequence[int], tuple[Scalar, ...]]] = []
    for i, at in ends.items():
        if i == WORLD or i in carriers or len(at) > 1 or at[0][1]:
            continue
        body, axis = tree.bodies[i], tuple(at[0][0].placement.p)
        is_ball = body.kind.quaternion == 0
        is_driven = any(k in actuated for k in body.v_index)
        if is_ball and not is_driven and not all(map(is_zero, axis)):
            found.append((body.v_index, axis))
    return found

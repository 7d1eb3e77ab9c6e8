"""The Coriolis matrix in closed form."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.moving_inertia import AT_REST, MovingInertia
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO_MOTION, Motion, Placement
from ..model.tree import WORLD, Tree
from .free_rotors import free_rotor_matrix


def coriolis(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """Coriolis matrix C(q, v): C v are the velocity-product forces, and dM/dt = C + Cᵀ.

    q: nq [m, rad].  v: nv.  Returns nv by nv.
    C = sum over bodies of Jᵀ (I J̇ + B J), with B + Bᵀ the rate of I and Ṡ = v × S. The force I Ṡ +
    B S of each column and the row Bᵀ S climb the tree as I S does in the composite-rigid-body
    algorithm. This is the factorisation by Christoffel symbols (Echeandia and Wensing, ASME J.
    Computational and Nonlinear Dynamics 16, 2021, algorithm 1).
    """
    X: dict[int, Placement] = {}
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    moving: dict[int, MovingInertia] = {WORLD: AT_REST}
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        V[i] = X[i].motion_to_child(V[body.parent]) + body.motion(v)
        moving[i] = MovingInertia.of(body.inertia, V[i])

    C: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for i, body in reversed(list(enumerate(tree.bodies))):
        for k, S in body.subspace:
            # Twice the paper's force and couple, so that B need not be halved for each column:
            # constant subspaces are halved instead, while recording.
            momentum = moving[i].inertia @ S
            force = moving[i].inertia @ V[i].cross(S * 2.0) + moving[i].twice_B_times(S)
            couple = moving[i].twice_B_transposed_times(S)
            for row, S_row in body.subspace:
                C[row][k] = C[row][k] + (S_row * 0.5).dot(force)
            below = i
            for j in tree.ancestors(i):
                force, momentum = (X[below].force_to_parent(F) for F in (force, momentum))
                couple, below = X[below].R.to_parent(couple), j
                for other, S_other in tree.bodies[j].subspace:
                    C[other][k] = C[other][k] + (S_other * 0.5).dot(force)
                    C[k][other] = (
                        C[k][other]
                        + V[j].cross(S_other).dot(momentum)
                        + (S_other * 0.5).angular.dot(couple)
                    )
        if body.parent != WORLD:
            moving[body.parent] = moving[body.parent] + moving[i].to_parent(X[i])
    for row, column, entry in free_rotor_matrix(tree, v):
        C[row][column] = C[row][column] + entry
    return C

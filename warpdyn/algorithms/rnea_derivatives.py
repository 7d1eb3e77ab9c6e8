"""Derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.moving_inertia import AT_REST, MovingInertia
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, ZERO_FORCE, ZERO_MOTION, Force, Motion, Placement, Vector
from ..model.tree import WORLD, Tree
from .free_rotors import free_rotor_derivatives
from .orientation_springs import orientation_spring_derivatives
from .passive_forces import borne_weight, passive_force_derivatives
from .tendon_forces import tendon_force_derivatives, tendon_inertia

Rows = list[list[Scalar]]


def rnea_derivatives(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[Rows, Rows, Rows]:
    """Derivatives of inverse dynamics: d tau / dq, d tau / dv and d tau / da = M.

    q: nq [m, rad].  v, a: nv.  Returns three times nv by nv; by q over the tangent space.
    Singh, Russell and Wensing, Efficient analytical derivatives of rigid-body dynamics using
    spatial vector algebra, IEEE RA-L 7 (2022), equations 18 and 19; Carpentier and Mansard, RSS
    2018. Unlike in the papers every quantity stands in the frame of its body, where S is constant
    and mostly zero; the force that a joint's motion causes climbs the tree, as in the
    composite-rigid-body algorithm.
    """
    X: dict[int, Placement] = {}
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    A: dict[int, Motion] = {WORLD: Motion(-Vector(*gravity), ZERO)}
    f: dict[int, Force] = {WORLD: ZERO_FORCE}
    moving: dict[int, MovingInertia] = {WORLD: AT_REST}
    columns: dict[int, list[tuple[int, Motion, Motion, Motion, Motion]]] = {}
    outside = tree.on_bodies(f_ext)
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        V_carried, A_carried = (X[i].motion_to_child(m[body.parent]) for m in (V, A))
        vJ = body.motion(v)
        V[i] = V_carried + vJ
        A[i] = A_carried + body.motion(a) + V_carried.cross(vJ)
        columns[i] = []
        for k, S in body.subspace:
            # The papers' Ψ̇ and Ψ̈: the change of the carried velocity and acceleration as the
            # joint moves along S. S_both is Ψ̇ + Ṡ with Ṡ = v_i × S, which is Ψ̇ again if the joint
            # has one coordinate, as S × S = 0.
            dS = V_carried.cross(S)
            ddS = A_carried.cross(S) + V_carried.cross(dS)
            S_both = dS + (dS if body.kind.nv == 1 else V[i].cross(S))
            columns[i].append((k, S, dS, ddS, S_both))
        moving[i] = MovingInertia.of(body.inertia, V[i])
        f[i] = body.inertia @ A[i] + V[i].cross_force(moving[i].momentum) - outside[i]

    zeros: list[list[list[Scalar]]] = [[[0.0] * tree.nv for _ in range(tree.nv)] for _ in range(3)]
    dq, dv, M = zeros
    for i, body in reversed(list(enumerate(tree.bodies))):
        inertia, B_twice = moving[i].inertia, moving[i].twice_B_times
        for k, S, dS, ddS, S_both in columns[i]:
            by_a = inertia @ S
            by_v = B_twice(S) + inertia @ S_both
            by_q = B_twice(dS) + inertia @ ddS
            couple = moving[i].twice_B_transposed_times(S)
            M[k][k] = M[k][k] + body.rotor_inertia
            for j, S_j, *_ in columns[i]:
                M[j][k] = M[j][k] + S_j.dot(by_a)
                dv[j][k] = dv[j][k] + S_j.dot(by_v)
                dq[j][k] = dq[j][k] + S_j.dot(by_q)
            # For ancestors the force of everything beyond joint i turns with the joint. For joint i
            # it does not, because its subspace turns too.
            by_q = by_q + S.cross_force(f[i])
            below = i
            for b in tree.ancestors(i):
                by_a, by_v, by_q = (X[below].force_to_parent(F) for F in (by_a, by_v, by_q))
                couple, below = X[below].R.to_parent(couple), b
                for j, S_j, dS_j, ddS_j, S_both_j in columns[b]:
                    inertial = S_j.dot(by_a)
                    M[j][k] = M[j][k] + inertial
                    M[k][j] = M[k][j] + inertial
                    dv[j][k] = dv[j][k] + S_j.dot(by_v)
                    dq[j][k] = dq[j][k] + S_j.dot(by_q)
                    dv[k][j] = dv[k][j] + S_j.angular.dot(couple) + S_both_j.dot(by_a)
                    dq[k][j] = dq[k][j] + dS_j.angular.dot(couple) + ddS_j.dot(by_a)
        if body.parent != WORLD:
            moving[body.parent] = moving[body.parent] + moving[i].to_parent(X[i])
            f[body.parent] = f[body.parent] + X[i].force_to_parent(f[i])

    for k, passive_by_q, passive_by_v in passive_force_derivatives(tree, q, v):
        dq[k][k], dv[k][k] = dq[k][k] + passive_by_q, dv[k][k] + passive_by_v
    for row, column, x in tendon_inertia(tree):
        M[row][column] = M[row][column] + x
    for row, column, tendon_by_q, tendon_by_v in tendon_force_derivatives(tree, q):
        dq[row][column] = dq[row][column] + tendon_by_q
        dv[row][column] = dv[row][column] + tendon_by_v
    for row, column, x in orientation_spring_derivatives(tree, q):
        dq[row][column] = dq[row][column] + x
    for row, column, x in free_rotor_derivatives(tree, v):
        dv[row][column] = dv[row][column] + x
    lighter = borne_weight(tree)
    if lighter is not None:
        still: list[Scalar] = [0.0] * tree.nv
        borne, _, _ = rnea_derivatives(lighter, q, still, still, gravity, {})
        dq = [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(dq, borne, strict=True)]
    return dq, dv, M

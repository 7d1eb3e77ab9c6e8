"""Dynamics as a frame of the robot feels them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..linear import Factors, factorise, inverse_symmetric
from ..scalar import Scalar
from ..spatial import ZERO, ZERO_MOTION, Motion, Placement
from ..tree import HERE, Tree
from .crba import crba
from .jacobian import jacobian
from .rnea import rnea

Rows = list[list[Scalar]]


def operational_space(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    frame: str,
    reference: str,
) -> tuple[Rows, list[Scalar], Rows]:
    """Inertia Λ (6 by 6), bias force (6) and dynamically consistent inverse J̄ (nv by 6) of a frame.

    With A the rate of the frame's velocity J v, a force f on it gives Λ A + bias = f: Λ = (J M⁻¹ Jᵀ)⁻¹, J̄ = M⁻¹ Jᵀ Λ,
    bias = J̄ᵀ h - Λ J̇ v, h all that moving with zero acceleration takes.
    Khatib, IEEE J. Robotics and Automation RA-3 (1987), equations 49 to 51.
    """
    inertia, inverse = _of_frame(tree, q, frame, reference)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    A = frame_bias(tree, q, v, frame, reference)
    bias = [_dot(column, h) - _dot(row, A) for column, row in zip(inverse, inertia, strict=True)]
    return inertia, bias, _transposed(inverse)


def operational_space_inertia(tree: Tree, q: Sequence[Scalar], frame: str, reference: str) -> Rows:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, 6 by 6."""
    return _inertia(*_half(tree, q, frame, reference))


def dynamically_consistent_inverse(tree: Tree, q: Sequence[Scalar], frame: str, reference: str) -> Rows:
    """J̄ = M⁻¹ Jᵀ Λ, nv by 6: J J̄ = 1, and of all such inverses the one of least kinetic energy."""
    return _transposed(_of_frame(tree, q, frame, reference)[1])


def _half(tree: Tree, q: Sequence[Scalar], frame: str, reference: str) -> tuple[Factors, Rows]:
    """M = Lᵀ D L, and the columns of L⁻ᵀ Jᵀ."""
    factors = factorise(crba(tree, q))
    return factors, [factors.transposed_solve(row) for row in jacobian(tree, q, frame, reference)]


def _inertia(factors: Factors, half: Rows) -> Rows:
    mobility: Rows = [[0.0] * len(half) for _ in half]
    for i, row in enumerate(half):
        weighted = factors.scaled(row)
        for j in range(i + 1):
            mobility[i][j] = mobility[j][i] = _dot(weighted, half[j])
    return inverse_symmetric(mobility)


def _of_frame(tree: Tree, q: Sequence[Scalar], frame: str, reference: str) -> tuple[Rows, Rows]:
    """Λ and the rows of J̄ᵀ."""
    factors, half = _half(tree, q, frame, reference)
    inertia = _inertia(factors, half)
    columns = _transposed(half)
    combined = [[_dot(row, column) for column in columns] for row in inertia]
    return inertia, [factors.solve(factors.scaled(row)) for row in combined]


def frame_bias(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], frame: str, reference: str) -> list[Scalar]:
    """J̇ v, the rate of the frame's velocity J v where joints do not accelerate."""
    target = tree.frames[frame]
    X, V, A = HERE, ZERO_MOTION, ZERO_MOTION
    for i in tree.path(target.body):
        body = tree.bodies[i]
        step, vJ = body.placement(q), body.motion(v)
        X = X.compose(step).as_matrix()
        V = step.motion_to_child(V) + vJ
        A = step.motion_to_child(A) + V.cross(vJ)
    X = X.compose(target.placement).as_matrix()
    V, A = target.placement.motion_to_child(V), target.placement.motion_to_child(A)
    if reference == "world":
        A = X.motion_to_parent(A)
    elif reference == "local_world_aligned":
        A = Placement(X.R, ZERO).motion_to_parent(Motion(A.linear + V.angular.cross(V.linear), A.angular))
    return list(A)


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _transposed(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]

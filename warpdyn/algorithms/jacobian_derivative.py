"""Derivatives of a frame's Jacobian: by time, and by the configuration (the kinematic Hessian).

A column of J is a joint's motion subspace, constant in the axes of the body that the joint carries.
Let V be the motion of that body, and W the motion of the frame relative to that body, both in the
reference of J:

    local                   c' = c × W          the frame moves away from the column
    world                   c' = V × c          the column moves with its body
    local_world_aligned     c' = [ω_V × c_lin + c_ang × w_lin,  ω_V × c_ang]      both: about the
    moving origin

The operator × is that of RBDA 2.31.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO_MOTION, Motion
from ..model.tree import Tree
from .frame_columns import Columns, columns_to_matrix, frame_columns
from .frames import PARTS, at_point


def column_rate(c: Motion, V: Motion, W: Motion, reference: str) -> Motion:
    """Derivative of a column by the table above."""
    if reference == "local":
        return c.cross(W)
    if reference == "world":
        return V.cross(c)
    return Motion(V.angular.cross(c.linear) + c.angular.cross(W.linear), V.angular.cross(c.angular))


def jacobian_derivative(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    frame: str,
    reference: str,
    point: Sequence[Scalar] | None = None,
    part: str = "both",
) -> list[list[Scalar]]:
    """Derivative dJ/dt of a frame's Jacobian along the velocity v, 6 by nv, 3 by nv of a part.

    q: nq [m, rad].  v: nv.
    V is the sum of the columns up to the body times v, W that of the columns beyond it.
    """
    bodies, _ = frame_columns(tree, q, at_point(tree.frames[frame], point), reference)
    return columns_to_matrix(tree.nv, _rates(bodies, v, reference), part)


def _rates(bodies: Sequence[Columns], v: Sequence[Scalar], reference: str) -> list[Columns]:
    steps = []
    for columns in bodies:
        step = ZERO_MOTION
        for k, c in columns:
            step = step + c * v[k]
        steps.append(step)
    # V accumulates from the root, W from the frame back; each is summed once for all bodies.
    V, beyond = ZERO_MOTION, [ZERO_MOTION]
    for step in reversed(steps[1:]):
        beyond.append(beyond[-1] + step)
    rates = []
    for columns, step, W in zip(bodies, steps, reversed(beyond), strict=False):
        V = V + step
        rates.append([(k, column_rate(c, V, W, reference)) for k, c in columns])
    return rates


def kinematic_hessian(
    tree: Tree, q: Sequence[Scalar], *, frame: str, reference: str, part: str = "both"
) -> list[list[list[Scalar]]]:
    """Kinematic Hessian H of a frame, 6 or 3 by nv by nv.

    q: nq [m, rad].  H[:, j, k] is the derivative of column j of J along coordinate k of the tangent
    space.
    The table above with a single column in place of V or W.
    """
    bodies = frame_columns(tree, q, tree.frames[frame], reference)[0]
    H: list[list[list[Scalar]]] = [[[0.0] * tree.nv for _ in range(tree.nv)] for _ in range(6)]
    for here, columns in enumerate(bodies):
        for j, c in columns:
            for other, moves in enumerate(bodies):
                for k, m in moves:
                    V, W = (m, ZERO_MOTION) if other <= here else (ZERO_MOTION, m)
                    for rows, entry in zip(H, column_rate(c, V, W, reference), strict=True):
                        rows[j][k] = rows[j][k] + entry
    return H[PARTS[part]]

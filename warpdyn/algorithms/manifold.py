"""Steps between configurations, joint by joint, on the manifold of q."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.quaternions import normalize_vector
from ..algebra.scalar import Scalar, maximum, minimum
from ..model.tree import Tree


def integrate(tree: Tree, q: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    """Configuration q ⊕ d, nq, reached from q by the constant velocity d, nv, in unit time.

    Joint by joint its exponential map (Solà, Deray, Atchuthan, A micro Lie theory, 2018, equation
    25).
    """
    reached: list[Scalar] = [0.0] * tree.nq
    for body in tree.independent_bodies:
        step = body.kind.manifold.step([q[k] for k in body.q_index], [d[k] for k in body.v_index])
        for k, x in zip(body.q_index, step, strict=True):
            reached[k] = x
    return reached


def difference(tree: Tree, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
    """Tangent step q1 ⊖ q0, nv: the d with q0 ⊕ d = q1 (Solà, Deray, Atchuthan, equation 26)."""
    d: list[Scalar] = [0.0] * tree.nv
    for body in tree.independent_bodies:
        step = body.kind.manifold.difference(
            [q0[k] for k in body.q_index], [q1[k] for k in body.q_index]
        )
        for k, x in zip(body.v_index, step, strict=True):
            d[k] = x
    return d


def tangent_rate(tree: Tree, d: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Rate of the tangent step d, nv, along a motion q0 ⊕ d(t) whose velocity is v.

    v + [d, v] / 2 + [d, [d, v]] / 12, the inverse of the exponential map's derivative up to fourth
    powers of d (Iserles, Munthe-Kaas, Nørsett, Zanna, Lie-group methods, Acta Numerica 2000, section
    3.2; velocities are in moving axes, which turns the sign of its odd terms).
    """
    rate = list(v)
    for body in tree.independent_bodies:
        bracket = body.kind.manifold.bracket
        step, here = [d[k] for k in body.v_index], [v[k] for k in body.v_index]
        first = bracket(step, here)
        second = bracket(step, first)
        for k, x, y in zip(body.v_index, first, second, strict=True):
            rate[k] = rate[k] + x * 0.5 + y * (1.0 / 12.0)
    return rate


def interpolate(
    tree: Tree, q0: Sequence[Scalar], q1: Sequence[Scalar], t: Sequence[Scalar]
) -> list[Scalar]:
    """Configuration q0 ⊕ t (q1 ⊖ q0), nq; t is one number in a list."""
    return integrate(tree, q0, [x * t[0] for x in difference(tree, q0, q1)])


def configuration_rate(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], baumgarte: float
) -> list[Scalar]:
    """Rate dq/dt at velocity v, nq; `baumgarte` pulls quaternions back to unit length."""
    return tree.rate(q, v, baumgarte)


def normalize(tree: Tree, q: Sequence[Scalar]) -> list[Scalar]:
    """Configuration q with its quaternions at unit length, nq."""
    result = list(q)
    for body in tree.independent_bodies:
        if columns := body.quaternion_index:
            for k, x in zip(columns, normalize_vector([q[k] for k in columns]), strict=True):
                result[k] = x
    return result


def clamp(
    tree: Tree, q: Sequence[Scalar], lower: Sequence[float], upper: Sequence[float]
) -> list[Scalar]:
    """Configuration q, nq, with each coordinate clamped to its limits."""
    result = list(q)
    for k, (least, most) in enumerate(zip(lower, upper, strict=True)):
        if least > float("-inf"):
            result[k] = maximum(result[k], least)
        if most < float("inf"):
            result[k] = minimum(result[k], most)
    return result

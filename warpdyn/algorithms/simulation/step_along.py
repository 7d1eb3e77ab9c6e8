"""The configuration that a step's velocities lead to."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.scalar import Scalar
from ...model.tree import Tree
from .base_step import base_step
from .contact_rows import free_roots


def step_along(
    tree: Tree,
    q: Sequence[Scalar],
    seen: Sequence[Scalar],
    v: Sequence[Scalar],
    H: Sequence[Sequence[Scalar]],
    h: float,
) -> tuple[list[Scalar], list[Scalar]]:
    """The configuration q ⊕ h v, and v in the new axes of free bodies.

    A free body moves straight in the world, not along a screw, by `base_step`. It needs the
    velocity `seen`, at which gyroscopic forces were computed, and the mass matrix H.
    """
    reached: list[Scalar] = [0.0] * tree.nq
    after = list(v)
    free = {tree.bodies[i].v_index for i in free_roots(tree)}
    for body in tree.independent_bodies:
        here, rate = [q[k] for k in body.q_index], [v[k] for k in body.v_index]
        if body.v_index in free:
            six = slice(body.v_index[0], body.v_index[0] + 6)
            locked = [row[six] for row in H[six]]
            there, after[six] = base_step(here, seen[six], rate, locked, h)
        else:
            there = body.kind.manifold.step(here, [x * h for x in rate])
        for k, x in zip(body.q_index, there, strict=True):
            reached[k] = x
    return reached, after

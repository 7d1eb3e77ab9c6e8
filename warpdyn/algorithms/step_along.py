"""The configuration to which a step's velocities lead."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.quaternions import (
    normalized,
    quaternion_exp,
    quaternion_product,
    quaternion_rotation,
)
from ..algebra.scalar import Scalar
from ..algebra.spatial import Vector
from ..model.tree import Tree
from .contact_rows import free_base


def step_along(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], h: float
) -> tuple[list[Scalar], list[Scalar]]:
    """The configuration q ⊕ h v, and v in the axes that the base has there.

    A free base moves along h v in the world, not along a screw.
    """
    reached: list[Scalar] = [0.0] * tree.nq
    after = list(v)
    for body in tree.independent_bodies:
        here, rate = [q[k] for k in body.q_index], [v[k] for k in body.v_index]
        if body is tree.bodies[0] and free_base(tree):
            turn = quaternion_exp([x * h for x in rate[3:]])
            moved = quaternion_rotation(here[3:]).to_parent(Vector(*rate[:3]))
            there = [
                *(Vector(*here[:3]) + moved * h),
                *normalized(quaternion_product(here[3:], turn)),
            ]
            after[:3] = quaternion_rotation(turn).to_child(Vector(*rate[:3]))
        else:
            there = body.kind.manifold.step(here, [x * h for x in rate])
        for k, x in zip(body.q_index, there, strict=True):
            reached[k] = x
    return reached, after

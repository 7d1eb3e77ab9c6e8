"""Composite inertia: what each body carries with the joints beyond it locked.

Sums are in the frame of the root link, `base`, or in the world (`base` is WORLD) where the root is
fixed; links that are fixed to the world (`tree.ground`) have mass there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import (
    IDENTITY,
    ZERO,
    AnyRotation,
    Inertia,
    Placement,
    Symmetric,
    Vector,
    as_matrix,
)
from ..model.tree import WORLD, Tree


def composites(
    tree: Tree, q: Sequence[Scalar], base: int
) -> tuple[dict[int, Placement], dict[int, Inertia]]:
    """Placements in their parents of the bodies beyond `base`, and every body's composite inertia.

    The backward pass of the composite-rigid-body algorithm (RBDA 6.2), in body frames.
    """
    X: dict[int, Placement] = {}
    inertia = {WORLD: tree.ground, **{i: body.inertia for i, body in enumerate(tree.bodies)}}
    for i, body in reversed(list(enumerate(tree.bodies))):
        if i != base:
            X[i] = body.placement(q)
            inertia[body.parent] = inertia[body.parent] + X[i].inertia_to_parent(inertia[i])
    return X, inertia


def root_axes(tree: Tree, q: Sequence[Scalar], base: int, axes: str) -> AnyRotation:
    """Rotation of the root link's axes in the axes asked for, "base" or "world"."""
    moves = base != WORLD and axes == "world"
    return as_matrix(tree.bodies[base].placement(q).R) if moves else IDENTITY


def about_com(whole: Inertia) -> tuple[Vector, Inertia]:
    """The centre of mass, and the same inertia about it (parallel axes)."""
    c, h = whole.h * (1.0 / whole.mass), whole.h
    return c, Inertia(
        whole.mass, ZERO, whole.J - Symmetric.diagonal(h.dot(c)) + Symmetric.product(h, c * 0.5)
    )

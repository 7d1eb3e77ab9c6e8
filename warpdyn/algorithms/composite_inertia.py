"""Composite inertia: the inertia of a body and of everything it carries, with the joints beyond it
locked.

Sums are in the frame of the root link, `base`, or in the world (`base` is WORLD) if the root is
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


def composites_near_com(
    tree: Tree, q: Sequence[Scalar], base: int
) -> tuple[dict[int, Vector], dict[int, Placement], dict[int, Inertia]]:
    """Reference points of the bodies, in their frames; placements from point to point, and
    composite inertias about the points, as in `composites`.

    The points are the bodies' origins, unless joints carry the robot away from `base`. Such a robot
    may move much farther than its own size, and its inertia about the centre of mass would then be
    the small difference of large numbers. In that case `base`, and the bodies that slide from it
    one after the other, are referred to the centre of mass (up to rounding), and all other inertias
    are moved there at once.
    """
    X, inertia = composites(tree, q, base)
    r = dict.fromkeys(inertia, ZERO)
    rails, beyond = {base}, list[int]()
    for i, body in enumerate(tree.bodies):
        if i != base and body.parent in rails:
            beyond.append(i)
            if not body.kind.turns:
                rails.add(i)
    if not any(x for i in beyond for _, S in tree.bodies[i].subspace for x in S.linear):
        return r, X, inertia

    r[base] = inertia[base].h * (1.0 / inertia[base].mass)
    for i in beyond:
        p = X[i].p - r[tree.bodies[i].parent]
        if i in rails:
            r[i], p = X[i].R.to_child(-p), ZERO
        X[i] = Placement(X[i].R, p)
    for i in rails:
        own = tree.ground if i == WORLD else tree.bodies[i].inertia
        inertia[i] = Placement(IDENTITY, -r[i]).inertia_to_parent(own)
    for i in reversed(beyond):
        parent = tree.bodies[i].parent
        inertia[parent] = inertia[parent] + X[i].inertia_to_parent(inertia[i])
    return r, X, inertia


def root_axes(tree: Tree, q: Sequence[Scalar], base: int, axes: str) -> AnyRotation:
    """Rotation of the root link's axes in the axes `axes`, "base" or "world"."""
    moves = base != WORLD and axes == "world"
    return as_matrix(tree.bodies[base].placement(q).R) if moves else IDENTITY


def about_com(whole: Inertia) -> tuple[Vector, Inertia]:
    """The centre of mass, and the same inertia about it (parallel axes)."""
    c, h = whole.h * (1.0 / whole.mass), whole.h
    return c, Inertia(
        whole.mass, ZERO, whole.J - Symmetric.diagonal(h.dot(c)) + Symmetric.product(h, c * 0.5)
    )

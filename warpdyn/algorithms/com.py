"""Centre of mass: position, velocity, acceleration and Jacobian, of selected links.

`links` names the links that are counted; None is the whole robot, summed over bodies. Sums are
gathered from the leaves, in body frames. A body carries the mass m and first moment h = ∫ x dm of
all counted links that it moves. Across a joint of motion [v, ω] and acceleration [a, α], both in
the child's axes, where the motion subspace is constant, h passes to the parent as p m + R h, and
its derivatives, as seen from either side, as

h' -> R (h' + ω × h + v m)
h'' -> R (h'' + 2 ω × h' + α × h + ω × (ω × h) + (a + ω × v) m)

so that no velocities are passed outward from the root. The centre of mass is h / m in the world.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Vector
from ..model.tree import WORLD, Tree
from .frames import body_placements

Links = Sequence[str] | None


def moments(tree: Tree, links: Links) -> tuple[list[int], list[Scalar], list[Vector]]:
    """Bodies that carry counted links, leaves first, with mass and first moment of every body.

    The mass [kg] includes all links that the body carries. The first moment [kg·m] is that of the
    links fixed to it, about its origin. The last entries are the world's.
    """
    inertias = [*(body.inertia for body in tree.bodies), tree.ground]
    mass: list[Scalar] = [inertia.mass if links is None else 0.0 for inertia in inertias]
    h = [inertia.h if links is None else ZERO for inertia in inertias]
    carriers = set(range(len(tree.bodies)) if links is None else ())
    for name in links or ():
        link = tree.frames[name]
        mass[link.body] = mass[link.body] + link.mass
        h[link.body] = h[link.body] + link.placement.point_to_parent(link.com) * link.mass
        carriers.update(tree.path(link.body))
    order = sorted(carriers, reverse=True)
    for i in order:
        mass[tree.bodies[i].parent] = mass[tree.bodies[i].parent] + mass[i]
    return order, mass, h


def carried_first_moments(
    tree: Tree, q: Sequence[Scalar], links: Links
) -> tuple[list[int], list[Scalar], list[Vector]]:
    """Bodies and masses of `moments`, and the first moment [kg·m] of all links that each body
    carries."""
    carriers, mass, h = moments(tree, links)
    for i in carriers:
        X, p = tree.bodies[i].placement(q), tree.bodies[i].parent
        h[p] = h[p] + X.R.to_parent(h[i]) + X.p * mass[i]
    return carriers, mass, h


def com(tree: Tree, q: Sequence[Scalar], *, links: Links) -> list[Scalar]:
    """Position of the centre of mass in the world, sum of m_i c_i over m: 3 [m]."""
    _, mass, h = carried_first_moments(tree, q, links)
    return list(h[WORLD] * (1.0 / mass[WORLD]))


def com_velocity(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], *, links: Links
) -> list[Scalar]:
    """Velocity of the centre of mass in the world: 3 [m/s]."""
    carriers, mass, h = moments(tree, links)
    dh = [ZERO] * len(h)
    for i in carriers:
        body = tree.bodies[i]
        X, p, vJ = body.placement(q), body.parent, body.motion(v)
        dh[p] = dh[p] + X.R.to_parent(dh[i] + vJ.angular.cross(h[i]) + vJ.linear * mass[i])
        h[p] = h[p] + X.R.to_parent(h[i]) + X.p * mass[i]
    return list(dh[WORLD] * (1.0 / mass[WORLD]))


def com_acceleration(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], *, links: Links
) -> list[Scalar]:
    """Acceleration of the centre of mass in the world: 3 [m/s²]."""
    carriers, mass, h = moments(tree, links)
    dh, ddh = [ZERO] * len(h), [ZERO] * len(h)
    for i in carriers:
        body = tree.bodies[i]
        X, p, vJ, aJ = body.placement(q), body.parent, body.motion(v), body.motion(a)
        w = vJ.angular
        moved = w.cross(h[i]) + vJ.linear * mass[i]
        # 2 ω × h', ω × (ω × h) and ω × v m share the factor ω: one cross product replaces three.
        ddh[p] = ddh[p] + X.R.to_parent(
            ddh[i] + w.cross(dh[i] * 2.0 + moved) + aJ.angular.cross(h[i]) + aJ.linear * mass[i]
        )
        dh[p] = dh[p] + X.R.to_parent(dh[i] + moved)
        h[p] = h[p] + X.R.to_parent(h[i]) + X.p * mass[i]
    return list(ddh[WORLD] * (1.0 / mass[WORLD]))


def com_bias_acceleration(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], *, links: Links
) -> list[Scalar]:
    """Acceleration of the centre of mass at q'' = 0, J' v: 3 [m/s²]."""
    return com_acceleration(tree, q, v, [0.0] * tree.nv, links=links)


def com_jacobian(tree: Tree, q: Sequence[Scalar], *, links: Links) -> list[list[Scalar]]:
    """Jacobian J of the centre of mass, 3 by nv, with J v its velocity in the world.

    Column by column the rate h' of the first moment for a unit velocity, over m.
    """
    carriers, mass, h = carried_first_moments(tree, q, links)
    X0 = body_placements(tree, q, carriers)
    share = 1.0 / mass[WORLD]
    J: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(3)]
    for i in carriers:
        for k, S in tree.bodies[i].subspace:
            column = X0[i].R.to_parent(S.angular.cross(h[i] * share) + S.linear * (mass[i] * share))
            for row, entry in zip(J, column, strict=True):
                row[k] = row[k] + entry
    return J


def link_coms(tree: Tree, q: Sequence[Scalar], *, links: Sequence[str]) -> list[list[Scalar]]:
    """Centre of mass of each link in the world: 3 for each [m]."""
    frames = [tree.frames[name] for name in links]
    X = body_placements(tree, q, [frame.body for frame in frames])
    return [
        list(X[frame.body].point_to_parent(frame.placement.point_to_parent(frame.com)))
        for frame in frames
    ]
